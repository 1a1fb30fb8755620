// SPDX-License-Identifier: Apache-2.0

package unserved

import (
	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

func kubernetesRows() []Row {
	rows := []Row{
		{
			Field: "spec.kubernetes.kubeAPIServer.auditConfig", Severity: Problem,
			Instead: "the API server records nothing",
			when: value(func(c gardencorev1beta1.AuditConfig) bool {
				return c.AuditPolicy != nil && c.AuditPolicy.ConfigMapRef != nil
			}),
		},
		{
			Field: "spec.kubernetes.kubeAPIServer.structuredAuthentication", Severity: Problem,
			Instead: "the API server knows none of these authenticators",
		},
		{
			Field: "spec.kubernetes.kubeAPIServer.structuredAuthorization", Severity: Problem,
			Instead: "the API server authorizes by Node and RBAC only",
		},
		{
			Field: "spec.kubernetes.kubeAPIServer.oidcConfig", Severity: Problem,
			Instead: "tokens of this issuer are not accepted",
			when:    value(func(c gardencorev1beta1.OIDCConfig) bool { return c.IssuerURL != nil }),
		},
		{
			Field: "spec.kubernetes.kubeAPIServer.enableAnonymousAuthentication", Only: "true", Severity: Warn,
			Instead: "requests without credentials are let in to the health endpoints only",
		},
		{
			Field: "spec.kubernetes.kubeAPIServer.admissionPlugins[].kubeconfigSecretName", Severity: Refuse,
			Instead: "the plugin would get no kubeconfig and keep the API server from starting, so nothing is done with the cluster",
		},
		{
			Field: "spec.kubernetes.kubeAPIServer.encryptionConfig", Only: "other resources or another provider than the status reports", Severity: Refuse,
			Instead: "nothing is encrypted anew, and the API server could not read objects that were written before",
			when: object(func(s *gardencorev1beta1.Shoot) bool {
				return query.EncryptionDiffers(&s.Spec, &s.Status)
			}),
		},
		{
			Field: "spec.kubernetes.kubeAPIServer.tlsMinVersion", Only: "above VersionTLS12", Severity: Problem,
			Instead: "TLS 1.2 is accepted", when: other("VersionTLS12", "VersionTLS11", "VersionTLS10"),
		},
		{
			Field: "spec.kubernetes.kubeAPIServer.logging.httpAccessVerbosity", Severity: Warn,
			Instead: "requests are logged as the general verbosity says",
		},
		{Field: "spec.kubernetes.kubeAPIServer.autoscaling", Severity: Warn, Instead: "the API server has a fixed size"},
		{Field: "spec.kubernetes.etcd.main.autoscaling", Severity: Warn, Instead: "the etcd has a fixed size"},
		{Field: "spec.kubernetes.etcd.events.autoscaling", Severity: Warn, Instead: "the etcd has a fixed size"},
		{Field: "spec.kubernetes.clusterAutoscaler", Severity: Warn, Instead: "there is no cluster autoscaler"},
		{
			Field: "spec.kubernetes.verticalPodAutoscaler.enabled", Only: "true", Severity: Warn,
			Instead: "the autoscaler of pods is not installed",
		},
		{Field: "spec.kubernetes.kubeScheduler.kubeMaxPDVols", Severity: Warn, Instead: "the number of volumes on a node is not bounded by it"},
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
