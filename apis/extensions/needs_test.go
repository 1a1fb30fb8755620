// SPDX-License-Identifier: Apache-2.0

package extensions_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/extensions"
)

type (
	registration = gardencorev1beta1.ControllerRegistration
	seed         = gardencorev1beta1.Seed
	shoot        = gardencorev1beta1.Shoot
	worker       = gardencorev1beta1.Worker
)

func newSeed(change ...func(*seed)) *seed {
	s := &seed{}
	s.Spec.Provider.Type = "local"
	for _, c := range change {
		c(s)
	}
	return s
}

func newShoot(change ...func(*shoot)) shoot {
	s := shoot{}
	s.Spec.Provider.Type = "local"
	for _, c := range change {
		c(&s)
	}
	return s
}

func offers(name string, list ...string) registration {
	r := registration{ObjectMeta: metav1.ObjectMeta{Name: name}}
	for _, offer := range list {
		kind, typ, _ := strings.Cut(offer, "/")
		r.Spec.Resources = append(r.Spec.Resources, gardencorev1beta1.ControllerResource{Kind: kind, Type: typ})
	}
	return r
}

func sorted(needs []extensions.Need) []string {
	var names []string
	for _, offer := range extensions.Offers(needs) {
		names = append(names, offer.String())
	}
	return names
}

func autoEnabled(r registration, workerless bool, clusters ...gardencorev1beta1.ClusterType) registration {
	for i := range r.Spec.Resources {
		r.Spec.Resources[i].AutoEnable = clusters
		r.Spec.Resources[i].WorkerlessSupported = &workerless
	}
	return r
}

func TestNeededBySeed(t *testing.T) {
	t.Parallel()
	registrations := []registration{autoEnabled(offers("a", "Extension/auto", "Extension/off"), false, "seed"), autoEnabled(offers("b", "Extension/shoots"), false, "shoot")}
	cases := map[string]struct {
		reason string
		seed   *seed
		want   []string
	}{
		"GCM-CR-2 live": {
			reason: "its provider, its DNS and the extensions enabled for seeds",
			seed: newSeed(func(s *seed) {
				s.Spec.DNS.Provider = &gardencorev1beta1.SeedDNSProvider{Type: "dns"}
				s.Spec.Extensions = []gardencorev1beta1.Extension{{Type: "listed"}, {Type: "off", Disabled: new(true)}}
			}),
			want: []string{"ControlPlane/local", "DNSRecord/dns", "Extension/auto", "Extension/listed", "Infrastructure/local", "Worker/local"},
		},
		"GCM-CR-2 in deletion": {reason: "nothing for a seed in deletion", seed: newSeed(func(s *seed) { s.DeletionTimestamp = new(metav1.Now()) })},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, sorted(extensions.NeededBySeed(tc.seed, registrations))); diff != "" {
				t.Errorf("%s\nNeededBySeed (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestNeededBySelfHosted_GCM_CR_10 has what a shoot needs that has no seed.
func TestNeededBySelfHosted_GCM_CR_10(t *testing.T) {
	t.Parallel()
	registrations := []registration{autoEnabled(offers("a", "Extension/auto"), false, "shoot"), autoEnabled(offers("b", "Extension/seeds"), false, "seed")}
	plain := func(s *shoot) {
		s.Spec.SeedName, s.Spec.Provider.Type = nil, "cloud"
		s.Spec.Networking = &gardencorev1beta1.Networking{Type: new("calico")}
		s.Spec.Provider.Workers = []worker{
			{ControlPlane: &gardencorev1beta1.WorkerControlPlane{}, Machine: gardencorev1beta1.Machine{Image: &gardencorev1beta1.ShootMachineImage{Name: "linux"}}},
			{Machine: gardencorev1beta1.Machine{Image: &gardencorev1beta1.ShootMachineImage{Name: "other"}}},
		}
	}
	always := []string{"ControlPlane/cloud", "Extension/auto", "Infrastructure/cloud", "Network/calico", "OperatingSystemConfig/linux", "OperatingSystemConfig/other", "Worker/cloud"}
	for name, tc := range map[string]struct {
		reason string
		change func(*shoot)
		more   []string
	}{
		"workers": {reason: "what its machines and all shoots need, and no control plane of a seed", change: func(*shoot) {}},
		"names": {
			reason: "the provider of its own domain",
			change: func(s *shoot) {
				s.Spec.DNS = &gardencorev1beta1.DNS{Domain: new("a.example"), Providers: []gardencorev1beta1.DNSProvider{{Type: new("second")}, {Type: new("own"), Primary: new(true)}}}
			},
			more: []string{"DNSRecord/own"},
		},
		"backup": {
			reason: "it keeps its backups itself",
			change: func(s *shoot) {
				s.Spec.Provider.Workers[0].ControlPlane.Backup = &gardencorev1beta1.Backup{Provider: "store"}
			},
			more: []string{"BackupBucket/store", "BackupEntry/store"},
		},
		"exposure": {
			reason: "an extension exposes its API server",
			change: func(s *shoot) {
				s.Spec.Provider.Workers[0].ControlPlane.Exposure = &gardencorev1beta1.Exposure{Extension: &gardencorev1beta1.ExtensionExposure{Type: new("balancer")}}
			},
			more: []string{"SelfHostedShootExposure/balancer"},
		},
		"exposure by names": {
			reason: "which it does not need for names",
			change: func(s *shoot) {
				s.Spec.Provider.Workers[0].ControlPlane.Exposure = &gardencorev1beta1.Exposure{DNS: &gardencorev1beta1.DNSExposure{}}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := slices.Sorted(slices.Values(append(slices.Clone(always), tc.more...)))
			if diff := cmp.Diff(want, sorted(extensions.NeededBySelfHosted(new(newShoot(plain, tc.change)), registrations))); diff != "" {
				t.Errorf("%s\nNeededBySelfHosted (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestNeededByShoot(t *testing.T) {
	t.Parallel()
	global := offers("d", "Extension/global", "Extension/off-global")
	for i := range global.Spec.Resources {
		global.Spec.Resources[i].GloballyEnabled, global.Spec.Resources[i].WorkerlessSupported = new(true), new(false)
	}
	registrations := []registration{
		global,
		autoEnabled(offers("a", "Extension/auto", "Extension/off"), false, "shoot"), autoEnabled(offers("b", "Extension/small"), true, "shoot"),
		offers("c", "Extension/listed"),
	}
	workers := func(s *shoot) {
		s.Spec.Provider.Type = "cloud"
		s.Spec.Networking = &gardencorev1beta1.Networking{Type: new("calico")}
		s.Spec.Provider.Workers = []worker{
			{
				Machine: gardencorev1beta1.Machine{Image: &gardencorev1beta1.ShootMachineImage{Name: "linux"}},
				CRI:     &gardencorev1beta1.CRI{ContainerRuntimes: []gardencorev1beta1.ContainerRuntime{{Type: "gvisor"}}},
			},
			{Machine: gardencorev1beta1.Machine{}},
		}
	}
	listed := func(s *shoot) {
		s.Spec.Extensions = []gardencorev1beta1.Extension{{Type: "listed"}, {Type: "off", Disabled: new(true)}, {Type: "off-global", Disabled: new(true)}}
	}
	cases := map[string]struct {
		reason  string
		shoot   shoot
		seed    *seed
		domains []extensions.Domain
		want    []string
	}{
		"GCM-CR-3 workers": {
			reason: "the control plane of the seed's provider; infrastructure, machines, network and operating system of the shoot's",
			shoot:  newShoot(workers, listed),
			want: []string{
				"ContainerRuntime/gvisor", "ControlPlane/cloud", "ControlPlane/local", "Extension/auto", "Extension/global", "Extension/listed", "Extension/small",
				"Infrastructure/cloud", "Network/calico", "OperatingSystemConfig/linux", "Worker/cloud",
			},
		},
		"GCM-CR-3 workerless": {
			reason: "without workers only the control plane, and the extensions that can do without",
			shoot:  newShoot(listed, func(s *shoot) { s.Spec.Networking = &gardencorev1beta1.Networking{Type: new("calico")} }),
			want:   []string{"ControlPlane/local", "Extension/small"},
		},
		"GCM-CR-3 backup": {
			reason: "the backup of the seed",
			seed:   newSeed(func(s *seed) { s.Spec.Backup = &gardencorev1beta1.Backup{Provider: "store"} }),
			shoot:  newShoot(),
			want:   []string{"BackupBucket/store", "BackupEntry/store", "ControlPlane/local", "Extension/small"},
		},
		"GCM-CR-3 domains": {
			reason: "internal, external and primary domain; other providers do not count",
			seed: newSeed(func(s *seed) {
				s.Spec.DNS.Internal = &gardencorev1beta1.SeedDNSProviderConfig{Type: "in", Domain: "internal.example"}
				s.Spec.DNS.Defaults = []gardencorev1beta1.SeedDNSProviderConfig{{Type: "out", Domain: "shoots.example"}, {Type: "no", Domain: "else.example"}}
			}),
			shoot: newShoot(func(s *shoot) {
				s.Spec.DNS = &gardencorev1beta1.DNS{Domain: new("a.dev.shoots.example"), Providers: []gardencorev1beta1.DNSProvider{
					{Type: new("second")}, {Type: new("own"), Primary: new(true)},
				}}
			}),
			// The garden's own do not count on a seed that has its own.
			domains: []extensions.Domain{{Name: "shoots.example", Provider: "garden"}, {Name: "internal.example", Provider: "garden-in", Internal: true}},
			want:    []string{"ControlPlane/local", "DNSRecord/in", "DNSRecord/out", "DNSRecord/own", "Extension/small"},
		},
		"GCM-CR-3 unmanaged": {
			reason: "a domain that nobody manages needs nothing",
			shoot: newShoot(func(s *shoot) {
				s.Spec.DNS = &gardencorev1beta1.DNS{Domain: new("a.example"), Providers: []gardencorev1beta1.DNSProvider{{Type: new("unmanaged"), Primary: new(true)}}}
			}),
			want: []string{"ControlPlane/local", "Extension/small"},
		},
		"API-DNS-5 not marked": {
			reason: "a provider is not primary for being the only one: that of a shoot below a default domain is not",
			shoot: newShoot(func(s *shoot) {
				s.Spec.DNS = &gardencorev1beta1.DNS{Domain: new("a.dev.shoots.example"), Providers: []gardencorev1beta1.DNSProvider{{Type: new("other")}}}
			}),
			want: []string{"ControlPlane/local", "Extension/small"},
		},
		"GCM-CR-3 garden's domains": {
			reason: "a seed without domains goes by those of the garden, as far as the shoot has its name there",
			shoot:  newShoot(func(s *shoot) { s.Spec.DNS = &gardencorev1beta1.DNS{Domain: new("a.dev.shoots.example")} }),
			domains: []extensions.Domain{
				{Name: "shoots.example", Provider: "out"}, {Name: "else.example", Provider: "no"}, {Name: "internal.example", Provider: "in", Internal: true},
			},
			want: []string{"ControlPlane/local", "DNSRecord/in", "DNSRecord/out", "Extension/small"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tc.seed == nil {
				tc.seed = newSeed()
			}
			if diff := cmp.Diff(tc.want, sorted(extensions.NeededByShoot(&tc.shoot, extensions.Surroundings{Seed: tc.seed, Registrations: registrations, Domains: tc.domains}))); diff != "" {
				t.Errorf("%s\nNeededByShoot (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestPaths checks that each need says which field asks, in the object at hand or in its seed.
func TestPaths(t *testing.T) {
	t.Parallel()
	rich := newShoot(func(s *shoot) {
		s.Spec.Networking = &gardencorev1beta1.Networking{Type: new("calico")}
		s.Spec.Provider.Workers = []worker{{
			Machine: gardencorev1beta1.Machine{Image: &gardencorev1beta1.ShootMachineImage{Name: "linux"}},
			CRI:     &gardencorev1beta1.CRI{ContainerRuntimes: []gardencorev1beta1.ContainerRuntime{{Type: "gvisor"}}},
		}}
		s.Spec.Extensions = []gardencorev1beta1.Extension{{Type: "off", Disabled: new(true)}, {Type: "listed"}}
		s.Spec.DNS = &gardencorev1beta1.DNS{Domain: new("a.example"), Providers: []gardencorev1beta1.DNSProvider{{Type: new("second")}, {Type: new("own"), Primary: new(true)}}}
	})
	host := newSeed(func(s *seed) {
		s.Spec.Backup = &gardencorev1beta1.Backup{Provider: "store"}
		s.Spec.Ingress, s.Spec.DNS.Provider = &gardencorev1beta1.Ingress{}, &gardencorev1beta1.SeedDNSProvider{Type: "dns"}
		s.Spec.DNS.Internal = &gardencorev1beta1.SeedDNSProviderConfig{Type: "in", Domain: "internal.example"}
	})
	bucket := &gardencorev1beta1.BackupBucket{Spec: gardencorev1beta1.BackupBucketSpec{Provider: gardencorev1beta1.BackupBucketProvider{Type: "store"}}}
	everywhere := autoEnabled(offers("a", "Extension/auto"), false, "shoot")
	pool := "spec.provider.workers[0]"
	machines := []string{
		"spec.provider.type ControlPlane/local", "spec.provider.type Infrastructure/local", "spec.provider.type Worker/local", "spec.networking.type Network/calico",
		pool + ".machine.image.name OperatingSystemConfig/linux", pool + ".cri.containerRuntimes[0].type ContainerRuntime/gvisor",
	}
	for name, tc := range map[string]struct {
		reason string
		needs  []extensions.Need
		want   []string
	}{
		"API-EXTVAL-3": {
			"a shoot names its extensions, each managed DNS provider, and what its machines need", extensions.NamedByShoot(&rich.Spec),
			append([]string{"spec.extensions[1].type Extension/listed", "spec.dns.providers[0].type DNSRecord/second", "spec.dns.providers[1].type DNSRecord/own"}, machines...),
		},
		"GCM-CR-3": {
			"on a seed that one has its say", extensions.NeededByShoot(&rich, extensions.Surroundings{Seed: host, Registrations: []registration{everywhere}}),
			append(append([]string{"seed.spec.backup.provider BackupBucket/store", "seed.spec.backup.provider BackupEntry/store", "seed.spec.provider.type ControlPlane/local"}, machines...),
				"seed.spec.dns.internal.type DNSRecord/in", "spec.dns.providers[1].type DNSRecord/own", "spec.extensions[1].type Extension/listed", "<nil> Extension/auto"),
		},
		"API-EXTVAL-2 seed": {
			"a seed names its provider, its backups, its DNS and its extensions", extensions.NamedBySeed(&host.Spec),
			[]string{"spec.provider.type ControlPlane/local", "spec.backup.provider BackupBucket/store", "spec.backup.provider BackupEntry/store", "spec.dns.provider.type DNSRecord/dns"},
		},
		"API-EXTVAL-2 bucket": {"a bucket needs its provider", extensions.NeededByBucket(bucket), []string{"spec.provider.type BackupBucket/store"}},
		"API-EXTVAL-2 entry":  {"an entry needs what its bucket is made of", extensions.NeededByEntry(bucket), []string{"spec.bucketName BackupEntry/store"}},
		"GCM-CR-2 b":          {"an entry without a bucket needs nothing", extensions.NeededByEntry(nil), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, n := range tc.needs {
				got = append(got, n.Path.String()+" "+n.String())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n(-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestEnabledForLabels checks that labels name the same extensions as are installed (API-EXTLAB-2, GCM-CR-3).
func TestEnabledForLabels(t *testing.T) {
	t.Parallel()
	s := newShoot(func(s *shoot) {
		s.Spec.Extensions = []gardencorev1beta1.Extension{{Type: "machines"}, {Type: "listed"}, {Type: "off", Disabled: new(true)}}
	})
	registrations := []registration{
		autoEnabled(offers("a", "Extension/listed", "Extension/off", "Extension/auto"), true, "shoot"), offers("b", "Extension/machines"),
	}
	if diff := cmp.Diff([]string{"auto", "listed"}, extensions.EnabledForShoot(&s.Spec, registrations)); diff != "" {
		t.Errorf("one without workers gets only what can do without (-want +got):\n%s", diff)
	}
	s.Spec.Provider.Workers = []worker{{}}
	if diff := cmp.Diff([]string{"auto", "listed", "machines"}, extensions.EnabledForShoot(&s.Spec, registrations)); diff != "" {
		t.Errorf("one with workers gets all (-want +got):\n%s", diff)
	}
}
