// SPDX-License-Identifier: Apache-2.0

package extensionlabels_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/extensionlabels"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

const (
	providerLocal = "provider.extensions.gardener.cloud/local"
	providerCloud = "provider.extensions.gardener.cloud/cloud"
)

func extensions() kind.Object {
	shoots, seeds := []gardencorev1beta1.ClusterType{"shoot"}, []gardencorev1beta1.ClusterType{"seed"}
	return &gardencorev1beta1.ControllerRegistration{ObjectMeta: metav1.ObjectMeta{Name: "more"}, Spec: gardencorev1beta1.ControllerRegistrationSpec{Resources: []gardencorev1beta1.ControllerResource{
		{Kind: "Extension", Type: "everywhere", AutoEnable: shoots, WorkerlessSupported: new(true)},
		{Kind: "Extension", Type: "nodes", AutoEnable: shoots},
		{Kind: "Extension", Type: "seeds", AutoEnable: seeds, ClusterCompatibility: seeds},
	}}}
}

func bucket() *gardencorev1beta1.BackupBucket {
	return &gardencorev1beta1.BackupBucket{ObjectMeta: metav1.ObjectMeta{Name: "b"}, Spec: gardencorev1beta1.BackupBucketSpec{
		Provider: gardencorev1beta1.BackupBucketProvider{Type: "cloud", Region: "north"}, SeedName: new("a"),
		CredentialsRef: &corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: "garden", Name: "backup"},
	}}
}

func TestAdmit(t *testing.T) {
	t.Parallel()
	meta := metav1.ObjectMeta{Namespace: admissiontest.Namespace, Name: "x"}
	rich := func(s *gardencorev1beta1.Shoot) {
		s.Labels = map[string]string{"mine": "stays", "networking.extensions.gardener.cloud/forged": "true", "provider.extensions.gardener.cloud/local": "false"}
		s.Spec.DNS = &gardencorev1beta1.DNS{Providers: []gardencorev1beta1.DNSProvider{{Type: new("unmanaged")}, {Type: new("names")}}}
		s.Spec.Extensions = []gardencorev1beta1.Extension{{Type: "asked"}, {Type: "nodes", Disabled: new(true)}}
		w := &s.Spec.Provider.Workers[0]
		w.CRI = &gardencorev1beta1.CRI{Name: "containerd", ContainerRuntimes: []gardencorev1beta1.ContainerRuntime{{Type: "gvisor"}}}
		w.ControlPlane = &gardencorev1beta1.WorkerControlPlane{Exposure: &gardencorev1beta1.Exposure{Extension: &gardencorev1beta1.ExtensionExposure{Type: new("door")}}}
	}
	for name, tc := range map[string]struct {
		reason  string
		objects []kind.Object
		object  kind.Object
		want    []string
	}{
		"API-EXTLAB-2 profile":     {"a profile has a type", nil, admissiontest.Profile(), []string{providerLocal}},
		"API-EXTLAB-2 own profile": {"one of a project has that of its parent", []kind.Object{admissiontest.Profile()}, admissiontest.NamespacedProfile(), []string{providerLocal}},
		"API-EXTLAB-2 orphan":      {"if there is one", nil, admissiontest.NamespacedProfile(), nil},
		"API-EXTLAB-1 orphan": {"but what others wrote goes", nil, admissiontest.NamespacedProfile(func(p *gardencorev1beta1.NamespacedCloudProfile) {
			p.Labels = map[string]string{providerCloud: "true", "mine": "stays"}
		}), []string{"mine"}},
		"API-EXTLAB-2 binding": {
			"a binding may have several", nil, admissiontest.Binding(func(b *gardencorev1beta1.SecretBinding) { b.Provider.Type = "local,cloud" }),
			[]string{providerCloud, providerLocal},
		},
		"API-EXTLAB-2 credentials": {"or one", nil, &gardensecurityv1alpha1.CredentialsBinding{ObjectMeta: meta, Provider: gardensecurityv1alpha1.CredentialsBindingProvider{Type: "cloud"}}, []string{providerCloud}},
		"API-EXTLAB-2 identity": {"an identity is for a system", nil, &gardensecurityv1alpha1.WorkloadIdentity{
			ObjectMeta: meta, Spec: gardensecurityv1alpha1.WorkloadIdentitySpec{TargetSystem: gardensecurityv1alpha1.TargetSystem{Type: "cloud"}},
		}, []string{providerCloud}},
		"API-EXTLAB-2 bucket": {"a bucket has a provider", nil, bucket(), []string{providerCloud}},
		"API-EXTLAB-2 entry":  {"an entry that of its bucket", []kind.Object{bucket()}, &gardencorev1beta1.BackupEntry{ObjectMeta: meta, Spec: gardencorev1beta1.BackupEntrySpec{BucketName: "b"}}, []string{providerCloud}},
		"API-EXTLAB-2 seed": {"a seed needs much", []kind.Object{extensions()}, admissiontest.Seed("a", func(s *gardencorev1beta1.Seed) {
			s.Spec.Backup = &gardencorev1beta1.Backup{Provider: "cloud"}
			s.Spec.DNS.Provider = &gardencorev1beta1.SeedDNSProvider{Type: "names"}
			s.Spec.Extensions = []gardencorev1beta1.Extension{{Type: "asked"}}
		}), []string{
			"dnsrecord.extensions.gardener.cloud/names", "extensions.extensions.gardener.cloud/asked", "extensions.extensions.gardener.cloud/seeds", providerCloud, providerLocal,
		}},
		"API-EXTLAB-1 shoot": {"a shoot needs more; what others wrote goes, what is theirs stays", []kind.Object{extensions()}, admissiontest.Shoot(rich), []string{
			"containerruntime.extensions.gardener.cloud/gvisor", "dnsrecord.extensions.gardener.cloud/names", "extensions.extensions.gardener.cloud/asked",
			"extensions.extensions.gardener.cloud/everywhere", "mine", "networking.extensions.gardener.cloud/local", "operatingsystemconfig.extensions.gardener.cloud/local",
			providerLocal, "selfhostedshootexposure.extensions.gardener.cloud/door",
		}},
		"API-EXTLAB-2 workerless": {"without workers less", []kind.Object{extensions()}, admissiontest.Shoot(func(s *gardencorev1beta1.Shoot) { s.Spec.Provider.Workers, s.Spec.Networking = nil, nil }), []string{
			"extensions.extensions.gardener.cloud/everywhere", providerLocal,
		}},
		"API-ADM-4 others": {"other kinds have none", nil, admissiontest.Project(), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := admissiontest.New(t, nil, tc.objects...)
			if err := g.Ask(extensionlabels.New(g.World), admissiontest.Request{Object: tc.object}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, slices.Sorted(maps.Keys(tc.object.GetLabels()))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if tc.object.GetLabels()[providerLocal] == "false" {
				t.Errorf("%s: the value is not true", tc.reason)
			}
		})
	}
}
