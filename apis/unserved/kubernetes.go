// SPDX-License-Identifier: Apache-2.0

package unserved

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// localMachines reports whether the cluster autoscaler of a shoot is the one of this project, which does less than the upstream one.
func localMachines(s *gardencorev1beta1.Shoot) bool {
	return s.Spec.Provider.Type == "local" && s.Spec.Kubernetes.ClusterAutoscaler != nil
}

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
		{
			Field: "spec.kubernetes.clusterAutoscaler.maxGracefulTerminationSeconds", Only: "other than 600, with local machines", Severity: Warn,
			Instead: "pods of a machine that goes have the time that they ask for, within machineDrainTimeout",
			when: object(func(s *gardencorev1beta1.Shoot) bool {
				return localMachines(s) && ptr.Deref(s.Spec.Kubernetes.ClusterAutoscaler.MaxGracefulTerminationSeconds, 600) != 600
			}),
		},
		{
			Field: "spec.kubernetes.clusterAutoscaler.emitPerNodeGroupMetrics", Only: "true, with local machines", Severity: Warn,
			Instead: "the autoscaler of local machines has no metrics",
			when: object(func(s *gardencorev1beta1.Shoot) bool {
				return localMachines(s) && ptr.Deref(s.Spec.Kubernetes.ClusterAutoscaler.EmitPerNodeGroupMetrics, false)
			}),
		},
		{
			Field: "spec.kubernetes.clusterAutoscaler.maxBinpackingTime", Only: "other than 5m, with local machines", Severity: Warn,
			Instead: "no simulation is cut short",
			when: object(func(s *gardencorev1beta1.Shoot) bool {
				usual := metav1.Duration{Duration: 5 * time.Minute}
				return localMachines(s) && ptr.Deref(s.Spec.Kubernetes.ClusterAutoscaler.MaxBinpackingTime, usual) != usual
			}),
		},
		{
			Field: "spec.kubernetes.clusterAutoscaler.verbosity", Only: "other than 2, with local machines", Severity: Warn,
			Instead: "the log says what was scaled, and what failed",
			when: object(func(s *gardencorev1beta1.Shoot) bool {
				return localMachines(s) && ptr.Deref(s.Spec.Kubernetes.ClusterAutoscaler.Verbosity, 2) != 2
			}),
		},
	}
}
