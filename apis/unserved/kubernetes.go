// SPDX-License-Identifier: Apache-2.0

package unserved

import (
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

func kubernetesRows() []Row {
	return rowsOf[gardencorev1beta1.Shoot](gardencorev1beta1.GroupName, Row{
		Field: "spec.kubernetes.verticalPodAutoscaler.enabled", Only: "true", Severity: Warn,
		Instead: "the autoscaler of pods is not installed",
	})
}
