// SPDX-License-Identifier: Apache-2.0

package unserved

import (
	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

func kubernetesRows() []Row {
	return rowsOf[gardencorev1beta1.Shoot](
		gardencorev1beta1.GroupName,
		Row{
			Field: "spec.kubernetes.kubeAPIServer.encryptionConfig", Only: "other resources or another provider than the status reports", Severity: Refuse,
			Instead: "nothing is encrypted anew, and the API server could not read objects that were written before",
			when: object(func(s *gardencorev1beta1.Shoot) bool {
				return query.EncryptionDiffers(&s.Spec, &s.Status)
			}),
		},
		Row{Field: "spec.kubernetes.kubeAPIServer.autoscaling", Severity: Warn, Instead: "the API server has a fixed size"},
		Row{Field: "spec.kubernetes.etcd.main.autoscaling", Severity: Warn, Instead: "the etcd has a fixed size"},
		Row{Field: "spec.kubernetes.etcd.events.autoscaling", Severity: Warn, Instead: "the etcd has a fixed size"},
		Row{Field: "spec.kubernetes.clusterAutoscaler", Severity: Warn, Instead: "there is no cluster autoscaler"},
		Row{
			Field: "spec.kubernetes.verticalPodAutoscaler.enabled", Only: "true", Severity: Warn,
			Instead: "the autoscaler of pods is not installed",
		},
	)
}
