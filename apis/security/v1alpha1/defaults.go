// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/terrarium-garden/terrarium/apis/defaulting"
)

// defaultTokenSeconds is the default lifetime of a token.
const defaultTokenSeconds = int64(3600)

// RegisterDefaults registers the functions that set the defaults of objects. It is for API servers only: clients must see
// objects as they are stored.
func RegisterDefaults(scheme *runtime.Scheme) {
	defaulting.Register(scheme, SetDefaultsCredentialsBinding,
		func(l *CredentialsBindingList) []CredentialsBinding { return l.Items })
	scheme.AddTypeDefaultingFunc(&TokenRequest{}, func(obj any) {
		if r, ok := obj.(*TokenRequest); ok {
			defaulting.Set(&r.Spec.ExpirationSeconds, defaultTokenSeconds)
		}
	})
}

// SetDefaultsCredentialsBinding sets the namespace of references without one to that of the binding (API-DEF-17).
func SetDefaultsCredentialsBinding(b *CredentialsBinding) {
	if b.CredentialsRef.Namespace == "" {
		b.CredentialsRef.Namespace = b.Namespace
	}
	for i := range b.Quotas {
		if b.Quotas[i].Namespace == "" {
			b.Quotas[i].Namespace = b.Namespace
		}
	}
}
