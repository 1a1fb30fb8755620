// SPDX-License-Identifier: Apache-2.0

package facts

import (
	"cmp"
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// Exposure is what the load balancer of an API server is asked for.
type Exposure struct {
	// Annotations are for whatever makes load balancers in the seed. They never take the place of those that the component sets.
	Annotations map[string]string
	// Class is the class of load balancers, nil for the default of the seed's cluster. It never changes.
	Class *string
	// TrafficPolicy says whether nodes without an API server hand on traffic; empty means that they do.
	TrafficPolicy corev1.ServiceExternalTrafficPolicy
}

// ExposureBy is the exposure by the settings of a seed and by the handler of an exposure class, which goes before them. handler is nil for
// a shoot without a class.
func ExposureBy(seed *gardencorev1beta1.Seed, handler *gardenconfigv1alpha1.LoadBalancerServiceConfig) Exposure {
	e := Exposure{Annotations: map[string]string{}}
	if seed.Spec.Settings != nil && seed.Spec.Settings.LoadBalancerServices != nil {
		s := seed.Spec.Settings.LoadBalancerServices
		maps.Copy(e.Annotations, s.Annotations)
		e.Class, e.TrafficPolicy = s.Class, corev1.ServiceExternalTrafficPolicy(ptr.Deref(s.ExternalTrafficPolicy, ""))
	}
	if handler != nil {
		maps.Copy(e.Annotations, handler.Annotations)
		e.Class = cmp.Or(handler.Class, e.Class)
	}
	return e
}

// ExposureOf is the exposure that a load balancer has.
func ExposureOf(service *corev1.Service) Exposure {
	return Exposure{Annotations: service.Annotations, Class: service.Spec.LoadBalancerClass, TrafficPolicy: service.Spec.ExternalTrafficPolicy}
}
