// SPDX-License-Identifier: Apache-2.0

package controllerregistration_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/garden/controllerregistration"
)

func sorted(needed controllerregistration.Offers) []string {
	var names []string
	for offer := range needed {
		names = append(names, offer.Kind+"/"+offer.Type)
	}
	slices.Sort(names)
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
		"GCM-CR-2 in deletion": {reason: "nothing for a seed in deletion", seed: newSeed(deletedSeed)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, sorted(controllerregistration.NeededBySeed(tc.seed, registrations))); diff != "" {
				t.Errorf("%s\nNeededBySeed (-want +got):\n%s", tc.reason, diff)
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
		reason string
		shoot  shoot
		seed   *seed
		want   []string
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
			want: []string{"ControlPlane/local", "DNSRecord/in", "DNSRecord/out", "DNSRecord/own", "Extension/small"},
		},
		"GCM-CR-3 unmanaged": {
			reason: "a domain that nobody manages needs nothing",
			shoot: newShoot(func(s *shoot) {
				s.Spec.DNS = &gardencorev1beta1.DNS{Domain: new("a.example"), Providers: []gardencorev1beta1.DNSProvider{{Type: new("unmanaged"), Primary: new(true)}}}
			}),
			want: []string{"ControlPlane/local", "Extension/small"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tc.seed == nil {
				tc.seed = newSeed()
			}
			if diff := cmp.Diff(tc.want, sorted(controllerregistration.NeededByShoot(&tc.shoot, tc.seed, registrations, nil))); diff != "" {
				t.Errorf("%s\nNeededByShoot (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
