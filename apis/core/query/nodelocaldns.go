// SPDX-License-Identifier: Apache-2.0

package query

import (
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// NodeLocalDNS returns the settings of the DNS cache on the nodes of a shoot, or nil if it is to have none.
func NodeLocalDNS(s *gardencorev1beta1.ShootSpec) *gardencorev1beta1.NodeLocalDNS {
	if s.SystemComponents == nil || s.SystemComponents.NodeLocalDNS == nil || !s.SystemComponents.NodeLocalDNS.Enabled {
		return nil
	}
	return s.SystemComponents.NodeLocalDNS
}
