// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/terrarium-garden/terrarium/apis/check/checktest"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/core/validation"
)

// elsewhere keeps backups in another region of another provider.
func elsewhere(region *string) *gardencorev1beta1.Backup {
	return &gardencorev1beta1.Backup{
		Provider: "other", Region: region,
		CredentialsRef: &corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: "garden", Name: "backup"},
	}
}

func ingress(domain string) func(*gardencorev1beta1.Seed) {
	return func(s *gardencorev1beta1.Seed) {
		s.Spec.Ingress = &gardencorev1beta1.Ingress{Domain: domain, Controller: gardencorev1beta1.IngressController{Kind: "nginx"}}
		s.Spec.DNS.Provider = &gardencorev1beta1.SeedDNSProvider{Type: "one", SecretRef: &corev1.SecretReference{Namespace: "garden", Name: "dns"}}
	}
}

func TestValidateSeedRules(t *testing.T) {
	t.Parallel()
	type change = func(*gardencorev1beta1.Seed)
	for name, tc := range map[string]struct {
		reason string
		change change
		want   []string
	}{
		"API-NAME-4":              {reason: "names are labels", change: func(s *gardencorev1beta1.Seed) { s.Name = "a.b" }, want: []string{"metadata.name: FieldValueInvalid"}},
		"API-VALSEED-1 backup":    {reason: "backups can be kept elsewhere", change: func(s *gardencorev1beta1.Seed) { s.Spec.Backup = elsewhere(new("there")) }},
		"API-VALSEED-1 no region": {reason: "somewhere", change: func(s *gardencorev1beta1.Seed) { s.Spec.Backup = elsewhere(nil) }, want: []string{"spec.backup.region: FieldValueInvalid"}},
		"API-VALSEED-1 nothing": {
			reason: "with credentials", change: func(s *gardencorev1beta1.Seed) { s.Spec.Backup = &gardencorev1beta1.Backup{Provider: "local"} },
			want: []string{"spec.backup.credentialsRef: FieldValueRequired"},
		},
		"API-VALSEED-1 former": {
			reason: "the former form is complete as well",
			change: func(s *gardencorev1beta1.Seed) {
				s.Spec.Backup = &gardencorev1beta1.Backup{Provider: "local", SecretRef: &corev1.SecretReference{Name: "backup"}}
			},
			want: []string{"spec.backup.secretRef.namespace: FieldValueRequired"},
		},
		"API-VALSEED-1 ingress": {reason: "an ingress has all it needs", change: ingress("ingress.example.org")},
		"API-VALSEED-1 bare ingress": {
			reason: "or is none", change: func(s *gardencorev1beta1.Seed) { s.Spec.Ingress = &gardencorev1beta1.Ingress{} },
			want: []string{
				"spec.ingress.controller.kind: FieldValueNotSupported", "spec.ingress.domain: FieldValueRequired",
			},
		},
		"API-VALSEED-1 lists": {
			reason: "zones, taints and purposes stand once",
			change: func(s *gardencorev1beta1.Seed) {
				s.Spec.Provider.Zones = []string{"a", "a"}
				s.Spec.Taints = []gardencorev1beta1.SeedTaint{{Key: "a"}, {Key: "a", Value: new("b")}, {Key: "a"}}
				s.Spec.Volume = &gardencorev1beta1.SeedVolume{Providers: []gardencorev1beta1.SeedVolumeProvider{
					{Name: "a", Purpose: "etcd-main"}, {Name: "b", Purpose: "etcd-main"},
				}}
			},
			want: []string{
				"spec.provider.zones[1]: FieldValueDuplicate", "spec.taints[2]: FieldValueDuplicate", "spec.volume.providers[1].purpose: FieldValueDuplicate",
			},
		},
		"API-VALSEED-1 resources": {
			reason: "a seed gets nothing from InternalSecrets, nor from kinds that hold no data for it",
			change: func(s *gardencorev1beta1.Seed) {
				references := []autoscalingv1.CrossVersionObjectReference{
					{APIVersion: "v1", Kind: "Secret", Name: "a"},
					{APIVersion: "v1", Kind: "ConfigMap", Name: "a"},
					{APIVersion: "security.gardener.cloud/v1alpha1", Kind: "WorkloadIdentity", Name: "a"},
					{APIVersion: "core.gardener.cloud/v1beta1", Kind: "InternalSecret", Name: "a.ca-client"},
					{APIVersion: "example.org/v1", Kind: "Secret", Name: "a"},
				}
				for i, of := range references {
					s.Spec.Resources = append(s.Spec.Resources, gardencorev1beta1.NamedResourceReference{Name: string(rune('a' + i)), ResourceRef: of})
				}
			},
			want: []string{"spec.resources[3].resourceRef.kind: FieldValueNotSupported", "spec.resources[4].resourceRef.kind: FieldValueNotSupported"},
		},
		"API-VALSEED-1 credentials": {
			reason: "the credentials of a domain are of a kind that holds credentials",
			change: func(s *gardencorev1beta1.Seed) {
				s.Spec.DNS.Internal = &gardencorev1beta1.SeedDNSProviderConfig{
					Type: "one", Domain: "example.org", CredentialsRef: corev1.ObjectReference{APIVersion: "v1", Kind: "ConfigMap", Namespace: "garden", Name: "x"},
				}
			},
			want: []string{"spec.dns.internal.credentialsRef: FieldValueNotSupported"},
		},
		"API-VALSEED-3 zones": {
			reason: "who speaks of zones has several",
			change: func(s *gardencorev1beta1.Seed) {
				s.Spec.Provider.Zones = []string{"a"}
				s.Spec.Settings = &gardencorev1beta1.SeedSettings{
					LoadBalancerServices: &gardencorev1beta1.SeedSettingLoadBalancerServices{Zones: []gardencorev1beta1.SeedSettingLoadBalancerServicesZones{{Name: "b"}}},
					TopologyAwareRouting: &gardencorev1beta1.SeedSettingTopologyAwareRouting{Enabled: true},
				}
			},
			want: []string{
				"spec.settings.loadBalancerServices.zones: FieldValueForbidden", "spec.settings.loadBalancerServices.zones[0].name: FieldValueNotFound",
				"spec.settings.topologyAwareRouting.enabled: FieldValueForbidden",
			},
		},
		"API-VALSEED-3 services": {
			reason: "Services have enough", change: func(s *gardencorev1beta1.Seed) {
				s.Spec.Networks.Pods, s.Spec.Networks.Services = "192.168.0.0/16", "10.0.0.0/7"
			},
			want: []string{"spec.networks.services: FieldValueInvalid"},
		},
		"API-VALSEED-3 domains": {
			reason: "a default domain stands once",
			change: func(s *gardencorev1beta1.Seed) {
				one := gardencorev1beta1.SeedDNSProviderConfig{Type: "one", Domain: "example.org", CredentialsRef: *dnsSecret()}
				s.Spec.DNS.Defaults = []gardencorev1beta1.SeedDNSProviderConfig{one, one}
			},
			want: []string{"spec.dns.defaults[1]: FieldValueDuplicate"},
		},
		"API-STRAT-6": {
			reason: "an unknown operation is refused",
			change: func(s *gardencorev1beta1.Seed) {
				s.Annotations = map[string]string{"gardener.cloud/operation": "dance"}
			},
			want: []string{"metadata.annotations[gardener.cloud/operation]: FieldValueNotSupported"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, checktest.Complaints(validation.ValidateSeed(seed(tc.change)))); diff != "" {
				t.Errorf("%s\nValidateSeed(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestValidateSeedUpdate(t *testing.T) {
	t.Parallel()
	defaults := func(s *gardencorev1beta1.Seed) {
		s.Spec.DNS.Defaults = []gardencorev1beta1.SeedDNSProviderConfig{{Type: "one", Domain: "example.org", CredentialsRef: *dnsSecret()}}
	}
	for name, tc := range map[string]struct {
		reason   string
		old, now func(*gardencorev1beta1.Seed)
		want     []string
	}{
		"API-VALSEED-2 families": {
			reason: "families stay",
			now: func(s *gardencorev1beta1.Seed) {
				s.Spec.Networks.IPFamilies = []gardencorev1beta1.IPFamily{"IPv4", "IPv6"}
			},
			want: []string{"spec.networks.ipFamilies: FieldValueInvalid"},
		},
		"API-VALSEED-2 nodes": {
			reason: "the range of the machines stays once it is known",
			old:    func(s *gardencorev1beta1.Seed) { s.Spec.Networks.Nodes = new("10.3.0.0/16") },
			want:   []string{"spec.networks.nodes: FieldValueInvalid"},
		},
		"API-VALSEED-2 ingress": {reason: "the domain stays", old: ingress("a.example.org"), now: ingress("b.example.org"), want: []string{"spec.ingress.domain: FieldValueInvalid"}},
		"API-VALSEED-2 backup": {
			reason: "backups stay where they are",
			old:    func(s *gardencorev1beta1.Seed) { s.Spec.Backup = elsewhere(new("there")) },
			now:    func(s *gardencorev1beta1.Seed) { s.Spec.Backup = elsewhere(new("here")) },
			want:   []string{"spec.backup.region: FieldValueInvalid"},
		},
		"API-VALSEED-2 backup provider": {
			reason: "with whom they are",
			old:    func(s *gardencorev1beta1.Seed) { s.Spec.Backup = elsewhere(new("there")) },
			now: func(s *gardencorev1beta1.Seed) {
				s.Spec.Backup = elsewhere(new("there"))
				s.Spec.Backup.Provider = "another"
			},
			want: []string{"spec.backup.provider: FieldValueInvalid"},
		},
		"BAK-BB-7 credentials": {
			reason: "credentials for them may be others",
			old:    func(s *gardencorev1beta1.Seed) { s.Spec.Backup = elsewhere(new("there")) },
			now: func(s *gardencorev1beta1.Seed) {
				s.Spec.Backup = elsewhere(new("there"))
				s.Spec.Backup.CredentialsRef.Name = "fresh"
			},
		},
		"BAK-BB-7 first": {
			reason: "a seed without backups may get some", now: func(s *gardencorev1beta1.Seed) { s.Spec.Backup = elsewhere(new("there")) },
		},
		"API-VALSEED-2 no backup": {
			reason: "and are", old: func(s *gardencorev1beta1.Seed) { s.Spec.Backup = elsewhere(new("there")) },
			want: []string{"spec.backup: FieldValueInvalid"},
		},
		"API-VALSEED-3 defaults": {reason: "default domains stay", old: defaults, want: []string{"spec.dns.defaults: FieldValueForbidden"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			none := func(*gardencorev1beta1.Seed) {}
			if tc.old == nil {
				tc.old = none
			}
			if tc.now == nil {
				tc.now = none
			}
			if diff := cmp.Diff(tc.want, checktest.Complaints(validation.ValidateSeedUpdate(seed(tc.now), seed(tc.old)))); diff != "" {
				t.Errorf("%s\nValidateSeedUpdate(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
	if diff := cmp.Diff([]string{"status.clusterIdentity: FieldValueInvalid"}, checktest.Complaints(validation.ValidateSeedStatusUpdate(
		seed(func(s *gardencorev1beta1.Seed) { s.Status.ClusterIdentity = new("b") }),
		seed(func(s *gardencorev1beta1.Seed) { s.Status.ClusterIdentity = new("a") })))); diff != "" {
		t.Errorf("API-VALSEED-2: the identity of a cluster stays\nValidateSeedStatusUpdate(...) (-want +got):\n%s", diff)
	}
}

func TestValidateCloudProfileRules(t *testing.T) {
	t.Parallel()
	const versions = "spec.kubernetes.versions"
	offers := func(all ...gardencorev1beta1.ExpirableVersion) func(*gardencorev1beta1.CloudProfile) {
		return func(p *gardencorev1beta1.CloudProfile) { p.Spec.Kubernetes.Versions = all }
	}
	supported := new(gardencorev1beta1.VersionClassificationSupported)
	for name, tc := range map[string]struct {
		reason string
		change func(*gardencorev1beta1.CloudProfile)
		want   []string
	}{
		"API-VALCP-1 versions": {
			reason: "versions are versions, once, and one of a minor one is the supported one",
			change: offers(gardencorev1beta1.ExpirableVersion{Version: "1.36.3", Classification: supported},
				gardencorev1beta1.ExpirableVersion{Version: "1.36.2", Classification: supported},
				gardencorev1beta1.ExpirableVersion{Version: "1.35.2", Classification: supported},
				gardencorev1beta1.ExpirableVersion{Version: "1.35.2"}, gardencorev1beta1.ExpirableVersion{Version: "one"}),
			want: []string{
				versions + ": FieldValueInvalid", versions + "[0]: FieldValueForbidden", versions + "[1]: FieldValueForbidden",
				versions + "[3].version: FieldValueDuplicate", versions + "[4]: FieldValueInvalid",
			},
		},
		"API-VALCP-1 names": {
			reason: "what is offered is named, once",
			change: func(p *gardencorev1beta1.CloudProfile) {
				p.Spec.Regions = []gardencorev1beta1.Region{{Name: "a", Zones: []gardencorev1beta1.AvailabilityZone{{Name: "z"}, {Name: "z"}}}, {Name: "a"}}
				p.Spec.MachineTypes = append(p.Spec.MachineTypes, p.Spec.MachineTypes[0])
				p.Spec.VolumeTypes = []gardencorev1beta1.VolumeType{{Name: "v", Class: "c"}, {Name: "v", Class: "c"}}
				p.Spec.MachineImages[0].Versions[0].CRI = []gardencorev1beta1.CRI{
					{Name: "containerd", ContainerRuntimes: []gardencorev1beta1.ContainerRuntime{{Type: "a"}, {Type: "a"}}}, {Name: "other"},
				}
			},
			want: []string{
				"spec.machineImages[0].versions[0].cri[0].containerRuntimes[1].type: FieldValueDuplicate",
				"spec.machineImages[0].versions[0].cri[1].name: FieldValueNotSupported", "spec.machineTypes[1].name: FieldValueDuplicate",
				"spec.regions[0].zones[1].name: FieldValueDuplicate", "spec.regions[1].name: FieldValueDuplicate", "spec.volumeTypes[1].name: FieldValueDuplicate",
			},
		},
		"API-VALCP-1 bundle": {
			reason: "certificates are certificates", change: func(p *gardencorev1beta1.CloudProfile) { p.Spec.CABundle = new("nonsense") },
			want: []string{"spec.caBundle: FieldValueInvalid"},
		},
		"storage": {
			reason: "storage that comes with a machine is named like other volumes",
			change: func(p *gardencorev1beta1.CloudProfile) {
				size := resource.MustParse("20Gi")
				p.Spec.MachineTypes[0].Storage = &gardencorev1beta1.MachineTypeStorage{Class: "first class", Type: "a/b", Size: &size}
			},
			want: []string{"spec.machineTypes[0].storage.class: FieldValueInvalid", "spec.machineTypes[0].storage.type: FieldValueInvalid"},
		},
		"API-VALCP-1 machines": {
			reason: "amounts are not negative, storage has one size",
			change: func(p *gardencorev1beta1.CloudProfile) {
				p.Spec.MachineTypes[0].CPU = resource.MustParse("-1")
				p.Spec.MachineTypes[0].Storage = &gardencorev1beta1.MachineTypeStorage{Class: "a", Type: "b"}
				p.Spec.MachineTypes[0].Architecture = new("abacus")
			},
			want: []string{
				"spec.machineTypes[0].architecture: FieldValueNotSupported", "spec.machineTypes[0].cpu: FieldValueInvalid",
				"spec.machineTypes[0].storage: FieldValueInvalid",
			},
		},
		"API-VALCP-1 bastion": {
			reason: "bastions are made of what is offered",
			change: func(p *gardencorev1beta1.CloudProfile) {
				p.Spec.Bastion = &gardencorev1beta1.Bastion{
					MachineImage: &gardencorev1beta1.BastionMachineImage{Name: "local", Version: new("2.0.0")},
					MachineType:  &gardencorev1beta1.BastionMachineType{Name: "other"},
				}
			},
			want: []string{"spec.bastion.machineImage.version: FieldValueInvalid", "spec.bastion.machineType.name: FieldValueInvalid"},
		},
		"API-VALCP-2 life": {
			reason: "a version gets older, never younger",
			change: offers(gardencorev1beta1.ExpirableVersion{Version: "1.36.3", Lifecycle: []gardencorev1beta1.LifecycleStage{
				{Classification: "supported"},
				{Classification: "preview", StartTime: past()},
				{Classification: "deprecated", StartTime: past()},
				{Classification: "expired"},
			}}, gardencorev1beta1.ExpirableVersion{Version: "1.36.4"}),
			want: []string{
				versions + "[0].lifecycle[1].classification: FieldValueInvalid", versions + "[0].lifecycle[2].startTime: FieldValueInvalid",
				versions + "[0].lifecycle[3].startTime: FieldValueRequired",
			},
		},
		"API-VALCP-2 either": {
			reason: "its life is told in one way",
			change: offers(gardencorev1beta1.ExpirableVersion{
				Version: "1.36.3", Classification: supported, Lifecycle: []gardencorev1beta1.LifecycleStage{{Classification: "supported"}},
			}),
			want: []string{versions + "[0].lifecycle: FieldValueForbidden"},
		},
		"API-VALCP-2 fine": {
			reason: "stages follow each other",
			change: offers(gardencorev1beta1.ExpirableVersion{Version: "1.36.3", Lifecycle: []gardencorev1beta1.LifecycleStage{
				{Classification: "preview"},
				{Classification: "supported", StartTime: past()},
				{Classification: "expired", StartTime: &metav1.Time{Time: past().Add(time.Hour)}},
			}}, gardencorev1beta1.ExpirableVersion{Version: "1.36.4"}),
		},
		"API-VALCP-1 newest ends": {
			reason: "nor does the newest version expire by its last stage",
			change: offers(gardencorev1beta1.ExpirableVersion{Version: "1.36.3", Lifecycle: []gardencorev1beta1.LifecycleStage{
				{Classification: "supported"},
				{Classification: "expired", StartTime: past()},
			}}),
			want: []string{versions + "[].lifecycle: FieldValueInvalid"},
		},
		"API-VALCP-1 stays supported": {
			reason: "one version of a minor one stays supported, however it is said",
			change: offers(
				gardencorev1beta1.ExpirableVersion{Version: "1.36.3", Lifecycle: []gardencorev1beta1.LifecycleStage{{Classification: "preview"}, {Classification: "supported", StartTime: past()}}},
				gardencorev1beta1.ExpirableVersion{Version: "1.36.2", Classification: supported},
			),
			want: []string{versions + "[0]: FieldValueForbidden", versions + "[1]: FieldValueForbidden"},
		},
		"API-VALCP-1 follows": {
			reason: "another one follows it",
			change: offers(
				gardencorev1beta1.ExpirableVersion{Version: "1.36.3", Lifecycle: []gardencorev1beta1.LifecycleStage{{Classification: "supported"}}},
				gardencorev1beta1.ExpirableVersion{Version: "1.36.2", Lifecycle: []gardencorev1beta1.LifecycleStage{{Classification: "supported"}, {Classification: "deprecated", StartTime: past()}}},
			),
		},
		"API-VALCP-2 nodes": {
			reason: "some nodes are allowed",
			change: func(p *gardencorev1beta1.CloudProfile) {
				p.Spec.Limits = &gardencorev1beta1.Limits{MaxNodesTotal: new(int32(0))}
			},
			want: []string{"spec.limits.maxNodesTotal: FieldValueInvalid"},
		},
		"Capabilities": {
			reason: "what machines can is defined",
			change: func(p *gardencorev1beta1.CloudProfile) {
				p.Spec.MachineCapabilities = []gardencorev1beta1.CapabilityDefinition{{Name: "architecture", Values: []string{"amd64"}}, {Name: "empty"}}
				p.Spec.MachineTypes[0].Capabilities = gardencorev1beta1.Capabilities{"architecture": {"arm64"}, "other": {"a"}}
			},
			want: []string{
				"spec.machineCapabilities[1].values: FieldValueRequired", "spec.machineTypes[0].capabilities.architecture[0]: FieldValueNotSupported",
				"spec.machineTypes[0].capabilities: FieldValueNotSupported",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, checktest.Complaints(validation.ValidateCloudProfile(cloudProfile(tc.change)))); diff != "" {
				t.Errorf("%s\nValidateCloudProfile(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
	limited := func(n int32) *gardencorev1beta1.CloudProfile {
		return cloudProfile(func(p *gardencorev1beta1.CloudProfile) { p.Spec.Limits = &gardencorev1beta1.Limits{MaxNodesTotal: &n} })
	}
	if diff := cmp.Diff([]string{"spec.limits.maxNodesTotal: FieldValueInvalid"}, checktest.Complaints(validation.ValidateCloudProfileUpdate(limited(1), limited(2)))); diff != "" {
		t.Errorf("API-VALCP-2: shoots keep the nodes that they were allowed\nValidateCloudProfileUpdate(...) (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string(nil), checktest.Complaints(validation.ValidateCloudProfileUpdate(limited(2), limited(1)))); diff != "" {
		t.Errorf("API-VALCP-2: more can be allowed\nValidateCloudProfileUpdate(...) (-want +got):\n%s", diff)
	}
	twice := func(labels map[string]string, third string) *gardencorev1beta1.CloudProfile {
		return cloudProfile(func(p *gardencorev1beta1.CloudProfile) {
			p.Labels = labels
			offers(gardencorev1beta1.ExpirableVersion{Version: "1.36.3", Classification: supported}, gardencorev1beta1.ExpirableVersion{Version: "1.36.2", Classification: supported},
				gardencorev1beta1.ExpirableVersion{Version: third})(p)
		})
	}
	if diff := cmp.Diff([]string(nil), checktest.Complaints(validation.ValidateCloudProfileUpdate(twice(map[string]string{"a": "b"}, "1.35.2"), twice(nil, "1.35.2")))); diff != "" {
		t.Errorf("API-VALCP-1: a profile that was stored earlier can be written\nValidateCloudProfileUpdate(...) (-want +got):\n%s", diff)
	}
	if got := checktest.Complaints(validation.ValidateCloudProfileUpdate(twice(nil, "1.35.3"), twice(nil, "1.35.2"))); len(got) != 2 {
		t.Errorf("API-VALCP-1: its versions are checked when they change\nValidateCloudProfileUpdate(...): %v", got)
	}
}

func TestValidateProjectRules(t *testing.T) {
	t.Parallel()
	user := func(name string) rbacv1.Subject {
		return rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: name}
	}
	for name, tc := range map[string]struct {
		reason string
		change func(*gardencorev1beta1.Project)
		want   []string
	}{
		"API-VALPROJ-1 robots": {
			reason: "a service account is one person, however it is written",
			change: func(p *gardencorev1beta1.Project) {
				p.Spec.Members = []gardencorev1beta1.ProjectMember{
					{Subject: rbacv1.Subject{Kind: "ServiceAccount", Namespace: "a", Name: "b"}, Role: "viewer"},
					{Subject: user("system:serviceaccount:a:b"), Role: "viewer"},
				}
			},
			want: []string{"spec.members[1]: FieldValueDuplicate"},
		},
		"API-VALPROJ-1 form": {
			reason: "each kind of subject has its form",
			change: func(p *gardencorev1beta1.Project) {
				p.Spec.Members = []gardencorev1beta1.ProjectMember{
					{Subject: rbacv1.Subject{Kind: "ServiceAccount", Name: "b", APIGroup: "g"}, Role: "viewer"},
					{Subject: rbacv1.Subject{Kind: "Group", Name: "b", Namespace: "n"}, Role: "viewer"},
				}
			},
			want: []string{
				"spec.members[0].apiGroup: FieldValueNotSupported", "spec.members[0].namespace: FieldValueRequired",
				"spec.members[1].apiGroup: FieldValueNotSupported", "spec.members[1].namespace: FieldValueForbidden",
			},
		},
		"API-VALPROJ-2 owners": {
			reason: "one member owns, roles stand once",
			change: func(p *gardencorev1beta1.Project) {
				p.Spec.Members = []gardencorev1beta1.ProjectMember{
					{Subject: user("a"), Role: "owner"}, {Subject: user("b"), Role: "uam", Roles: []string{"owner", "uam"}},
				}
			},
			want: []string{"spec.members[1].roles[0]: FieldValueForbidden", "spec.members[1].roles[1]: FieldValueDuplicate"},
		},
		"API-VALPROJ-3 texts": {
			reason: "texts say something",
			change: func(p *gardencorev1beta1.Project) { p.Spec.Description, p.Spec.Purpose = new(""), new("") },
			want:   []string{"spec.description: FieldValueRequired", "spec.purpose: FieldValueRequired"},
		},
		"API-VALPROJ-4 covered": {
			reason: "a key without value covers all values",
			change: func(p *gardencorev1beta1.Project) {
				p.Spec.Tolerations = &gardencorev1beta1.ProjectTolerations{
					Defaults:  []gardencorev1beta1.Toleration{{Key: "a", Value: new("b")}},
					Whitelist: []gardencorev1beta1.Toleration{{Key: "a"}},
				}
			},
		},
		"API-VALPROJ-6": {
			reason: "two people agree on shoots",
			change: func(p *gardencorev1beta1.Project) {
				broken := metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Of"}}}
				p.Spec.DualApprovalForDeletion = []gardencorev1beta1.DualApprovalForDeletion{
					{Resource: "shoots"}, {Resource: "shoots", Selector: broken}, {Resource: "seeds"},
				}
			},
			want: []string{
				"spec.dualApprovalForDeletion[1].resource: FieldValueDuplicate",
				"spec.dualApprovalForDeletion[1].selector.matchExpressions[0].operator: FieldValueInvalid",
				"spec.dualApprovalForDeletion[2].resource: FieldValueNotSupported",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, checktest.Complaints(validation.ValidateProject(project(tc.change)))); diff != "" {
				t.Errorf("%s\nValidateProject(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
	ready := project(func(p *gardencorev1beta1.Project) { p.Status.Phase = "Ready" })
	if diff := cmp.Diff([]string{"status.phase: FieldValueInvalid"}, checktest.Complaints(validation.ValidateProjectStatusUpdate(project(), ready))); diff != "" {
		t.Errorf("API-VALPROJ-5: a phase does not become empty again\nValidateProjectStatusUpdate(...) (-want +got):\n%s", diff)
	}
}

// TestValidateProjectBounds_API_VALPROJ_1 has as many members as a garden can carry, and one more.
func TestValidateProjectBounds_API_VALPROJ_1(t *testing.T) {
	t.Parallel()
	people := func(n int) func(*gardencorev1beta1.Project) {
		return func(p *gardencorev1beta1.Project) {
			for i := range n {
				who := rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: fmt.Sprint(i)}
				p.Spec.Members = append(p.Spec.Members, gardencorev1beta1.ProjectMember{Subject: who, Role: "viewer"})
			}
		}
	}
	for name, tc := range map[string]struct {
		reason   string
		now, old func(*gardencorev1beta1.Project)
		want     []string
	}{
		"members":  {reason: "a thousand people are many", now: people(1000)},
		"too many": {reason: "more are a group", now: people(1001), want: []string{"spec.members: FieldValueTooMany"}},
		"added":    {reason: "also when they come one by one", now: people(1001), old: people(1000), want: []string{"spec.members: FieldValueTooMany"}},
		"stored":   {reason: "those of before may leave", now: people(1001), old: people(1002)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			is := project(tc.now, func(p *gardencorev1beta1.Project) { p.Spec.Description = new("new") })
			got := validation.ValidateProject(is)
			if tc.old != nil {
				got = validation.ValidateProjectUpdate(is, project(tc.old))
			}
			if diff := cmp.Diff(tc.want, checktest.Complaints(got)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestValidateExtensions(t *testing.T) {
	t.Parallel()
	registration := func(change func(*gardencorev1beta1.ControllerRegistration)) *gardencorev1beta1.ControllerRegistration {
		r := &gardencorev1beta1.ControllerRegistration{ObjectMeta: metav1.ObjectMeta{Name: "x", ResourceVersion: "1"}}
		r.Spec.Resources = []gardencorev1beta1.ControllerResource{{Kind: "Extension", Type: "a"}}
		change(r)
		return r
	}
	none := func(*gardencorev1beta1.ControllerRegistration) {}
	installation := func(seed string) *gardencorev1beta1.ControllerInstallation {
		i := &gardencorev1beta1.ControllerInstallation{ObjectMeta: metav1.ObjectMeta{Name: "x", ResourceVersion: "1"}}
		i.Spec.RegistrationRef.Name = "x"
		i.Spec.SeedRef = &corev1.ObjectReference{Name: seed}
		return i
	}
	onShoot := func(name string) *gardencorev1beta1.ControllerInstallation {
		i := installation("")
		i.Spec.SeedRef, i.Spec.ShootRef = nil, &corev1.ObjectReference{Namespace: "garden", Name: name}
		return i
	}
	if diff := cmp.Diff([]string{"spec.deployment.deploymentRefs: FieldValueForbidden", "spec.deployment.policy: FieldValueNotSupported", "spec.resources[0].autoEnable[0]: FieldValueForbidden", "spec.resources[0].clusterCompatibility[1]: FieldValueNotSupported", "spec.resources[0].lifecycle.delete: FieldValueNotSupported", "spec.resources[0].reconcileTimeout: FieldValueInvalid"}, checktest.Complaints(validation.ValidateControllerRegistration(registration(func(r *gardencorev1beta1.ControllerRegistration) {
		res := &r.Spec.Resources[0]
		res.ClusterCompatibility = []gardencorev1beta1.ClusterType{"shoot", "moon"}
		res.AutoEnable = []gardencorev1beta1.ClusterType{"seed"}
		res.Lifecycle = &gardencorev1beta1.ControllerResourceLifecycle{Delete: new(gardencorev1beta1.ControllerResourceLifecycleStrategyAfterWorker)}
		res.ReconcileTimeout = &metav1.Duration{Duration: -1}
		r.Spec.Deployment = &gardencorev1beta1.ControllerRegistrationDeployment{
			Policy: new(gardencorev1beta1.ControllerDeploymentPolicy("Sometimes")), DeploymentRefs: []gardencorev1beta1.DeploymentRef{{Name: "a"}, {Name: "b"}},
		}
	})))); diff != "" {
		t.Errorf("API-VALCR-1: what an extension does is known\nValidateControllerRegistration(...) (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"spec.resources[0].primary: FieldValueInvalid"}, checktest.Complaints(validation.ValidateControllerRegistrationUpdate(registration(func(r *gardencorev1beta1.ControllerRegistration) {
		r.Spec.Resources[0].Primary = new(false)
	}), registration(none)))); diff != "" {
		t.Errorf("API-VALCR-1: who is in charge stays in charge\nValidateControllerRegistrationUpdate(...) (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"spec: FieldValueForbidden"}, checktest.Complaints(validation.ValidateControllerRegistrationUpdate(registration(func(r *gardencorev1beta1.ControllerRegistration) {
		r.DeletionTimestamp = past()
		r.Spec.Resources[0].Type = "b"
	}), registration(func(r *gardencorev1beta1.ControllerRegistration) { r.DeletionTimestamp = past() })))); diff != "" {
		t.Errorf("API-VALCR-1: what goes away does not change\nValidateControllerRegistrationUpdate(...) (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"spec.seedRef.name: FieldValueInvalid"}, checktest.Complaints(validation.ValidateControllerInstallationUpdate(installation("b"), installation("a")))); diff != "" {
		t.Errorf("API-VALCI-1: an installation stays where it is\nValidateControllerInstallationUpdate(...) (-want +got):\n%s", diff)
	}
	for what, moved := range map[string][2]*gardencorev1beta1.ControllerInstallation{
		"from a seed to a shoot": {installation("a"), onShoot("s")}, "from a shoot to a seed": {onShoot("s"), installation("a")},
	} {
		want := []string{"spec.seedRef: FieldValueInvalid", "spec.shootRef: FieldValueInvalid"}
		if diff := cmp.Diff(want, checktest.Complaints(validation.ValidateControllerInstallationUpdate(moved[1], moved[0]))); diff != "" {
			t.Errorf("API-VALCI-1: an installation does not move %s\nValidateControllerInstallationUpdate(...) (-want +got):\n%s", what, diff)
		}
	}
	if diff := cmp.Diff([]string{"spec.shootRef.name: FieldValueInvalid"}, checktest.Complaints(validation.ValidateControllerInstallationUpdate(onShoot("b"), onShoot("a")))); diff != "" {
		t.Errorf("API-VALCI-1: one on a shoot stays there\nValidateControllerInstallationUpdate(...) (-want +got):\n%s", diff)
	}
	both := installation("a")
	both.Spec.ShootRef = &corev1.ObjectReference{Namespace: "garden", Name: "s"}
	if diff := cmp.Diff([]string{"spec.shootRef: FieldValueForbidden"}, checktest.Complaints(validation.ValidateControllerInstallation(both))); diff != "" {
		t.Errorf("API-VALCI-1: it is in one place\nValidateControllerInstallation(...) (-want +got):\n%s", diff)
	}
}

func TestValidateInternalSecretRules(t *testing.T) {
	t.Parallel()
	made := func(typ corev1.SecretType, data map[string][]byte, immutable *bool) *gardencorev1beta1.InternalSecret {
		return &gardencorev1beta1.InternalSecret{
			ObjectMeta: metav1.ObjectMeta{Name: "x", Namespace: "y", ResourceVersion: "1"}, Type: typ, Data: data, Immutable: immutable,
		}
	}
	key := func(value string) map[string][]byte { return map[string][]byte{"a": []byte(value)} }
	if diff := cmp.Diff([]string{"data: FieldValueTooLong"}, checktest.Complaints(validation.ValidateInternalSecret(made("Opaque", map[string][]byte{"a": make([]byte, 1<<20+1)}, nil)))); diff != "" {
		t.Errorf("API-VALIS-1: a secret has a size\nValidateInternalSecret(...) (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"data[.dockerconfigjson]: FieldValueInvalid"}, checktest.Complaints(validation.ValidateInternalSecret(made(corev1.SecretTypeDockerConfigJson, map[string][]byte{".dockerconfigjson": []byte("x")}, nil)))); diff != "" {
		t.Errorf("API-VALIS-1: Docker reads JSON\nValidateInternalSecret(...) (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"data[username]: FieldValueRequired"}, checktest.Complaints(validation.ValidateInternalSecret(made(corev1.SecretTypeBasicAuth, nil, nil)))); diff != "" {
		t.Errorf("API-VALIS-1: who logs in says who it is\nValidateInternalSecret(...) (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"type: FieldValueInvalid"}, checktest.Complaints(validation.ValidateInternalSecretUpdate(made("other", nil, nil), made("Opaque", nil, nil)))); diff != "" {
		t.Errorf("API-VALIS-1: the type stays\nValidateInternalSecretUpdate(...) (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"data: FieldValueInvalid", "immutable: FieldValueInvalid"}, checktest.Complaints(validation.ValidateInternalSecretUpdate(made("Opaque", key("b"), nil), made("Opaque", key("a"), new(true))))); diff != "" {
		t.Errorf("API-VALIS-1: what is immutable stays\nValidateInternalSecretUpdate(...) (-want +got):\n%s", diff)
	}
}

func TestValidateSecretBindingRules(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff([]string{"provider: FieldValueRequired"}, checktest.Complaints(validation.ValidateSecretBinding(binding(func(b *gardencorev1beta1.SecretBinding) { b.Provider = nil })))); diff != "" {
		t.Errorf("API-VALSB-1: a new binding says whom it is for\nValidateSecretBinding(...) (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"quotas: FieldValueInvalid"}, checktest.Complaints(validation.ValidateSecretBindingUpdate(binding(func(b *gardencorev1beta1.SecretBinding) {
		b.Quotas = []corev1.ObjectReference{{Name: "q"}}
	}), binding()))); diff != "" {
		t.Errorf("API-VALSB-1: quotas stay\nValidateSecretBindingUpdate(...) (-want +got):\n%s", diff)
	}
}
