// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"k8s.io/apimachinery/pkg/runtime"
)

// defaultExpirationSeconds is how long credentials are valid unless the request says otherwise.
const defaultExpirationSeconds = int64(3600)

// RegisterDefaults registers the functions that set the defaults of requests (API-KUBE-1).
func RegisterDefaults(scheme *runtime.Scheme) {
	scheme.AddTypeDefaultingFunc(&AdminKubeconfigRequest{}, func(obj any) {
		if r, ok := obj.(*AdminKubeconfigRequest); ok {
			setExpiration(&r.Spec.ExpirationSeconds)
		}
	})
	scheme.AddTypeDefaultingFunc(&ViewerKubeconfigRequest{}, func(obj any) {
		if r, ok := obj.(*ViewerKubeconfigRequest); ok {
			setExpiration(&r.Spec.ExpirationSeconds)
		}
	})
}

func setExpiration(seconds **int64) {
	if *seconds == nil {
		*seconds = new(defaultExpirationSeconds)
	}
}
