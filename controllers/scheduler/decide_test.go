// SPDX-License-Identifier: Apache-2.0

package scheduler_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/scheduler"
)

type decideCase struct {
	reason  string
	shoot   *shoot
	profile *gardencorev1beta1.CloudProfile
	seeds   []seed
	shoots  []shoot
	nearest bool
	// domains are the default domains of the garden.
	domains []string
	// distances are those that the garden knows.
	distances map[string]int
	want      string
	// why is the reason against each seed, given when no seed is wanted.
	why map[string]string
}

func runDecide(t *testing.T, cases map[string]decideCase) {
	t.Helper()
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			known := pictureOf(tc.seeds, tc.shoots)
			in := scheduler.Input{Shoot: tc.shoot, CloudProfile: tc.profile, Seeds: known.Seeds(), Strategy: scheduler.SameRegion, Project: "dev", Domains: tc.domains, Distances: tc.distances}
			if tc.nearest {
				in.Strategy = scheduler.MinimalDistance
			}
			if in.Shoot == nil {
				in.Shoot = newShoot()
			}
			if in.CloudProfile == nil {
				in.CloudProfile = newProfile()
			}
			got, err := known.Assume(in.Shoot, scheduler.Prepare(in).Choose)
			var why map[string]string
			if unschedulable, ok := errors.AsType[*scheduler.UnschedulableError](err); ok {
				why = unschedulable.Reasons
			} else if err != nil {
				t.Fatalf("%s\nChoose: unexpected error %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nChoose seed (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.why, why); diff != "" {
				t.Errorf("%s\nChoose reasons (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestDecideFilters(t *testing.T) {
	t.Parallel()
	runDecide(t, map[string]decideCase{
		"SCHED-FILT-1 usable": {
			reason: "a seed that is deleted, hidden, unprepared, silent or without a ready backup is not used",
			seeds: []seed{
				newSeed("a", deleted), newSeed("b", hidden), newSeed("c", unprepared), newSeed("d", silent),
				newSeed("e", func(s *seed) { s.Status.Conditions = nil }),
				newSeed("f", func(s *seed) { s.Spec.Backup = &gardencorev1beta1.Backup{Provider: "local"} }),
			},
			why: map[string]string{
				"a": "it is being deleted",
				"b": "it is hidden from the scheduler (spec.settings.scheduling.visible is false)",
				"c": "its gardenlet has not prepared it yet (no last operation)",
				"d": "its condition GardenletReady is Unknown (StatusUnknown)",
				"e": "its condition GardenletReady is missing",
				"f": "its condition BackupBucketsReady is missing",
			},
		},
		"SCHED-FILT-1 backup ready": {
			reason: "a seed with a backup is used once its buckets are ready",
			seeds: []seed{newSeed("a", func(s *seed) {
				s.Spec.Backup = &gardencorev1beta1.Backup{Provider: "local"}
				s.Status.Conditions = append(s.Status.Conditions, gardencorev1beta1.Condition{Type: "BackupBucketsReady", Status: "True"})
			})},
			want: "a",
		},
		"SCHED-FILT-1 no bucket": {
			reason: "a seed whose backups nobody makes is used without them; one whose buckets are broken is not",
			seeds: []seed{newSeed("a", func(s *seed) {
				s.Spec.Backup = &gardencorev1beta1.Backup{Provider: "local"}
				s.Status.Conditions = append(s.Status.Conditions, gardencorev1beta1.Condition{Type: "BackupBucketsReady", Status: "Unknown", Reason: "BackupBucketsGone"})
			}), newSeed("b", func(s *seed) {
				s.Spec.Backup = &gardencorev1beta1.Backup{Provider: "local"}
				s.Status.Conditions = append(s.Status.Conditions, gardencorev1beta1.Condition{Type: "BackupBucketsReady", Status: "False", Reason: "BackupBucketsError"})
			})},
			want: "a",
		},
		"SCHED-FILT-2 selector of the profile": {
			reason:  "the profile's labels must match",
			profile: newProfile(func(p *gardencorev1beta1.CloudProfile) { p.Spec.SeedSelector = matchLabels("zone", "b") }),
			seeds:   []seed{newSeed("a"), newSeed("b", func(s *seed) { s.Labels = map[string]string{"zone": "b"} })},
			want:    "b",
		},
		"SCHED-FILT-3 selector of the shoot": {
			reason: "the shoot's labels must match",
			shoot:  newShoot(func(s *shoot) { s.Spec.SeedSelector = matchLabels("zone", "b") }),
			seeds:  []seed{newSeed("a")},
			why:    map[string]string{"a": "its labels do not match the seed selector of the shoot"},
		},
		"SCHED-FILT-4 provider of the shoot by default": {
			reason: "without provider types in the profile the seed needs the shoot's provider",
			seeds:  []seed{newSeed("a", providerType("other"))},
			why:    map[string]string{"a": `its provider type is "other", cloud profile "local" allows local`},
		},
		"SCHED-FILT-4 listed provider types": {
			reason:  "the profile may allow other providers, the shoot may restrict them again",
			profile: newProfile(providerTypes("one", "two")),
			shoot: newShoot(forTesting, func(s *shoot) {
				s.Spec.SeedSelector = &gardencorev1beta1.SeedSelector{ProviderTypes: []string{"two"}}
			}),
			seeds: []seed{newSeed("a", providerType("one")), newSeed("b", providerType("two"))},
			why: map[string]string{
				"a": `its provider type is "one", the shoot allows two`,
				"b": `its provider type is "two", the shoot needs "local"`,
			},
		},
		"SCHED-FILT-5 failure tolerance": {
			reason: "tolerating the loss of a zone needs three zones",
			shoot: newShoot(func(s *shoot) {
				s.Spec.ControlPlane = &gardencorev1beta1.ControlPlane{HighAvailability: &gardencorev1beta1.HighAvailability{FailureTolerance: gardencorev1beta1.FailureTolerance{Type: "zone"}}}
			}),
			seeds: []seed{newSeed("a", zoneMode("Enforce", "x", "y")), newSeed("b", zoneMode("Enforce", "x", "y", "z"))},
			want:  "b",
		},
		"SCHED-FILT-6 explicit zones": {
			reason: "zones asked for the control plane must all be there",
			shoot:  newShoot(func(s *shoot) { s.Spec.ControlPlane = &gardencorev1beta1.ControlPlane{Zones: []string{"a", "b"}} }),
			seeds:  []seed{newSeed("a")},
			why:    map[string]string{"a": `it does not have zone "b", which the shoot names for its control plane`},
		},
		"SCHED-FILT-6 enforced zones": {
			reason: "a seed that enforces zones needs an overlap with the workers",
			seeds:  []seed{newSeed("a", zoneMode("Enforce", "x", "y"))},
			why:    map[string]string{"a": "it requires a zone in common with the workers of the shoot and has only x, y"},
		},
		"SCHED-FILT-6 no workers": {
			reason: "a shoot without workers has no zones that a seed could have in common",
			shoot:  newShoot(func(s *shoot) { s.Spec.Provider.Workers, s.Spec.Networking = nil, nil }),
			seeds:  []seed{newSeed("a", zoneMode("Enforce", "x", "y"))},
			want:   "a",
		},
		"SCHED-FILT-6 workers without zones": {
			reason: "workers are there, and nobody knows in which zones",
			shoot:  newShoot(func(s *shoot) { s.Spec.Provider.Workers[0].Zones = nil }),
			seeds:  []seed{newSeed("a", zoneMode("Enforce", "x"))},
			why:    map[string]string{"a": "it requires a zone in common with the workers of the shoot and has only x"},
		},
		"SCHED-FILT-6 preferred zones": {
			reason: "of the seeds that prefer an overlap only those with one stay, if there are any",
			seeds:  []seed{newSeed("a", zoneMode("Prefer", "x")), newSeed("b", zoneMode("Prefer", "a"))},
			want:   "b",
		},
		"SCHED-FILT-6 other seeds": {
			reason: "a preference of one seed is nothing against a seed without one",
			seeds:  []seed{newSeed("a"), newSeed("b", zoneMode("Prefer", "a"))},
			want:   "a",
		},
		"SCHED-FILT-6 an overlap that is enforced": {
			reason: "a seed that requires what it has is nothing against one that only prefers it",
			seeds:  []seed{newSeed("a", zoneMode("Prefer", "x")), newSeed("b", zoneMode("Enforce", "a"))},
			want:   "a",
		},
		"SCHED-FILT-6 no zones for the control plane": {
			reason: "a control plane that is described without zones leaves the choice to the seed",
			shoot: newShoot(func(s *shoot) {
				s.Spec.ControlPlane = &gardencorev1beta1.ControlPlane{HighAvailability: &gardencorev1beta1.HighAvailability{FailureTolerance: gardencorev1beta1.FailureTolerance{Type: "node"}}}
			}),
			seeds: []seed{newSeed("a", zoneMode("Enforce", "x"))},
			why:   map[string]string{"a": "it requires a zone in common with the workers of the shoot and has only x"},
		},
		"SCHED-FILT-6 preference alone excludes nobody": {
			reason: "no overlap at all leaves the seeds that only prefer one",
			seeds:  []seed{newSeed("a", zoneMode("Prefer", "x"))},
			want:   "a",
		},
		"SCHED-FILT-7 access restrictions": {
			reason: "restrictions of the shoot must be supported",
			shoot: newShoot(func(s *shoot) {
				s.Spec.AccessRestrictions = []gardencorev1beta1.AccessRestrictionWithOptions{{AccessRestriction: gardencorev1beta1.AccessRestriction{Name: "eu-only"}}}
			}),
			seeds: []seed{newSeed("a")},
			why:   map[string]string{"a": `it does not support access restriction "eu-only"`},
		},
		"SCHED-FILT-8 default domain": {
			reason: "a name below a default domain goes to a seed that has the domain, be others preferred",
			shoot:  newShoot(domain("crazy-botany.dev.x.example")),
			seeds:  []seed{newSeed("a"), newSeed("b", defaults("y.example")), newSeed("c", defaults("y.example", "x.example"))},
			want:   "c",
		},
		"SCHED-FILT-8 of a seed that is not used": {
			reason: "a seed that is hidden still says that the domain is a default domain",
			shoot:  newShoot(domain("crazy-botany.dev.x.example")),
			seeds:  []seed{newSeed("a"), newSeed("b", defaults("x.example"), hidden)},
			why: map[string]string{
				"a": `it has no default domain in which domain "crazy-botany.dev.x.example" is the shoot's own`,
				"b": "it is hidden from the scheduler (spec.settings.scheduling.visible is false)",
			},
		},
		"SCHED-FILT-8 of the garden": {
			reason:  "a seed without default domains has those of the garden, and only such a seed",
			shoot:   newShoot(domain("crazy-botany.dev.x.example")),
			domains: []string{"y.example", "x.example"},
			seeds:   []seed{newSeed("a", defaults("z.example")), newSeed("b")},
			want:    "b",
		},
		"SCHED-FILT-8 of the garden and of a seed": {
			reason:  "both have it",
			shoot:   newShoot(domain("crazy-botany.dev.x.example")),
			domains: []string{"x.example"},
			seeds:   []seed{newSeed("a"), newSeed("b", defaults("x.example"), hidden)},
			want:    "a",
		},
		"SCHED-FILT-8 of the garden alone": {
			reason:  "a domain of the garden that no seed has is a default domain all the same",
			shoot:   newShoot(domain("crazy-botany.dev.x.example")),
			domains: []string{"x.example"},
			seeds:   []seed{newSeed("a", defaults("z.example"))},
			why:     map[string]string{"a": `it has no default domain in which domain "crazy-botany.dev.x.example" is the shoot's own`},
		},
		"SCHED-FILT-8 beside that of the garden": {
			reason:  "a domain that is no default domain goes anywhere",
			shoot:   newShoot(domain("crazy-botany.dev.own.example")),
			domains: []string{"x.example"},
			seeds:   []seed{newSeed("a", defaults("z.example")), newSeed("b")},
			want:    "a",
		},
		"SCHED-FILT-8 not its own": {
			reason: "the place of another shoot or project below the domain is on no seed",
			shoot:  newShoot(domain("crazy-botany.other.x.example")),
			seeds:  []seed{newSeed("a", defaults("x.example"))},
			why:    map[string]string{"a": `it has no default domain in which domain "crazy-botany.other.x.example" is the shoot's own`},
		},
		"SCHED-FILT-8 own domain": {
			reason: "a domain that only ends in the same letters is the shoot's own affair",
			shoot:  newShoot(domain("crazy-botany.dev.box.example")),
			seeds:  []seed{newSeed("a"), newSeed("b", defaults("x.example"))},
			want:   "a",
		},
		"SCHED-FILT-8 no domain": {
			reason: "a shoot without a domain gets one at any seed",
			seeds:  []seed{newSeed("a"), newSeed("b", defaults("x.example"))},
			want:   "a",
		},
		"SCHED-FILT-9 emergency stop": {
			reason: "a stopped seed gets no shoots",
			seeds: []seed{newSeed("a", func(s *seed) {
				s.Annotations = map[string]string{"shoot.gardener.cloud/emergency-stop-reconciliations": "true"}
			})},
			why: map[string]string{"a": "reconciliation of its shoots is stopped (annotation shoot.gardener.cloud/emergency-stop-reconciliations)"},
		},
	})
}

func TestDecideCandidates(t *testing.T) {
	t.Parallel()
	runDecide(t, map[string]decideCase{
		"SCHED-FILT-10a overlap": {
			reason: "each network of the shoot is compared with each of the seed",
			shoot:  newShoot(func(s *shoot) { s.Spec.Networking.Nodes = new("fd00:2:1::/64") }),
			seeds:  []seed{newSeed("a", sixth)},
			why:    map[string]string{"a": "its services network fd00:2::/32 overlaps with the nodes network fd00:2:1::/64 of the shoot"},
		},
		"API-VALSHOOT-11": {
			reason: "IPv4 ranges are mapped, and may be the same",
			shoot:  newShoot(func(s *shoot) { s.Spec.Networking.Nodes = new("10.2.128.0/20") }),
			seeds:  []seed{newSeed("a")},
			want:   "a",
		},
		"SCHED-FILT-10a default of the seed": {
			reason: "networks that the shoot leaves open come from the seed's defaults",
			shoot: newShoot(func(s *shoot) {
				s.Spec.Networking = &gardencorev1beta1.Networking{IPFamilies: []gardencorev1beta1.IPFamily{"IPv6"}}
			}),
			seeds: []seed{newSeed("a", sixth, func(s *seed) {
				s.Spec.Networks.ShootDefaults = &gardencorev1beta1.ShootNetworks{Pods: new("fd00:1:1::/64")}
			})},
			why: map[string]string{"a": "its pods network fd00:1::/32 overlaps with the pods network fd00:1:1::/64 of the shoot"},
		},
		"SCHED-FILT-10a pods default without workers": {
			reason: "a shoot without workers does not take the default for pods",
			shoot: newShoot(func(s *shoot) {
				s.Spec.Networking = &gardencorev1beta1.Networking{IPFamilies: []gardencorev1beta1.IPFamily{"IPv6"}}
				s.Spec.Provider.Workers = nil
			}),
			seeds: []seed{newSeed("a", sixth, func(s *seed) {
				s.Spec.Networks.ShootDefaults = &gardencorev1beta1.ShootNetworks{Pods: new("fd00:1:1::/64")}
			})},
			want: "a",
		},
		"SCHED-FILT-10a default of another family": {
			reason: "a default is only taken by a shoot that has its IP family",
			shoot: newShoot(func(s *shoot) {
				s.Spec.Networking = &gardencorev1beta1.Networking{IPFamilies: []gardencorev1beta1.IPFamily{"IPv4"}}
			}),
			seeds: []seed{newSeed("a", sixth, func(s *seed) {
				s.Spec.Networks.ShootDefaults = &gardencorev1beta1.ShootNetworks{Pods: new("fd00:1:1::/64"), Services: new("fd00:2:1::/64")}
			})},
			why: map[string]string{"a": "it has no default for the network of pods, which the shoot does not name"},
		},
		"SCHED-FILT-10a no default": {
			reason: "a seed that would leave a network open is not taken, because admission would not bind the shoot to it",
			shoot:  newShoot(func(s *shoot) { s.Spec.Networking.Services = nil }),
			seeds: []seed{newSeed("a"), newSeed("b", func(s *seed) {
				s.Spec.Networks.ShootDefaults = &gardencorev1beta1.ShootNetworks{Services: new("10.12.0.0/16")}
			})},
			shoots: []shoot{on("b", "")},
			want:   "b",
		},
		"SCHED-FILT-10a no default without workers": {
			reason: "a shoot without workers needs a network for services only",
			shoot: newShoot(func(s *shoot) {
				s.Spec.Networking, s.Spec.Provider.Workers = &gardencorev1beta1.Networking{}, nil
			}),
			seeds: []seed{newSeed("a")},
			why:   map[string]string{"a": "it has no default for the network of services, which the shoot does not name"},
		},
		"SCHED-FILT-10a made up": {
			reason: "which is made up if it has IPv6 only",
			shoot: newShoot(func(s *shoot) {
				s.Spec.Networking = &gardencorev1beta1.Networking{IPFamilies: []gardencorev1beta1.IPFamily{"IPv6"}}
				s.Spec.Provider.Workers = nil
			}),
			seeds: []seed{newSeed("a")},
			want:  "a",
		},
		"SCHED-FILT-10b": {
			reason: "a shoot with a DNS section goes where names are made",
			shoot:  newShoot(func(s *shoot) { s.Spec.DNS = &gardencorev1beta1.DNS{} }),
			seeds:  []seed{newSeed("a", nameless), newSeed("b")},
			shoots: []shoot{on("b", "")},
			want:   "b",
		},
		"SCHED-FILT-10b unmanaged": {
			reason: "also if its names are nobody's affair: no section is allowed on the other seed (API-DNS-3)",
			shoot: newShoot(func(s *shoot) {
				s.Spec.DNS = &gardencorev1beta1.DNS{Providers: []gardencorev1beta1.DNSProvider{{Type: new("unmanaged")}}}
			}),
			seeds: []seed{newSeed("a", nameless)},
			why:   map[string]string{"a": "it has DNS names for shoots disabled, and the shoot has a DNS section"},
		},
		"SCHED-FILT-10b none": {
			reason: "a shoot without one goes anywhere",
			seeds:  []seed{newSeed("a", nameless)},
			want:   "a",
		},
		"SCHED-FILT-10a networks in status": {
			reason: "networks that the shoot already has count as well",
			shoot: newShoot(func(s *shoot) {
				s.Status.Networking = &gardencorev1beta1.NetworkingStatus{Nodes: []string{"fd00:3:1::/64"}}
			}),
			seeds: []seed{newSeed("a", sixth)},
			why:   map[string]string{"a": "its nodes network fd00:3::/32 overlaps with the nodes network fd00:3:1::/64 of the shoot"},
		},
		"SCHED-FILT-10a no networking": {
			reason: "a shoot without networking is not checked",
			shoot: newShoot(func(s *shoot) {
				s.Spec.Networking = nil
				s.Status.Networking = &gardencorev1beta1.NetworkingStatus{Nodes: []string{"fd00:3:1::/64"}}
			}),
			seeds: []seed{newSeed("a", sixth)},
			want:  "a",
		},
		"SCHED-FILT-10 order": {
			reason: "of networks, names, taints and room the first that does not fit is the reason",
			shoot: newShoot(func(s *shoot) {
				s.Spec.Networking.Nodes, s.Spec.DNS = new("fd00:2:1::/64"), &gardencorev1beta1.DNS{}
			}),
			seeds: []seed{
				newSeed("a", sixth, nameless, taint(nil), capacity("0")), newSeed("a2", nameless, taint(nil), capacity("0")),
				newSeed("b", taint(nil), capacity("0")), newSeed("c", capacity("0")),
			},
			why: map[string]string{
				"a":  "its services network fd00:2::/32 overlaps with the nodes network fd00:2:1::/64 of the shoot",
				"a2": "it has DNS names for shoots disabled, and the shoot has a DNS section",
				"b":  "it has 1 taints, the shoot has 0 tolerations",
				"c":  "it is full (0 of 0 shoots)",
			},
		},
		"SCHED-FILT-10d capacity": {
			reason: "a full seed is left out, one with room is taken although it has more shoots",
			seeds:  []seed{newSeed("a", capacity("1")), newSeed("b", capacity("3"))},
			shoots: []shoot{on("a", ""), on("b", ""), on("b", "")},
			want:   "b",
		},
		"SCHED-FILT-10d all full": {
			reason: "the message says how full a seed is",
			seeds:  []seed{newSeed("a", capacity("2"))},
			shoots: []shoot{on("a", "a"), on("", "a")},
			why:    map[string]string{"a": "it is full (2 of 2 shoots)"},
		},
		"SCHED-TAINT-1 key": {
			reason: "a taint without value is tolerated by any toleration of its key",
			shoot:  newShoot(tolerate(new("v"))),
			seeds:  []seed{newSeed("a", taint(nil))},
			want:   "a",
		},
		"SCHED-TAINT-1 value": {
			reason: "a taint with value needs the identical value, the last toleration of a key counts",
			shoot:  newShoot(tolerate(new("v")), tolerate(new("w"))),
			seeds:  []seed{newSeed("a", taint(new("v")))},
			why:    map[string]string{"a": `the shoot does not tolerate its taint "k"`},
		},
		"SCHED-TAINT-1 last wins": {
			reason: "the last toleration of a key counts",
			shoot:  newShoot(tolerate(new("w")), tolerate(new("v"))),
			seeds:  []seed{newSeed("a", taint(new("v")))},
			want:   "a",
		},
		"SCHED-TAINT-1 count": {
			reason: "more taints than tolerations are never tolerated, whatever the keys",
			shoot:  newShoot(tolerate(nil)),
			seeds:  []seed{newSeed("a", taint(nil), taint(nil))},
			why:    map[string]string{"a": "it has 2 taints, the shoot has 1 tolerations"},
		},
	})
}

func TestUnschedulableMessage(t *testing.T) {
	t.Parallel()
	many := map[string]string{}
	for i := range 22 {
		many[fmt.Sprintf("s%02d", i)] = "full"
	}
	cases := map[string]struct {
		reason  string
		reasons map[string]string
		want    []string
	}{
		"SCHED-STRAT-4 no seed": {
			reason: "a garden without seeds is told what to do",
			want:   []string{"there is no seed to run the control plane of this shoot", `"terrarium token create" prints`},
		},
		"SCHED-FILT-11 sorted": {
			reason:  "seeds are explained in the order of their names, with what was asked for",
			reasons: map[string]string{"b": "it is full", "a": "it is hidden"},
			want:    []string{`0 of 2 seeds can host this shoot (cloud profile "local", region "eu-1", strategy SameRegion): a: it is hidden; b: it is full`},
		},
		"SCHED-FILT-11 bounded": {
			reason:  "a long list is cut and counted",
			reasons: many,
			want:    []string{"0 of 22 seeds", "s19: full; 2 more seeds do not fit either"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := &scheduler.UnschedulableError{CloudProfile: "local", Region: "eu-1", Strategy: scheduler.SameRegion, Reasons: tc.reasons}
			for _, part := range tc.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%s\nError() = %q, does not contain %q", tc.reason, err.Error(), part)
				}
			}
			if end := tc.want[len(tc.want)-1]; !strings.HasSuffix(err.Error(), end) {
				t.Errorf("%s\nError() = %q, does not end with %q", tc.reason, err.Error(), end)
			}
		})
	}
}

func TestWants(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		change func(*shoot)
		want   bool
	}{
		"SCHED-SEL-1 waiting":       {reason: "a new shoot", change: func(*shoot) {}, want: true},
		"SCHED-SEL-2 bound":         {reason: "a shoot that has a seed", change: func(s *shoot) { s.Spec.SeedName = new("a") }},
		"SCHED-SEL-1 deleted":       {reason: "a shoot in deletion", change: func(s *shoot) { s.DeletionTimestamp = new(metav1.Now()) }},
		"SCHED-PROC-4 other":        {reason: "a shoot of another scheduler", change: func(s *shoot) { s.Spec.SchedulerName = new("mine") }},
		"SCHED-PROC-4 ours by name": {reason: "a shoot that names this scheduler", change: func(s *shoot) { s.Spec.SchedulerName = new("default-scheduler") }, want: true},
		"SCHED-SEL-1 self-hosted": {reason: "a shoot that runs its own control plane", change: func(s *shoot) {
			s.Spec.Provider.Workers[0].ControlPlane = &gardencorev1beta1.WorkerControlPlane{}
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := scheduler.Wants(newShoot(tc.change)); got != tc.want {
				t.Errorf("%s\nWants(...) = %t, want %t", tc.reason, got, tc.want)
			}
		})
	}
}
