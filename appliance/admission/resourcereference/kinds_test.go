// SPDX-License-Identifier: Apache-2.0

package resourcereference_test

import (
	"testing"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1 "github.com/terrarium-garden/terrarium/apis/core/v1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/resourcereference"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
	"github.com/terrarium-garden/terrarium/storage/registry/kind/kindtest"
)

type (
	credentials  = gardensecurityv1alpha1.CredentialsBinding
	ownProfile   = gardencorev1beta1.NamespacedCloudProfile
	machineImage = gardencorev1beta1.MachineImage
)

func quota(name, scope string) *gardencorev1beta1.Quota {
	return &gardencorev1beta1.Quota{
		ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: name},
		Spec: gardencorev1beta1.QuotaSpec{
			Scope: corev1.ObjectReference{APIVersion: map[string]string{"Project": "core.gardener.cloud/v1beta1", "Secret": "v1"}[scope], Kind: scope}, Metrics: corev1.ResourceList{},
		},
	}
}

func credentialsOf(kind string, change ...func(*credentials)) *credentials {
	apiVersion := map[string]string{"Secret": "v1", "InternalSecret": "core.gardener.cloud/v1beta1", "WorkloadIdentity": "security.gardener.cloud/v1alpha1"}[kind]
	b := &credentials{
		ObjectMeta:     metav1.ObjectMeta{Namespace: admissiontest.Namespace, Name: "local"},
		Provider:       gardensecurityv1alpha1.CredentialsBindingProvider{Type: "local"},
		CredentialsRef: corev1.ObjectReference{APIVersion: apiVersion, Kind: kind, Namespace: admissiontest.Namespace, Name: "local"},
	}
	for _, c := range change {
		c(b)
	}
	return b
}

func identity(provider string) *gardensecurityv1alpha1.WorkloadIdentity {
	return &gardensecurityv1alpha1.WorkloadIdentity{
		ObjectMeta: metav1.ObjectMeta{Namespace: admissiontest.Namespace, Name: "local"},
		Spec:       gardensecurityv1alpha1.WorkloadIdentitySpec{Audiences: []string{"x"}, TargetSystem: gardensecurityv1alpha1.TargetSystem{Type: provider}},
	}
}

func TestQuotas(t *testing.T) {
	t.Parallel()
	rights := []string{mayRead, "rose get quotas garden/a", "rose get quotas garden/b"}
	two := func(b *binding) {
		b.Quotas = []corev1.ObjectReference{{Namespace: "garden", Name: "a"}, {Namespace: "garden", Name: "b"}}
	}
	ask := admissiontest.Request{Object: admissiontest.Binding(two)}
	admissiontest.Run(t, resourcereference.New, map[string]admissiontest.Case{
		"API-RRM-1 scopes":     {Reason: "one quota for the project, one for the credentials", Rights: rights, Foreign: []string{secret}, Objects: []kind.Object{quota("a", "Project"), quota("b", "Secret")}, Request: ask},
		"API-RRM-1 same scope": {Reason: "and no more", Rights: rights, Foreign: []string{secret}, Objects: []kind.Object{quota("a", "Project"), quota("b", "Project")}, Request: ask, Refused: []string{"quotas[1]", "same scope (project)"}},
		"API-RRM-1 hidden":     {Reason: "who may not read a quota does not name it", Rights: rights[:2], Foreign: []string{secret}, Objects: []kind.Object{quota("a", "Project"), quota("b", "Secret")}, Request: ask, Refused: []string{`quotas[1]: you may not read Quota "garden/b"`}},
	})
}

func TestCredentialsBinding(t *testing.T) {
	t.Parallel()
	user := admissiontest.Shoot()
	other := func(b *credentials) { b.Provider.Type = "other" }
	connecting := "gardener.cloud:gardenadm:shoot:garden-meadow:sprout"
	viewing := []string{"rose get workloadidentities garden-meadow/local"}
	workload := append([]string{"rose update workloadidentities garden-meadow/local"}, viewing...)
	issuing := append([]string{"rose create workloadidentities/token garden-meadow/local"}, viewing...)
	admissiontest.Run(t, resourcereference.New, map[string]admissiontest.Case{
		"API-RRM-1 credentials": {Reason: "credentials are bound like secrets", Rights: []string{mayRead}, Foreign: []string{secret}, Request: admissiontest.Request{Object: credentialsOf("Secret")}},
		"API-RRM-1 hidden":      {Reason: "by who may read them", Foreign: []string{secret}, Request: admissiontest.Request{Object: credentialsOf("Secret")}, Refused: []string{"credentialsRef: you may not read Secret"}},
		"API-RRM-1 internal":    {Reason: "be they internal secrets", Rights: []string{"rose get internalsecrets garden-meadow/local"}, Request: admissiontest.Request{Object: credentialsOf("InternalSecret")}, Refused: []string{`InternalSecret "garden-meadow/local" does not exist`}},
		"API-RRM-2 identity":    {Reason: "or identities", Rights: workload, Objects: []kind.Object{identity("local")}, Request: admissiontest.Request{Object: credentialsOf("WorkloadIdentity")}},
		"API-RRM-2 identity viewed": {
			Reason: "who may only look at an identity does not get at what trusts it", Rights: viewing, Objects: []kind.Object{identity("local")},
			Request: admissiontest.Request{Object: credentialsOf("WorkloadIdentity")}, Refused: []string{"credentialsRef", "not use it"},
		},
		"API-RRM-2 identity kept": {
			Reason: "what is bound already is not asked about", Rights: viewing, Objects: []kind.Object{identity("local")},
			Request: admissiontest.Request{Object: credentialsOf("WorkloadIdentity"), Old: credentialsOf("WorkloadIdentity")},
		},
		"API-RRM-2 identity issued":  {Reason: "who may have its tokens may use it", Rights: issuing, Objects: []kind.Object{identity("local")}, Request: admissiontest.Request{Object: credentialsOf("WorkloadIdentity")}},
		"API-RRM-2 identity differs": {Reason: "for the same provider", Rights: workload, Objects: []kind.Object{identity("cloud")}, Request: admissiontest.Request{Object: credentialsOf("WorkloadIdentity")}, Refused: []string{"credentialsRef", `is for "cloud"`}},
		"API-RRM-2 used":             {Reason: "a binding is for the provider of its shoots", Rights: []string{mayRead}, Foreign: []string{secret}, Objects: []kind.Object{user}, Request: admissiontest.Request{Object: credentialsOf("Secret", other)}, Refused: []string{`provider.type: shoot "sprout" uses the binding`, `"local", not "other"`}},
		"API-RRM-2 connecting":       {Reason: "a shoot that is being connected brings its own", Foreign: []string{secret}, Request: admissiontest.Request{Object: credentialsOf("Secret"), User: connecting}},
		"API-RRM-2 not there":        {Reason: "but nothing of others", Foreign: []string{secret}, Request: admissiontest.Request{Object: credentialsOf("Secret"), User: "gardener.cloud:gardenadm:shoot:garden-wood:sprout"}, Refused: []string{"you may not read"}},
		"API-SVAL-17 credentials":    {Reason: "the shoot's provider is the binding's", Objects: []kind.Object{credentialsOf("Secret", other)}, Request: admissiontest.Request{Object: user}, Refused: []string{"spec.credentialsBindingName", `is for provider "other", the shoot is for "local"`}},
		"API-SVAL-17 fits":           {Reason: "or fits", Objects: []kind.Object{credentialsOf("Secret")}, Request: admissiontest.Request{Object: user}},
	})
}

func TestServer(t *testing.T) {
	t.Parallel()
	have := []kind.Object{admissiontest.Credentials()}
	configured := admissiontest.Shoot(func(s *shoot) {
		s.Spec.Kubernetes.KubeAPIServer = &gardencorev1beta1.KubeAPIServerConfig{
			AdmissionPlugins:         []gardencorev1beta1.AdmissionPlugin{{Name: "X"}, {Name: "Y", KubeconfigSecretName: new("plugin")}},
			StructuredAuthentication: &gardencorev1beta1.StructuredAuthentication{ConfigMapName: "authn"},
			StructuredAuthorization: &gardencorev1beta1.StructuredAuthorization{
				ConfigMapName: "authz", Kubeconfigs: []gardencorev1beta1.AuthorizerKubeconfigReference{{AuthorizerName: "w", SecretName: "hook"}},
			},
		}
		s.Spec.DNS = &gardencorev1beta1.DNS{Providers: []gardencorev1beta1.DNSProvider{{CredentialsRef: &autoscalingv1.CrossVersionObjectReference{Kind: "WorkloadIdentity", Name: "names"}}}}
	})
	admissiontest.Run(t, resourcereference.New, map[string]admissiontest.Case{
		"API-RRM-4 missing": {
			Reason: "what an API server reads must exist", Objects: have, Request: admissiontest.Request{Object: configured},
			Rights: []string{"rose get workloadidentities garden-meadow/names", "rose update workloadidentities garden-meadow/names"},
			Refused: []string{
				`admissionPlugins[1].kubeconfigSecretName: Secret "garden-meadow/plugin" does not exist`,
				`structuredAuthentication.configMapName: ConfigMap "garden-meadow/authn" does not exist`,
				`structuredAuthorization.configMapName: ConfigMap "garden-meadow/authz" does not exist`,
				`structuredAuthorization.kubeconfigs[0].secretName: Secret "garden-meadow/hook" does not exist`,
				`spec.dns.providers[0]: WorkloadIdentity "garden-meadow/names" does not exist`,
			},
		},
		"API-RRM-4 identity": {
			Reason: "an identity is not used by everybody who may see it", Objects: have, Request: admissiontest.Request{Object: configured},
			Rights: []string{"rose get workloadidentities garden-meadow/names"}, Refused: []string{`spec.dns.providers[0]: you may read WorkloadIdentity "garden-meadow/names", but not use it`},
		},
		"API-RRM-4 unchanged": {Reason: "what stays is not looked at", Objects: have, Request: admissiontest.Request{Object: configured, Old: configured.DeepCopy()}},
	})
}

func TestSeedNames(t *testing.T) {
	t.Parallel()
	silent := func(s *seed) {
		s.Spec.Settings = &gardencorev1beta1.SeedSettings{ShootDNS: &gardencorev1beta1.SeedSettingShootDNS{Enabled: false}}
	}
	bound := []kind.Object{admissiontest.Shoot(func(s *shoot) { s.Spec.SeedName = new("a") })}
	secretly := func(s *seed) { s.Spec.SecretRef = &corev1.SecretReference{Namespace: "garden", Name: "kubeconfig"} }
	ask := admissiontest.Request{Object: admissiontest.Seed("a", silent), Old: admissiontest.Seed("a")}
	admissiontest.Run(t, resourcereference.New, map[string]admissiontest.Case{
		"API-RRM-6 names":     {Reason: "names are not turned off under shoots", Objects: bound, Request: ask, Refused: []string{"spec.settings.shootDNS.enabled", "garden-meadow/sprout"}},
		"API-RRM-6 no shoots": {Reason: "without shoots they are", Request: ask},
		"API-RRM-6 secret":    {Reason: "a named secret exists", Request: admissiontest.Request{Object: admissiontest.Seed("a", secretly)}, Refused: []string{`spec.secretRef: Secret "garden/kubeconfig" does not exist`}},
	})
}

func TestBackups(t *testing.T) {
	t.Parallel()
	bucket := &gardencorev1beta1.BackupBucket{ObjectMeta: metav1.ObjectMeta{Name: "b"}, Spec: gardencorev1beta1.BackupBucketSpec{
		Provider: gardencorev1beta1.BackupBucketProvider{Type: "local", Region: "north"}, SeedName: new("a"),
		CredentialsRef: &corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: "garden", Name: "backup"},
	}}
	entry := &gardencorev1beta1.BackupEntry{ObjectMeta: metav1.ObjectMeta{Namespace: admissiontest.Namespace, Name: "e"}, Spec: gardencorev1beta1.BackupEntrySpec{BucketName: "b", SeedName: new("a")}}
	admissiontest.Run(t, resourcereference.New, map[string]admissiontest.Case{
		"API-RRM-9 bucket":         {Reason: "what a bucket refers to exists", Objects: []kind.Object{admissiontest.Seed("a")}, Foreign: []string{"v1 secrets garden/backup"}, Request: admissiontest.Request{Object: bucket}},
		"API-RRM-9 bucket missing": {Reason: "or not", Request: admissiontest.Request{Object: bucket}, Refused: []string{`spec.seedName: Seed "a" does not exist`, `spec.credentialsRef: Secret "garden/backup" does not exist`}},
		"API-RRM-9 entry":          {Reason: "an entry has a bucket and a seed", Objects: []kind.Object{admissiontest.Seed("a"), bucket}, Request: admissiontest.Request{Object: entry}},
		"API-RRM-9 entry missing":  {Reason: "or not", Request: admissiontest.Request{Object: entry}, Refused: []string{`spec.seedName: Seed "a" does not exist`, `spec.bucketName: BackupBucket "b" does not exist`}},
		"API-RRM-9 full":           {Reason: "a bucket with entries stays", Objects: []kind.Object{bucket, entry}, Request: admissiontest.Request{Old: bucket}, Refused: []string{"garden-meadow/e"}},
		"API-RRM-9 empty":          {Reason: "an empty one goes", Objects: []kind.Object{bucket}, Request: admissiontest.Request{Old: bucket}},
	})
}

func TestGardenletAndManagedSeed(t *testing.T) {
	t.Parallel()
	managed := &gardenseedmanagementv1alpha1.ManagedSeed{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "a"}, Spec: gardenseedmanagementv1alpha1.ManagedSeedSpec{
		Shoot:     &gardenseedmanagementv1alpha1.Shoot{Name: "sprout"},
		Gardenlet: &gardenseedmanagementv1alpha1.GardenletConfig{Bootstrap: new(gardenseedmanagementv1alpha1.BootstrapToken), Config: admissiontest.Config()},
	}}
	let := &gardenseedmanagementv1alpha1.Gardenlet{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "a"}}
	let.Spec.Config = admissiontest.Config()
	let.Spec.Deployment.Helm.OCIRepository = gardencorev1.OCIRepository{Ref: new("oci://registry.example/gardenlet:v1")}
	admissiontest.Run(t, resourcereference.New, map[string]admissiontest.Case{
		"API-RRM-13 alone":        {Reason: "one of them may be", Request: admissiontest.Request{Object: let}},
		"API-RRM-13 gardenlet":    {Reason: "not both", Objects: []kind.Object{managed}, Request: admissiontest.Request{Object: let}, Refused: []string{`ManagedSeed "a" already exists`}},
		"API-RRM-13 managed seed": {Reason: "in whichever order", Objects: []kind.Object{let}, Request: admissiontest.Request{Object: managed}, Refused: []string{`Gardenlet "a" already exists`}},
	})
}

func TestOwnProfiles(t *testing.T) {
	t.Parallel()
	gone := metav1.NewTime(kindtest.Now().Add(-time.Hour))
	later := metav1.NewTime(kindtest.Now().Add(time.Hour))
	using := admissiontest.Shoot(func(s *shoot) {
		s.Spec.CloudProfile = &gardencorev1beta1.CloudProfileReference{Kind: "NamespacedCloudProfile", Name: "own"}
	})
	extended := admissiontest.NamespacedProfile(func(p *ownProfile) {
		p.Spec.Kubernetes = &gardencorev1beta1.KubernetesSettings{Versions: []gardencorev1beta1.ExpirableVersion{{Version: "1.36.3", ExpirationDate: &later}}}
	})
	expired := admissiontest.Profile(func(p *profile) {
		p.Spec.Kubernetes.Versions = []gardencorev1beta1.ExpirableVersion{{Version: "1.37.0"}, {Version: "1.36.3", ExpirationDate: &gone}}
	})
	limited := func(n int32) *gardencorev1beta1.Limits { return &gardencorev1beta1.Limits{MaxNodesTotal: &n} }
	big := admissiontest.Shoot(func(s *shoot) { s.Spec.Provider.Workers[0].Minimum, s.Spec.Provider.Workers[0].Maximum = 5, 5 })
	huge := admissiontest.Shoot(func(s *shoot) {
		one := &s.Spec.Provider.Workers[0]
		one.Minimum, one.Maximum = 1<<30, 1<<30
		two := *one.DeepCopy()
		two.Name = "two"
		s.Spec.Provider.Workers = append(s.Spec.Provider.Workers, two)
	})
	bounded := admissiontest.Profile(func(p *profile) { p.Spec.Limits = limited(3) })
	wide := admissiontest.Profile(func(p *profile) { p.Spec.Limits = limited(5) })
	withImage := func(p *profile) {
		p.Spec.MachineImages = append(p.Spec.MachineImages, machineImage{Name: "mine", Versions: []gardencorev1beta1.MachineImageVersion{{ExpirableVersion: gardencorev1beta1.ExpirableVersion{Version: "1.0.0"}}}})
	}
	mine := admissiontest.NamespacedProfile(func(p *ownProfile) { p.Spec.MachineImages = admissiontest.Profile(withImage).Spec.MachineImages[1:] })
	poorer := admissiontest.Profile(func(p *profile) { p.Spec.Kubernetes.Versions[0].Version = "1.37.0" })
	capable := admissiontest.Profile(func(p *profile) {
		p.Spec.MachineCapabilities = []gardencorev1beta1.CapabilityDefinition{{Name: "architecture", Values: []string{"amd64"}}, {Name: "boot", Values: []string{"uefi", "bios"}}}
		p.Spec.MachineTypes[0].Capabilities = gardencorev1beta1.Capabilities{"architecture": {"amd64"}}
		p.Spec.MachineImages[0].Versions[0].Architectures = nil
		p.Spec.MachineImages[0].Versions[0].CapabilityFlavors = []gardencorev1beta1.MachineImageFlavor{{Capabilities: gardencorev1beta1.Capabilities{"architecture": {"amd64"}}}}
	})
	fast := admissiontest.NamespacedProfile(func(p *ownProfile) {
		p.Spec.MachineTypes = []gardencorev1beta1.MachineType{{Name: "fast", CPU: resource.MustParse("1"), Memory: resource.MustParse("1Gi"), Capabilities: gardencorev1beta1.Capabilities{"boot": {"uefi"}}}}
	})
	shorten := admissiontest.Request{Object: admissiontest.NamespacedProfile(), Old: extended}
	admissiontest.Run(t, resourcereference.New, map[string]admissiontest.Case{
		"API-RRM-10 heirs": {Reason: "shoots of a project's profile count as well", Objects: []kind.Object{admissiontest.Profile(), admissiontest.NamespacedProfile(), using}, Request: admissiontest.Request{Object: poorer, Old: admissiontest.Profile()}, Refused: []string{`Kubernetes version 1.36.3 cannot be removed from NamespacedCloudProfile "own"`}},
		"API-RRM-10 extended": {
			Reason: "a version that a project has extended stays", Objects: []kind.Object{admissiontest.Profile(), extended},
			Request: admissiontest.Request{Object: poorer, Old: admissiontest.Profile()},
			Refused: []string{"Kubernetes version 1.36.3 cannot be removed: NamespacedCloudProfile garden-meadow/own extends it"},
		},
		"API-RRM-10 limit":  {Reason: "a limit is not below what there is", Objects: []kind.Object{big}, Request: admissiontest.Request{Object: bounded, Old: admissiontest.Profile()}, Refused: []string{"spec.limits.maxNodesTotal", "garden-meadow/sprout has at least 5 machines"}},
		"API-RRM-10 sum":    {Reason: "nor below a sum that is too large for its fields", Objects: []kind.Object{huge}, Request: admissiontest.Request{Object: bounded, Old: admissiontest.Profile()}, Refused: []string{"garden-meadow/sprout has at least 2147483648 machines"}},
		"API-RRM-10 wide":   {Reason: "a wide one is", Objects: []kind.Object{big}, Request: admissiontest.Request{Object: wide, Old: admissiontest.Profile()}},
		"API-RRM-10 raised": {Reason: "to raise it is welcome", Objects: []kind.Object{big}, Request: admissiontest.Request{Object: wide, Old: bounded}},
		"API-RRM-10 image":  {Reason: "what a project has added is not added to the parent", Objects: []kind.Object{admissiontest.Profile(), mine}, Request: admissiontest.Request{Object: admissiontest.Profile(withImage), Old: admissiontest.Profile()}, Refused: []string{"machine image mine 1.0.0 cannot be added"}},
		"API-RRM-10 capability": {
			Reason: "a capability that a project has a machine for stays", Objects: []kind.Object{capable, fast},
			Request: admissiontest.Request{Object: admissiontest.Profile(), Old: capable},
			Refused: []string{"spec.machineCapabilities: boot=uefi cannot be removed", "machine type fast", "garden-meadow/own"},
		},
		"API-RRM-11":          {Reason: "a version that lives by the extension alone stays", Objects: []kind.Object{expired, using}, Request: shorten, Refused: []string{`Kubernetes version 1.36.3 cannot be removed from NamespacedCloudProfile "own"`}},
		"API-RRM-11 living":   {Reason: "one that lives without may go", Objects: []kind.Object{admissiontest.Profile(), using}, Request: shorten},
		"API-RRM-11 unused":   {Reason: "so may one that nobody uses", Objects: []kind.Object{expired}, Request: shorten},
		"API-RRM-11 orphaned": {Reason: "without the parent nothing can be said", Objects: []kind.Object{using}, Request: shorten, Refused: []string{`spec.parent: CloudProfile "local" does not exist`}},
	})
}
