// SPDX-License-Identifier: Apache-2.0

package references_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1 "github.com/terrarium-garden/terrarium/apis/core/v1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperationsv1alpha1 "github.com/terrarium-garden/terrarium/apis/operations/v1alpha1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/authorization/graph"
	"github.com/terrarium-garden/terrarium/appliance/authorization/references"
)

func named(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name}
}

func cross(kind, name string) autoscalingv1.CrossVersionObjectReference {
	return autoscalingv1.CrossVersionObjectReference{Kind: kind, Name: name}
}

func resource(kind, name string) gardencorev1beta1.NamedResourceReference {
	return gardencorev1beta1.NamedResourceReference{Name: name, ResourceRef: cross(kind, name)}
}

// text writes edges as lines, sorted.
func text(edges []graph.Edge) []string {
	var lines []string
	for _, e := range edges {
		lines = append(lines, e.From.String()+" -> "+e.To.String())
	}
	slices.Sort(lines)

	return lines
}

func shoot() *gardencorev1beta1.Shoot {
	s := &gardencorev1beta1.Shoot{ObjectMeta: named("garden-meadow", "sprout")}
	s.UID, s.Annotations = "u", map[string]string{"authentication.gardener.cloud/issuer": "managed"}
	s.Spec.SeedName, s.Status.SeedName, s.Status.TechnicalID = new("north"), new("south"), "shoot--meadow--sprout"
	s.Spec.CloudProfile = &gardencorev1beta1.CloudProfileReference{Kind: "CloudProfile", Name: "local"}
	s.Spec.SecretBindingName, s.Spec.CredentialsBindingName, s.Spec.ExposureClassName = new("sb"), new("cb"), new("internet")
	s.Spec.DNS = &gardencorev1beta1.DNS{Providers: []gardencorev1beta1.DNSProvider{
		{SecretName: new("dns")}, {CredentialsRef: new(cross("WorkloadIdentity", "dns-identity"))},
	}}
	s.Spec.Resources = []gardencorev1beta1.NamedResourceReference{resource("Secret", "r1"), resource("ConfigMap", "r2"), resource("Pod", "no")}
	s.Spec.Kubernetes.KubeAPIServer = &gardencorev1beta1.KubeAPIServerConfig{
		AuditConfig:              &gardencorev1beta1.AuditConfig{AuditPolicy: &gardencorev1beta1.AuditPolicy{ConfigMapRef: &corev1.ObjectReference{Name: "audit"}}},
		StructuredAuthentication: &gardencorev1beta1.StructuredAuthentication{ConfigMapName: "authn"},
		StructuredAuthorization: &gardencorev1beta1.StructuredAuthorization{
			ConfigMapName: "authz", Kubeconfigs: []gardencorev1beta1.AuthorizerKubeconfigReference{{AuthorizerName: "a", SecretName: "authz-kubeconfig"}},
		},
		AdmissionPlugins: []gardencorev1beta1.AdmissionPlugin{{Name: "p", KubeconfigSecretName: new("plugin")}},
	}

	return s
}

func TestEdges(t *testing.T) {
	t.Parallel()
	seed := &gardencorev1beta1.Seed{ObjectMeta: named("", "north")}
	seed.Spec.Backup = &gardencorev1beta1.Backup{
		SecretRef:      &corev1.SecretReference{Namespace: "garden", Name: "backup"},
		CredentialsRef: &corev1.ObjectReference{Kind: "WorkloadIdentity", Namespace: "garden", Name: "backup-identity"},
	}
	seed.Spec.SecretRef = &corev1.SecretReference{Namespace: "garden", Name: "kubeconfig"}
	seed.Spec.DNS.Provider = &gardencorev1beta1.SeedDNSProvider{SecretRef: &corev1.SecretReference{Namespace: "garden", Name: "dns"}}
	seed.Spec.DNS.Internal = &gardencorev1beta1.SeedDNSProviderConfig{CredentialsRef: corev1.ObjectReference{Kind: "Secret", Namespace: "garden", Name: "internal"}}
	seed.Spec.DNS.Defaults = []gardencorev1beta1.SeedDNSProviderConfig{{CredentialsRef: corev1.ObjectReference{Kind: "Secret", Namespace: "garden", Name: "default"}}}
	seed.Spec.Resources = []gardencorev1beta1.NamedResourceReference{resource("ConfigMap", "r"), resource("InternalSecret", "never")}

	bucket := &gardencorev1beta1.BackupBucket{ObjectMeta: named("", "b")}
	bucket.Spec.SeedName, bucket.Spec.SecretRef = new("north"), &corev1.SecretReference{Namespace: "garden", Name: "backup"}
	bucket.Status.GeneratedSecretRef = &corev1.SecretReference{Namespace: "garden", Name: "generated-bucket-b"}
	entry := &gardencorev1beta1.BackupEntry{ObjectMeta: named("garden-meadow", "e")}
	entry.OwnerReferences = []metav1.OwnerReference{{Kind: "Shoot", Name: "sprout"}, {Kind: "Pod", Name: "no"}}
	entry.Spec.BucketName, entry.Spec.SeedName, entry.Status.SeedName = "b", new("north"), new("south")

	installation := &gardencorev1beta1.ControllerInstallation{ObjectMeta: named("", "i")}
	installation.Spec.RegistrationRef.Name = "r"
	installation.Spec.SeedRef, installation.Spec.DeploymentRef = &corev1.ObjectReference{Name: "north"}, &corev1.ObjectReference{Name: "d"}
	deployment := &gardencorev1.ControllerDeployment{ObjectMeta: named("", "d"), Helm: &gardencorev1.HelmControllerDeployment{OCIRepository: &gardencorev1.OCIRepository{
		PullSecretRef: &corev1.LocalObjectReference{Name: "pull"}, CABundleSecretRef: &corev1.LocalObjectReference{Name: "ca"},
	}}}
	project := &gardencorev1beta1.Project{ObjectMeta: named("", "meadow")}
	project.Spec.Namespace = new("garden-meadow")
	namespaced := &gardencorev1beta1.Shoot{ObjectMeta: named("garden-meadow", "sprout")}
	namespaced.Spec.CloudProfile = &gardencorev1beta1.CloudProfileReference{Kind: "NamespacedCloudProfile", Name: "own"}
	account := &corev1.ServiceAccount{ObjectMeta: named("garden", "gardenlet-bootstrap-x"), Secrets: []corev1.ObjectReference{{Name: "token"}}}
	elsewhere := &corev1.ServiceAccount{ObjectMeta: named("garden-meadow", "gardenlet-bootstrap-x"), Secrets: []corev1.ObjectReference{{Name: "token"}}}
	robot := &corev1.ServiceAccount{ObjectMeta: named("garden", "robot"), Secrets: []corev1.ObjectReference{{Name: "token"}}}

	cases := map[string]struct {
		edges []graph.Edge
		want  []string
	}{
		"GAC-GR-2 shoot": {references.Shoot(shoot()), []string{
			"CloudProfile local -> Shoot garden-meadow/sprout",
			"ConfigMap garden-meadow/audit -> Shoot garden-meadow/sprout",
			"ConfigMap garden-meadow/authn -> Shoot garden-meadow/sprout",
			"ConfigMap garden-meadow/authz -> Shoot garden-meadow/sprout",
			"ConfigMap garden-meadow/r2 -> Shoot garden-meadow/sprout",
			"CredentialsBinding garden-meadow/cb -> Shoot garden-meadow/sprout",
			"ExposureClass internet -> Shoot garden-meadow/sprout",
			"Namespace garden-meadow -> Shoot garden-meadow/sprout",
			"Secret garden-meadow/authz-kubeconfig -> Shoot garden-meadow/sprout",
			"Secret garden-meadow/dns -> Shoot garden-meadow/sprout",
			"Secret garden-meadow/plugin -> Shoot garden-meadow/sprout",
			"Secret garden-meadow/r1 -> Shoot garden-meadow/sprout",
			"Secret gardener-system-shoot-issuer/meadow--u -> Shoot garden-meadow/sprout",
			"SecretBinding garden-meadow/sb -> Shoot garden-meadow/sprout",
			"Shoot garden-meadow/sprout -> Seed north",
			"Shoot garden-meadow/sprout -> Seed south",
			"WorkloadIdentity garden-meadow/dns-identity -> Shoot garden-meadow/sprout",
		}},
		"GAC-GR-2 namespaced profile": {references.Shoot(namespaced), []string{
			"Namespace garden-meadow -> Shoot garden-meadow/sprout", "NamespacedCloudProfile garden-meadow/own -> Shoot garden-meadow/sprout",
		}},
		"GAC-GR-3 seed": {references.Seed(seed), []string{
			"ConfigMap garden/r -> Seed north", "ConfigMap kube-system/cluster-identity -> Seed north", "Secret garden/backup -> Seed north",
			"Secret garden/default -> Seed north", "Secret garden/dns -> Seed north", "Secret garden/internal -> Seed north",
			"Secret garden/kubeconfig -> Seed north", "WorkloadIdentity garden/backup-identity -> Seed north",
		}},
		"GAC-GR-4 bucket": {references.BackupBucket(bucket), []string{
			"BackupBucket b -> Seed north", "Secret garden/backup -> BackupBucket b", "Secret garden/generated-bucket-b -> BackupBucket b",
		}},
		"GAC-GR-4 entry": {references.BackupEntry(entry), []string{
			"BackupBucket b -> BackupEntry garden-meadow/e", "BackupEntry garden-meadow/e -> Seed north", "BackupEntry garden-meadow/e -> Seed south",
			"BackupEntry garden-meadow/e -> Shoot garden-meadow/sprout",
		}},
		"GAC-GR-4 bastion": {
			references.Bastion(&gardenoperationsv1alpha1.Bastion{ObjectMeta: named("garden-meadow", "b"), Spec: gardenoperationsv1alpha1.BastionSpec{SeedName: new("north")}}),
			[]string{"Bastion garden-meadow/b -> Seed north"},
		},
		"GAC-GR-5 secret binding": {
			references.SecretBinding(&gardencorev1beta1.SecretBinding{ObjectMeta: named("garden-meadow", "sb"), SecretRef: corev1.SecretReference{Namespace: "garden-other", Name: "s"}}),
			[]string{"Secret garden-other/s -> SecretBinding garden-meadow/sb"},
		},
		"GAC-GR-5 credentials binding": {
			references.CredentialsBinding(&gardensecurityv1alpha1.CredentialsBinding{ObjectMeta: named("garden-meadow", "cb"), CredentialsRef: corev1.ObjectReference{Kind: "InternalSecret", Namespace: "garden-other", Name: "s"}}),
			[]string{"InternalSecret garden-other/s -> CredentialsBinding garden-meadow/cb"},
		},
		"GAC-GR-6 installation": {references.ControllerInstallation(installation), []string{
			"ControllerDeployment d -> ControllerInstallation i", "ControllerInstallation i -> Seed north", "ControllerRegistration r -> ControllerInstallation i",
		}},
		"GAC-GR-6 deployment": {references.ControllerDeployment(deployment), []string{"Secret garden/ca -> ControllerDeployment d", "Secret garden/pull -> ControllerDeployment d"}},
		"GAC-GR-7 project":    {references.Project(project), []string{"Project meadow -> Namespace garden-meadow"}},
		"GAC-GR-7 broken":     {references.CertificateSigningRequest(&certificatesv1.CertificateSigningRequest{}), nil},
		"GAC-GR-9 account":    {references.ServiceAccount(account), []string{"Secret garden/token -> ServiceAccount garden/gardenlet-bootstrap-x"}},
		"GAC-GR-9 other":      {references.ServiceAccount(robot), nil},
		"GAC-GR-9 elsewhere":  {references.ServiceAccount(elsewhere), nil},
		"GAC-GR-2 empty":      {references.Shoot(&gardencorev1beta1.Shoot{}), nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, text(tc.edges)); diff != "" {
				t.Errorf("edges (-want +got):\n%s", diff)
			}
		})
	}
}

func TestManagedSeed(t *testing.T) {
	t.Parallel()
	m := &gardenseedmanagementv1alpha1.ManagedSeed{ObjectMeta: named("garden", "nursery")}
	m.Spec.Shoot = &gardenseedmanagementv1alpha1.Shoot{Name: "nursery"}
	m.Spec.Gardenlet = &gardenseedmanagementv1alpha1.GardenletConfig{}
	m.Spec.Gardenlet.Config.Raw = []byte(`{"seedConfig":{"spec":{"backup":{"provider":"local","secretRef":{"namespace":"garden","name":"backup"}}}}}`)
	always := []string{
		"ManagedSeed garden/nursery -> Shoot garden/nursery", "Secret garden/backup -> ManagedSeed garden/nursery", "Seed nursery -> ManagedSeed garden/nursery",
	}
	token := "Secret kube-system/" + references.BootstrapTokenSecret("garden", "nursery") + " -> ManagedSeed garden/nursery"
	cases := map[string]struct {
		bootstrap *gardenseedmanagementv1alpha1.Bootstrap
		joins     bool
		want      []string
	}{
		"GAC-GR-8 joined":  {nil, false, nil},
		"GAC-GR-8 token":   {new(gardenseedmanagementv1alpha1.BootstrapToken), true, []string{token}},
		"GAC-GR-8 default": {nil, true, []string{token}},
		"GAC-GR-8 account": {new(gardenseedmanagementv1alpha1.BootstrapServiceAccount), true, []string{
			"ClusterRoleBinding gardener.cloud:system:seed-bootstrapper:garden:gardenlet-bootstrap-nursery -> ManagedSeed garden/nursery",
			"ServiceAccount garden/gardenlet-bootstrap-nursery -> ManagedSeed garden/nursery",
		}},
		"GAC-GR-8 none": {new(gardenseedmanagementv1alpha1.BootstrapNone), true, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := m.DeepCopy()
			m.Spec.Gardenlet.Bootstrap = tc.bootstrap
			want := slices.Concat(always, tc.want)
			slices.Sort(want)
			if diff := cmp.Diff(want, text(references.ManagedSeed(m, tc.joins))); diff != "" {
				t.Errorf("edges (-want +got):\n%s", diff)
			}
		})
	}
}

func TestJoins(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	seed := func(end time.Duration) *gardencorev1beta1.Seed {
		s := &gardencorev1beta1.Seed{}
		s.Status.ClientCertificateExpirationTimestamp = &metav1.Time{Time: now.Add(end)}
		return s
	}
	renew := map[string]string{"gardener.cloud/operation": "renew-kubeconfig"}
	cases := map[string]struct {
		reason      string
		annotations map[string]string
		seed        *gardencorev1beta1.Seed
		want        bool
	}{
		"GAC-SR-15 new":     {reason: "there is no Seed yet", want: true},
		"GAC-SR-15 joined":  {reason: "the certificate is good", seed: seed(time.Hour)},
		"GAC-SR-15 expired": {reason: "it is not any more", seed: seed(-time.Hour), want: true},
		"GAC-SR-15 renewal": {reason: "somebody asks for another", seed: seed(time.Hour), annotations: renew, want: true},
		"GAC-SR-15 unknown": {reason: "a Seed that tells nothing has joined", seed: &gardencorev1beta1.Seed{}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := &gardenseedmanagementv1alpha1.ManagedSeed{ObjectMeta: metav1.ObjectMeta{Annotations: tc.annotations}}
			if got := references.Joins(m, tc.seed, now); got != tc.want {
				t.Errorf("%s\nJoins(...) = %t, want %t", tc.reason, got, tc.want)
			}
		})
	}
}
