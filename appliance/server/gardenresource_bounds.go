// SPDX-License-Identifier: Apache-2.0

package server

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardenoperatorv1alpha1 "github.com/terrarium-garden/terrarium/apis/operator/v1alpha1"
)

// longestKubeconfig is the bound of kubeconfigs for shoots in the configuration, which the Garden can only make shorter.
func (s *server) longestKubeconfig() time.Duration {
	return ptr.Deref(s.Config.Shoots.MaxKubeconfigLifetime, metav1.Duration{}).Duration
}

// shorterKubeconfig returns the bound that a Garden sets, if it is shorter than that of the configuration. So nothing is shown that does not
// count.
func (s *server) shorterKubeconfig(g *gardenoperatorv1alpha1.Gardener) *metav1.Duration {
	if g.APIServer == nil || g.APIServer.ShootAdminKubeconfigMaxExpiration == nil {
		return nil
	}
	is := g.APIServer.ShootAdminKubeconfigMaxExpiration
	if longest := s.longestKubeconfig(); is.Duration <= 0 || longest > 0 && is.Duration >= longest {
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

// applyBounds makes the bounds of a Garden count, from the next request on.
func (s *server) applyBounds(g *gardenoperatorv1alpha1.Gardener) {
	s.kubeconfigs.Store(int64(ptr.Deref(s.shorterKubeconfig(g), metav1.Duration{}).Duration))
	s.limits.Store(sizes(objectLimits(g)))
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
