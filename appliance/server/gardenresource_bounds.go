// SPDX-License-Identifier: Apache-2.0

package server

import (
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardenoperatorv1alpha1 "github.com/terrarium-garden/terrarium/apis/operator/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission"
	"github.com/terrarium-garden/terrarium/appliance/admission/gardenresource"
)

// gardenBounds are the bounds that the Garden sets. They come beside those of the configuration.
type gardenBounds struct {
	// longest is the bound of kubeconfigs for shoots in the configuration, which the Garden can only make shorter.
	longest time.Duration
	// kubeconfigs is the bound of kubeconfigs for shoots, and limits are the limits of objects, that the Garden sets.
	kubeconfigs atomic.Int64
	limits      atomic.Pointer[gardenconfigv1alpha1.ResourceSizeConfiguration]
}

func newGardenBounds(c *gardenconfigv1alpha1.ShootConfiguration) *gardenBounds {
	return &gardenBounds{longest: ptr.Deref(c.MaxKubeconfigLifetime, metav1.Duration{}).Duration}
}

func (b *gardenBounds) longestKubeconfig() time.Duration { return b.longest }

// kubeconfigLifetime is the bound of kubeconfigs for shoots that the Garden sets; 0 if it sets none.
func (b *gardenBounds) kubeconfigLifetime() time.Duration { return time.Duration(b.kubeconfigs.Load()) }

// rule is the admission plugin for the limits of objects in the Garden. It cannot be disabled.
func (b *gardenBounds) rule() admission.Rule {
	return admission.Rule{Name: gardenresource.LimitsName, New: gardenresource.NewLimits(b.limits.Load)}
}

// shorterKubeconfig returns the bound that a Garden sets, if it is shorter than that of the configuration. So nothing is shown that does not
// count.
func (b *gardenBounds) shorterKubeconfig(g *gardenoperatorv1alpha1.Gardener) *metav1.Duration {
	if g.APIServer == nil || g.APIServer.ShootAdminKubeconfigMaxExpiration == nil {
		return nil
	}
	is := g.APIServer.ShootAdminKubeconfigMaxExpiration
	if is.Duration <= 0 || b.longest > 0 && is.Duration >= b.longest {
		return nil
	}

	return is
}

// objectLimits returns the limits of objects that a Garden sets.
func objectLimits(g *gardenoperatorv1alpha1.Gardener) *gardenoperatorv1alpha1.ResourceAdmissionConfiguration {
	if g.AdmissionController == nil {
		return nil
	}

	return g.AdmissionController.ResourceAdmissionConfiguration
}

// apply makes the bounds of a Garden count, from the next request on.
func (b *gardenBounds) apply(g *gardenoperatorv1alpha1.Gardener) {
	b.kubeconfigs.Store(int64(ptr.Deref(b.shorterKubeconfig(g), metav1.Duration{}).Duration))
	b.limits.Store(sizes(objectLimits(g)))
}

// sizes are limits in the form of the configuration. Without groups or versions they apply to all.
func sizes(c *gardenoperatorv1alpha1.ResourceAdmissionConfiguration) *gardenconfigv1alpha1.ResourceSizeConfiguration {
	if c == nil {
		return nil
	}
	all := func(names []string) []string {
		if len(names) == 0 {
			return []string{"*"}
		}

		return names
	}
	is := &gardenconfigv1alpha1.ResourceSizeConfiguration{
		UnrestrictedSubjects: c.UnrestrictedSubjects,
		OperationMode:        gardenconfigv1alpha1.ResourceSizeMode(ptr.Deref(c.OperationMode, "")),
	}
	for i := range c.Limits {
		l := &c.Limits[i]
		is.Limits = append(is.Limits, gardenconfigv1alpha1.ResourceLimit{
			APIGroups: all(l.APIGroups), APIVersions: all(l.APIVersions), Resources: l.Resources, Size: l.Size, Count: l.Count,
		})
	}

	return is
}
