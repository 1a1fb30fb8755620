// SPDX-License-Identifier: Apache-2.0

package validation

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/terrarium-garden/terrarium/apis/check"
	gardenoperatorv1alpha1 "github.com/terrarium-garden/terrarium/apis/operator/v1alpha1"
)

// runtimeCluster checks where the garden runs (OPER-API-8, OPER-WH-15).
func runtimeCluster(r *gardenoperatorv1alpha1.RuntimeCluster, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if kind := r.Ingress.Controller.Kind; kind != "" || len(r.Ingress.Domains) > 0 {
		errs = append(errs, check.OneOf(kind, path.Child("ingress", "controller", "kind"), "nginx")...)
	}
	errs = append(errs, check.Unique(r.Provider.Zones, path.Child("provider", "zones"))...)
	if s := r.Settings; s != nil && s.LoadBalancerServices != nil && s.LoadBalancerServices.ExternalTrafficPolicy != nil {
		errs = append(errs, check.OneOf(*s.LoadBalancerServices.ExternalTrafficPolicy,
			path.Child("settings", "loadBalancerServices", "externalTrafficPolicy"),
			corev1.ServiceExternalTrafficPolicyCluster, corev1.ServiceExternalTrafficPolicyLocal)...)
	}
	if v := r.Volume; v != nil && v.MinimumSize != nil && v.MinimumSize.Sign() < 0 {
		errs = append(errs, field.Invalid(path.Child("volume", "minimumSize"), v.MinimumSize.String(), "must not be negative"))
	}
	return errs
}
