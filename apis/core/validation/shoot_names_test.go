// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"strings"
	"testing"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// TestValidateShootNames holds the forms of texts that end up in names and files elsewhere.
func TestValidateShootNames(t *testing.T) {
	t.Parallel()
	const server = "spec.kubernetes.kubeAPIServer."
	audit := func(ref corev1.ObjectReference) shootChange {
		return apiServer(gardencorev1beta1.KubeAPIServerConfig{AuditConfig: &gardencorev1beta1.AuditConfig{
			AuditPolicy: &gardencorev1beta1.AuditPolicy{ConfigMapRef: &ref},
		}})
	}
	resource := func(name, apiVersion string) shootChange {
		return func(s *gardencorev1beta1.Shoot) {
			s.Spec.Resources = []gardencorev1beta1.NamedResourceReference{{
				Name: name, ResourceRef: autoscalingv1.CrossVersionObjectReference{APIVersion: apiVersion, Kind: "Secret", Name: "a"},
			}}
		}
	}
	checkShoots(t, map[string]shootCase{
		"audit policy": {reason: "the shoot's own namespace may be given", change: audit(corev1.ObjectReference{Namespace: "garden-meadow", Name: "policy.v1"})},
		"audit policy form": {
			reason: "a ConfigMap has the name of one", change: audit(corev1.ObjectReference{Namespace: "Not a Value!", Name: "Policy"}),
			want: []string{
				server + "auditConfig.auditPolicy.configMapRef.name: FieldValueInvalid",
				server + "auditConfig.auditPolicy.configMapRef.namespace: FieldValueInvalid",
			},
		},
		"authentication form": {
			reason: "so has that of the authentication",
			change: apiServer(gardencorev1beta1.KubeAPIServerConfig{
				StructuredAuthentication: &gardencorev1beta1.StructuredAuthentication{ConfigMapName: "a/b"},
			}),
			want: []string{server + "structuredAuthentication.configMapName: FieldValueInvalid"},
		},
		"resource":         {reason: "resources are copied to the seed", change: resource("dns.key", "security.gardener.cloud/v1alpha1")},
		"resource name":    {reason: "under their own names", change: resource("Not a Value!", "v1"), want: []string{"spec.resources[0].name: FieldValueInvalid"}},
		"resource long":    {reason: "as long as names may be", change: resource(strings.Repeat("a", 300), "v1"), want: []string{"spec.resources[0].name: FieldValueInvalid"}},
		"resource version": {reason: "from a version that there may be", change: resource("a", "Not a Value!"), want: []string{"spec.resources[0].resourceRef.apiVersion: FieldValueInvalid"}},
		"resource group":   {reason: "of a group", change: resource("a", "a/b/c"), want: []string{"spec.resources[0].resourceRef.apiVersion: FieldValueInvalid"}},
		"sysctls": {
			reason: "settings may have blanks in them, and stand on one line each",
			change: pool(func(w *gardencorev1beta1.Worker) {
				w.Sysctls = map[string]string{"net.ipv4.tcp_rmem": "4096 87380 6291456", "kernel.panic": "1\nkernel.hostname=x"}
			}),
			want: []string{"spec.provider.workers[0].sysctls.kernel.panic: FieldValueInvalid"},
		},
		"sysctl names": {
			reason: "names lead to no other file, and begin no other line",
			change: pool(func(w *gardencorev1beta1.Worker) {
				w.Sysctls = map[string]string{
					"net/ipv4/ip_forward": "1", "-net.ipv4.conf.*.rp_filter": "0", "../../../etc/passwd": "1", "net/../x": "1",
					"-/etc/passwd": "1", "net//x": "1", "kernel.panic\nkernel.hostname": "1", "kernel.panic = 1 ; x": "1",
				}
			}),
			want: []string{
				"spec.provider.workers[0].sysctls.-/etc/passwd: FieldValueInvalid",
				"spec.provider.workers[0].sysctls.../../../etc/passwd: FieldValueInvalid",
				"spec.provider.workers[0].sysctls.kernel.panic\nkernel.hostname: FieldValueInvalid",
				"spec.provider.workers[0].sysctls.kernel.panic = 1 ; x: FieldValueInvalid",
				"spec.provider.workers[0].sysctls.net/../x: FieldValueInvalid",
				"spec.provider.workers[0].sysctls.net//x: FieldValueInvalid",
			},
		},
		"deadline": {
			reason: "time does not run backwards, be it that of a field which nobody reads",
			change: kubelet(gardencorev1beta1.KubeletConfig{ImagePullProgressDeadline: lasting(-time.Second)}),
			want:   []string{"spec.kubernetes.kubelet.imagePullProgressDeadline: FieldValueInvalid"},
		},
	})
}
