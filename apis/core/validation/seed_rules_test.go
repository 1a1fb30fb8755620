// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"

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
		"API-VALSEED-3 routing": {
			reason: "with two zones traffic can stay in each, and with one it is not asked to",
			change: func(s *gardencorev1beta1.Seed) {
				s.Spec.Provider.Zones = []string{"a", "b"}
				s.Spec.Settings = &gardencorev1beta1.SeedSettings{
					LoadBalancerServices: &gardencorev1beta1.SeedSettingLoadBalancerServices{}, TopologyAwareRouting: &gardencorev1beta1.SeedSettingTopologyAwareRouting{Enabled: true},
				}
			},
		},
		"API-VALSEED-3 no routing": {
			reason: "settings that ask for nothing need no zones",
			change: func(s *gardencorev1beta1.Seed) {
				s.Spec.Settings = &gardencorev1beta1.SeedSettings{
					LoadBalancerServices: &gardencorev1beta1.SeedSettingLoadBalancerServices{}, TopologyAwareRouting: &gardencorev1beta1.SeedSettingTopologyAwareRouting{},
				}
			},
		},
		"API-VALSEED-1 incomplete": {
			reason: "what is missing is told once",
			change: func(s *gardencorev1beta1.Seed) {
				s.Spec.Resources = []gardencorev1beta1.NamedResourceReference{
					{Name: "a", ResourceRef: autoscalingv1.CrossVersionObjectReference{APIVersion: "v1", Name: "a"}},
					{Name: "b", ResourceRef: autoscalingv1.CrossVersionObjectReference{Kind: "Toy", Name: "a"}},
				}
			},
			want: []string{"spec.resources[0].resourceRef.kind: FieldValueRequired", "spec.resources[1].resourceRef.apiVersion: FieldValueRequired"},
		},
		"API-VALSEED-1 networks": {
			reason: "a seed has networks, and what it blocks are networks",
			change: func(s *gardencorev1beta1.Seed) {
				s.Spec.Networks.Pods, s.Spec.Networks.Services = "", ""
				s.Spec.Networks.BlockCIDRs = []string{"169.254.169.254/32", "169.254.169.254"}
			},
			want: []string{"spec.networks.blockCIDRs[1]: FieldValueInvalid", "spec.networks.pods: FieldValueInvalid", "spec.networks.services: FieldValueInvalid"},
		},
		"API-VALSEED-1 IPv6": {
			reason: "ranges of IPv6 have room enough, and one that cannot be read has no family",
			change: func(s *gardencorev1beta1.Seed) {
				s.Spec.Networks = gardencorev1beta1.SeedNetworks{IPFamilies: []gardencorev1beta1.IPFamily{"IPv6"}, Pods: "nonsense", Services: "2000::/7"}
			},
			want: []string{"spec.networks.pods: FieldValueInvalid"},
		},
		"API-VALSEED-1 DNS": {
			reason: "a DNS provider has a type, a domain is one",
			change: func(s *gardencorev1beta1.Seed) {
				ingress("a_b")(s)
				s.Spec.DNS.Provider.Type = ""
			},
			want: []string{"spec.dns.provider.type: FieldValueRequired", "spec.ingress.domain: FieldValueInvalid"},
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
	operated := func(operation string) func(*gardencorev1beta1.Seed) {
		return func(s *gardencorev1beta1.Seed) {
			s.Annotations = map[string]string{"gardener.cloud/operation": operation}
		}
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
		"API-VALSEED-2 first ingress": {reason: "a seed gets its first domain", old: func(s *gardencorev1beta1.Seed) { s.Spec.Ingress = nil }},
		"API-VALSEED-2 no ingress": {
			reason: "and keeps one", now: func(s *gardencorev1beta1.Seed) { s.Spec.Ingress = nil }, want: []string{"spec.ingress: FieldValueRequired"},
		},
		"API-VALSEED-3 other defaults": {
			reason: "but may become others", old: defaults,
			now: func(s *gardencorev1beta1.Seed) {
				defaults(s)
				s.Spec.DNS.Defaults[0].Domain = "example.com"
			},
		},
		"API-STRAT-6 asked":      {reason: "an operation can be asked for", now: operated("reconcile")},
		"API-STRAT-6 stays":      {reason: "and stays until it is done", old: operated("reconcile"), now: operated("reconcile")},
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
