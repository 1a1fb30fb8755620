// SPDX-License-Identifier: Apache-2.0

package reference_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/garden/shoot/reference"
)

func referencing(kind, name string) gardencorev1beta1.Shoot {
	var shoot gardencorev1beta1.Shoot
	shoot.Spec.Resources = []gardencorev1beta1.NamedResourceReference{{Name: "x", ResourceRef: autoscalingv1.CrossVersionObjectReference{Kind: kind, Name: name}}}
	return shoot
}

func TestOf(t *testing.T) {
	t.Parallel()
	shoot := referencing("Secret", "resource")
	shoot.Spec.Resources = append(shoot.Spec.Resources, referencing("WorkloadIdentity", "other").Spec.Resources...)
	shoot.Spec.DNS = &gardencorev1beta1.DNS{Providers: []gardencorev1beta1.DNSProvider{
		{SecretName: new("dns"), CredentialsRef: &autoscalingv1.CrossVersionObjectReference{Kind: "Secret", Name: "dns"}},
	}}
	shoot.Spec.Kubernetes.KubeAPIServer = &gardencorev1beta1.KubeAPIServerConfig{
		AdmissionPlugins:         []gardencorev1beta1.AdmissionPlugin{{Name: "a", KubeconfigSecretName: new("admission")}, {Name: "b"}},
		AuditConfig:              &gardencorev1beta1.AuditConfig{AuditPolicy: &gardencorev1beta1.AuditPolicy{ConfigMapRef: &corev1.ObjectReference{Name: "audit"}}},
		StructuredAuthentication: &gardencorev1beta1.StructuredAuthentication{ConfigMapName: "authentication"},
		StructuredAuthorization: &gardencorev1beta1.StructuredAuthorization{
			ConfigMapName: "authorization", Kubeconfigs: []gardencorev1beta1.AuthorizerKubeconfigReference{{AuthorizerName: "a", SecretName: "authorizer"}},
		},
	}
	want := []reference.Reference{
		{Kind: "ConfigMap", Name: "audit"},
		{Kind: "ConfigMap", Name: "authentication"},
		{Kind: "ConfigMap", Name: "authorization"},
		{Kind: "Secret", Name: "admission"},
		{Kind: "Secret", Name: "authorizer"},
		{Kind: "Secret", Name: "dns"},
		{Kind: "Secret", Name: "resource"},
	}
	if diff := cmp.Diff(want, reference.Of(&shoot)); diff != "" {
		t.Errorf("GCM-SHOOTREF-2: everything that is a Secret or a ConfigMap, once, sorted (-want +got):\n%s", diff)
	}
	if got := reference.Of(&gardencorev1beta1.Shoot{}); len(got) != 0 {
		t.Errorf("GCM-SHOOTREF-4: a shoot without references has %v", got)
	}
}

func TestHeld(t *testing.T) {
	t.Parallel()
	leaving := referencing("Secret", "a")
	leaving.DeletionTimestamp = new(metav1.Now())
	busy := referencing("Secret", "b")
	busy.DeletionTimestamp = new(metav1.Now())
	busy.Finalizers = []string{"gardener"}
	got := reference.Held([]gardencorev1beta1.Shoot{leaving, busy, referencing("ConfigMap", "c")})
	want := map[reference.Reference]bool{{Kind: "Secret", Name: "b"}: true, {Kind: "ConfigMap", Name: "c"}: true}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("GCM-SHOOTREF-3, GCM-SHOOTREF-4: a shoot in deletion holds on until its gardenlet is done (-want +got):\n%s", diff)
	}
}
