// SPDX-License-Identifier: Apache-2.0

package query

import (
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// VerticalPodAutoscaler returns the settings of what sizes the pods of a shoot by their use, or nil if it is to have none. There are no pods
// without nodes.
func VerticalPodAutoscaler(s *gardencorev1beta1.ShootSpec) *gardencorev1beta1.VerticalPodAutoscaler {
	if v := s.Kubernetes.VerticalPodAutoscaler; v != nil && v.Enabled && !Workerless(s) {
		return v
	}
	return nil
}
