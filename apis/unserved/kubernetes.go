// SPDX-License-Identifier: Apache-2.0

package unserved

import (
	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

func kubernetesRows() []Row {
	rows := []Row{
		{
			Field: "spec.kubernetes.kubeAPIServer.encryptionConfig", Only: "other resources or another provider than the status reports", Severity: Refuse,
			Instead: "nothing is encrypted anew, and the API server could not read objects that were written before",
			when: object(func(s *gardencorev1beta1.Shoot) bool {
				return query.EncryptionDiffers(&s.Spec, &s.Status)
			}),
		},
		{Field: "spec.kubernetes.kubeAPIServer.autoscaling", Severity: Warn, Instead: "the API server has a fixed size"},
		{Field: "spec.kubernetes.etcd.main.autoscaling", Severity: Warn, Instead: "the etcd has a fixed size"},
		{Field: "spec.kubernetes.etcd.events.autoscaling", Severity: Warn, Instead: "the etcd has a fixed size"},
		{Field: "spec.kubernetes.clusterAutoscaler", Severity: Warn, Instead: "there is no cluster autoscaler"},
		{
			Field: "spec.kubernetes.verticalPodAutoscaler.enabled", Only: "true", Severity: Warn,
			Instead: "the autoscaler of pods is not installed",
		},
	}
	for _, kubelet := range []string{"spec.kubernetes.kubelet", "spec.provider.workers[].kubernetes.kubelet"} {
		rows = append(
			rows,
			Row{Field: kubelet + ".memorySwap", Severity: Warn, Instead: "pods use swap as the kubelet does by default"},
			Row{Field: kubelet + ".singleProcessOOMKill", Severity: Warn, Instead: "the kubelet keeps its own default"},
			Row{
				Field: kubelet + ".imagePullCredentialsVerificationPolicy", Severity: Problem,
				Instead: "the kubelet verifies credentials as it does by default",
			},
			Row{Field: kubelet + ".preloadedImagesVerificationAllowlist", Severity: Warn, Instead: "the kubelet does not get the list"},
		)
	}
	return rowsOf[gardencorev1beta1.Shoot](gardencorev1beta1.GroupName, rows...)
}
