// SPDX-License-Identifier: Apache-2.0

package extensionlabels_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
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
	pool := func(c *gardencorev1beta1.WorkerControlPlane) func(*gardencorev1beta1.Shoot) {
		return func(s *gardencorev1beta1.Shoot) { s.Spec.Provider.Workers[0].ControlPlane = c }
	}
	usual := []string{"networking.extensions.gardener.cloud/local", "operatingsystemconfig.extensions.gardener.cloud/local", providerLocal}
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
		"API-EXTLAB-2 seed with domains": {"a seed may name more providers of domains", nil, admissiontest.Seed("a", func(s *gardencorev1beta1.Seed) {
			s.Spec.DNS.Internal = &gardencorev1beta1.SeedDNSProviderConfig{Type: "inner"}
			s.Spec.DNS.Defaults = []gardencorev1beta1.SeedDNSProviderConfig{{Type: "outer"}}
		}), []string{"dnsrecord.extensions.gardener.cloud/inner", "dnsrecord.extensions.gardener.cloud/outer", providerLocal}},
		"API-EXTLAB-2 bare binding":   {"a binding may say nothing", nil, admissiontest.Binding(func(b *gardencorev1beta1.SecretBinding) { b.Provider = nil }), nil},
		"API-EXTLAB-2 gaps":           {"nothing is what is left out", nil, admissiontest.Binding(func(b *gardencorev1beta1.SecretBinding) { b.Provider.Type = "local, ," }), []string{providerLocal}},
		"API-EXTLAB-2 orphaned entry": {"an entry without its bucket has no provider", nil, &gardencorev1beta1.BackupEntry{ObjectMeta: meta, Spec: gardencorev1beta1.BackupEntrySpec{BucketName: "b"}}, nil},
		"API-EXTLAB-2 bare shoot": {"what a shoot leaves out it does not need", nil, admissiontest.Shoot(func(s *gardencorev1beta1.Shoot) {
			s.Spec.Networking = &gardencorev1beta1.Networking{}
			s.Spec.Provider.Workers[0].Machine.Image, s.Spec.Provider.Workers[0].CRI = nil, nil
		}), []string{providerLocal}},
		"API-EXTLAB-2 control plane": {"a pool of the control plane need not be exposed", nil, admissiontest.Shoot(pool(&gardencorev1beta1.WorkerControlPlane{})), usual},
		"API-EXTLAB-2 exposure":      {"nor by an extension", nil, admissiontest.Shoot(pool(&gardencorev1beta1.WorkerControlPlane{Exposure: &gardencorev1beta1.Exposure{}})), usual},
		"API-EXTLAB-2 typeless": {"nor by one with a type", nil, admissiontest.Shoot(pool(&gardencorev1beta1.WorkerControlPlane{
			Exposure: &gardencorev1beta1.Exposure{Extension: &gardencorev1beta1.ExtensionExposure{}},
		})), usual},
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

// TestLeft_API_EXTLAB_1 shows when the labels stay as they are.
func TestLeft_API_EXTLAB_1(t *testing.T) {
	t.Parallel()
	profile := func() *gardencorev1beta1.NamespacedCloudProfile {
		return admissiontest.NamespacedProfile(func(p *gardencorev1beta1.NamespacedCloudProfile) { p.Labels = map[string]string{providerCloud: "true"} })
	}
	last := admissiontest.NamespacedProfile(func(p *gardencorev1beta1.NamespacedCloudProfile) { p.Labels = map[string]string{providerCloud: "true"} })
	bare := admissiontest.NamespacedProfile()
	g := admissiontest.New(t, nil)
	for reason, tc := range map[string]struct {
		object      *gardencorev1beta1.NamespacedCloudProfile
		subresource string
		want        map[string]string
	}{
		"a part of an object has no labels of its own": {object: profile(), subresource: "status", want: map[string]string{providerCloud: "true"}},
		"the last one goes":                            {object: last, want: map[string]string{}},
		"no labels stay no labels":                     {object: bare},
	} {
		if err := g.Ask(extensionlabels.New(g.World), admissiontest.Request{Object: tc.object, Subresource: tc.subresource}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tc.want, tc.object.Labels); diff != "" {
			t.Errorf("%s (-want +got):\n%s", reason, diff)
		}
	}
	if err := g.Ask(extensionlabels.New(g.Failing("cloudprofiles")), admissiontest.Request{Object: profile()}); !apierrors.IsInternalError(err) {
		t.Errorf("no label is taken away while the parent is unknown: got %v, want an internal error", err)
	}
}
