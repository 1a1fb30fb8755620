// SPDX-License-Identifier: Apache-2.0

package query

import (
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// KubernetesDashboard returns the settings of the dashboard in a shoot, or nil if it is to have none.
func KubernetesDashboard(s *gardencorev1beta1.ShootSpec) *gardencorev1beta1.KubernetesDashboard {
	if s.Addons == nil || s.Addons.KubernetesDashboard == nil || !s.Addons.KubernetesDashboard.Enabled {
		return nil
	}
	return s.Addons.KubernetesDashboard
}

// NginxIngress returns the settings of the ingress controller in a shoot, or nil if it is to have none.
func NginxIngress(s *gardencorev1beta1.ShootSpec) *gardencorev1beta1.NginxIngress {
	if s.Addons == nil || s.Addons.NginxIngress == nil || !s.Addons.NginxIngress.Enabled {
		return nil
	}
	return s.Addons.NginxIngress
}
