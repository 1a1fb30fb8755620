// SPDX-License-Identifier: Apache-2.0

package unserved

import (
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

func kubernetesRows() []Row {
	rows := []Row{
		{Field: "spec.kubernetes.kubeAPIServer.autoscaling", Severity: Warn, Instead: "the API server has a fixed size"},
		{Field: "spec.kubernetes.etcd.main.autoscaling", Severity: Warn, Instead: "the etcd has a fixed size"},
		{Field: "spec.kubernetes.etcd.events.autoscaling", Severity: Warn, Instead: "the etcd has a fixed size"},
		{
			Field: "spec.kubernetes.verticalPodAutoscaler.enabled", Only: "true", Severity: Warn,
			Instead: "the autoscaler of pods is not installed",
		},
	}
	rows = append(rows, autoscalerRows()...)
	return rowsOf[gardencorev1beta1.Shoot](gardencorev1beta1.GroupName, rows...)
}

func autoscalerRows() []Row {
	return []Row{
		{Field: "spec.kubernetes.clusterAutoscaler.autoscaling", Severity: Warn, Instead: "the cluster autoscaler has a fixed size"},
	}
}
