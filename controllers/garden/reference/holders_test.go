// SPDX-License-Identifier: Apache-2.0

package reference_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	gardencorev1 "github.com/terrarium-garden/terrarium/apis/core/v1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/garden/reference"
)

func referencing(kind, name string) gardencorev1beta1.Shoot {
	var shoot gardencorev1beta1.Shoot
	shoot.Spec.Resources = []gardencorev1beta1.NamedResourceReference{{Name: "x", ResourceRef: autoscalingv1.CrossVersionObjectReference{Kind: kind, Name: name}}}
	return shoot
}

func TestOfShoot(t *testing.T) {
	t.Parallel()
	shoot := referencing("Secret", "resource")
	shoot.Spec.Resources = append(shoot.Spec.Resources, referencing("WorkloadIdentity", "identity").Spec.Resources...)
	shoot.Spec.Resources = append(shoot.Spec.Resources, referencing("Pod", "other").Spec.Resources...)
	shoot.Spec.DNS = &gardencorev1beta1.DNS{Providers: []gardencorev1beta1.DNSProvider{
		{SecretName: new("dns"), CredentialsRef: &autoscalingv1.CrossVersionObjectReference{Kind: "Secret", Name: "dns"}},
		{SecretName: new("dns-older")},
		{CredentialsRef: &autoscalingv1.CrossVersionObjectReference{Kind: "WorkloadIdentity", Name: "dns-newer"}},
		{},
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
		{Kind: "Secret", Name: "dns-older"},
		{Kind: "Secret", Name: "resource"},
		{Kind: "WorkloadIdentity", Name: "dns-newer"},
		{Kind: "WorkloadIdentity", Name: "identity"},
	}
	if diff := cmp.Diff(want, reference.Shoots().Of(&shoot)); diff != "" {
		t.Errorf("GCM-SHOOTREF-2: everything of a kind that can be protected, once, sorted (-want +got):\n%s", diff)
	}
	for name, config := range map[string]*gardencorev1beta1.KubeAPIServerConfig{
		"none":      nil,
		"plain":     {},
		"audit":     {AuditConfig: &gardencorev1beta1.AuditConfig{}},
		"policy":    {AuditConfig: &gardencorev1beta1.AuditConfig{AuditPolicy: &gardencorev1beta1.AuditPolicy{}}},
		"anonymous": {StructuredAuthentication: &gardencorev1beta1.StructuredAuthentication{}, StructuredAuthorization: &gardencorev1beta1.StructuredAuthorization{}},
	} {
		shoot := &gardencorev1beta1.Shoot{}
		shoot.Spec.Kubernetes.KubeAPIServer = config
		if got := reference.Shoots().Of(shoot); len(got) != 0 {
			t.Errorf("GCM-SHOOTREF-4: a shoot without references (%s) has %v", name, got)
		}
	}
}

func TestOfSeed(t *testing.T) {
	t.Parallel()
	seed := &gardencorev1beta1.Seed{Spec: gardencorev1beta1.SeedSpec{Resources: referencing("Secret", "given").Spec.Resources}}
	if diff := cmp.Diff([]reference.Reference{{Kind: "Secret", Name: "given"}}, reference.Seeds().Of(seed)); diff != "" {
		t.Errorf("GCM-SEEDREF-1: spec.resources (-want +got):\n%s", diff)
	}
}

// TestOfControllerDeployment writes a deployment in today's version, and reads it in the one that the garden keeps.
func TestOfControllerDeployment(t *testing.T) {
	t.Parallel()
	kinds, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		reason     string
		deployment gardencorev1.ControllerDeployment
		want       []reference.Reference
	}{
		"all": {
			reason: "what it gives to the extension, and what its chart is fetched with",
			deployment: gardencorev1.ControllerDeployment{
				Helm: &gardencorev1.HelmControllerDeployment{OCIRepository: &gardencorev1.OCIRepository{
					Ref: new("registry.example.com/chart"), PullSecretRef: &corev1.LocalObjectReference{Name: "pull"}, CABundleSecretRef: &corev1.LocalObjectReference{Name: "bundle"},
				}},
				Resources: []gardencorev1.NamedResourceReference{{Name: "x", ResourceRef: autoscalingv1.CrossVersionObjectReference{Kind: "ConfigMap", Name: "settings"}}},
			},
			want: []reference.Reference{{Kind: "ConfigMap", Name: "settings"}, {Kind: "Secret", Name: "bundle"}, {Kind: "Secret", Name: "pull"}},
		},
		"bundle": {
			reason: "a chart may be fetched without credentials",
			deployment: gardencorev1.ControllerDeployment{Helm: &gardencorev1.HelmControllerDeployment{OCIRepository: &gardencorev1.OCIRepository{
				Ref: new("registry.example.com/chart"), CABundleSecretRef: &corev1.LocalObjectReference{Name: "bundle"},
			}}},
			want: []reference.Reference{{Kind: "Secret", Name: "bundle"}},
		},
		"plain": {reason: "most name nothing", deployment: gardencorev1.ControllerDeployment{Helm: &gardencorev1.HelmControllerDeployment{RawChart: []byte("chart")}}},
		"other": {reason: "what is not ours may be of any form", deployment: gardencorev1.ControllerDeployment{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{
			"migration.controllerdeployment.gardener.cloud/type": "custom", "migration.controllerdeployment.gardener.cloud/providerConfig": `{"ociRepository":{"pullSecretRef":{"name":"x"}}}`,
		}}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kept := &gardencorev1beta1.ControllerDeployment{}
			if err := kinds.Convert(&tc.deployment, kept, nil); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, reference.ControllerDeployments().Of(kept)); diff != "" {
				t.Errorf("GCM-CONTROLLERDEPLOYMENT-2: %s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
	broken := &gardencorev1beta1.ControllerDeployment{Type: "helm", ProviderConfig: runtime.RawExtension{Raw: []byte(`[`)}}
	broken.Annotations = map[string]string{"migration.controllerdeployment.gardener.cloud/resources": "{"}
	if got := reference.ControllerDeployments().Of(broken); len(got) != 0 {
		t.Errorf("GCM-CONTROLLERDEPLOYMENT-2: what cannot be read names nothing, got %v", got)
	}
}

func TestHeld(t *testing.T) {
	t.Parallel()
	leaving := referencing("Secret", "a")
	leaving.DeletionTimestamp = new(metav1.Now())
	busy := referencing("Secret", "b")
	busy.DeletionTimestamp = new(metav1.Now())
	busy.Finalizers = []string{"gardener"}
	got, err := reference.Shoots().Held(&gardencorev1beta1.ShootList{Items: []gardencorev1beta1.Shoot{leaving, busy, referencing("ConfigMap", "c")}})
	if err != nil {
		t.Fatal(err)
	}
	want := map[reference.Reference]bool{{Kind: "Secret", Name: "b"}: true, {Kind: "ConfigMap", Name: "c"}: true}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("GCM-SHOOTREF-3, GCM-SHOOTREF-4: a shoot in deletion holds on until its gardenlet is done (-want +got):\n%s", diff)
	}
}
