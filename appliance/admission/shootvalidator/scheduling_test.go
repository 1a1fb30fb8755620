// SPDX-License-Identifier: Apache-2.0

package shootvalidator_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

type (
	shoot   = gardencorev1beta1.Shoot
	seed    = gardencorev1beta1.Seed
	profile = gardencorev1beta1.CloudProfile
	project = gardencorev1beta1.Project
)

func on(name string) func(*shoot) { return func(s *shoot) { s.Spec.SeedName = &name } }

// networked are ranges that the seed would give as well.
func networked(s *shoot) {
	s.Spec.Networking.Pods, s.Spec.Networking.Services = new("10.11.0.0/16"), new("10.12.0.0/16")
}

func garden(seeds ...kind.Object) []kind.Object {
	return append([]kind.Object{admissiontest.Project(), admissiontest.Profile()}, seeds...)
}

// backed seeds keep backups.
func backed(s *seed) {
	s.Spec.Backup = &gardencorev1beta1.Backup{Provider: "local", CredentialsRef: &corev1.ObjectReference{
		APIVersion: "v1", Kind: "Secret", Namespace: "garden", Name: "backup",
	}, Region: new("north")}
}

func limited(n string) func(*seed) {
	return func(s *seed) { s.Status.Allocatable = corev1.ResourceList{"shoots": resource.MustParse(n)} }
}

func neighbours(n int) []kind.Object {
	var all []kind.Object
	for i := range n {
		all = append(all, admissiontest.Shoot(on("a"), func(s *shoot) { s.Name = fmt.Sprintf("n%d", i) }))
	}
	return all
}

func TestBinding(t *testing.T) {
	t.Parallel()
	bind := func(change ...func(*shoot)) admissiontest.Request {
		return admissiontest.Request{Object: admissiontest.Shoot(append(change, networked, on("a"))...), Old: admissiontest.Shoot(change...), Subresource: "binding"}
	}
	seedWith := func(change ...func(*seed)) []kind.Object { return garden(admissiontest.Seed("a", change...)) }
	move := admissiontest.Request{Object: admissiontest.Shoot(networked, on("a")), Old: admissiontest.Shoot(networked, on("b")), Subresource: "binding"}
	admissiontest.Run(t, completed, map[string]admissiontest.Case{
		"API-SVAL-3":         {Reason: "a seed that fits is taken", Objects: seedWith(), Request: bind()},
		"API-SVAL-3 missing": {Reason: "a seed must exist", Objects: garden(), Request: bind(), Refused: []string{`spec.seedName: Seed "a" does not exist`}},
		"API-SVAL-3 taint":   {Reason: "taints are tolerated or not", Objects: seedWith(func(s *seed) { s.Spec.Taints = []gardencorev1beta1.SeedTaint{{Key: "k"}} }), Request: bind(), Refused: []string{`seed "a" cannot host the shoot: it has 1 taints`}},
		"API-SVAL-3 tolerated": {
			Reason: "taints are tolerated or not", Objects: seedWith(func(s *seed) { s.Spec.Taints = []gardencorev1beta1.SeedTaint{{Key: "k"}} }),
			Request: bind(func(s *shoot) { s.Spec.Tolerations = []gardencorev1beta1.Toleration{{Key: "k"}} }),
		},
		"API-SVAL-3 provider": {
			Reason: "who chooses by hand may choose another provider", Request: bind(),
			Objects: seedWith(func(s *seed) { s.Spec.Provider.Type = "other" }),
		},
		"API-SVAL-3 types": {
			Reason: "unless the profile says which",
			Objects: []kind.Object{
				admissiontest.Project(), admissiontest.Seed("a", func(s *seed) { s.Spec.Provider.Type = "other" }),
				admissiontest.Profile(func(p *profile) {
					p.Spec.SeedSelector = &gardencorev1beta1.SeedSelector{ProviderTypes: []string{"local"}}
				}),
			},
			Request: bind(), Refused: []string{`its provider type is "other", CloudProfile "local" allows local`},
		},
		"API-SVAL-20 shoot": {
			Reason: "or the shoot says which", Objects: seedWith(),
			Request: bind(func(s *shoot) {
				s.Spec.SeedSelector = &gardencorev1beta1.SeedSelector{LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}}
			}),
			Refused: []string{`seed "a" cannot host the shoot: its labels do not match the seed selector of the shoot`},
		},
		"API-SVAL-3 selector": {
			Reason: "the profile says which seeds",
			Objects: []kind.Object{admissiontest.Project(), admissiontest.Seed("a"), admissiontest.Profile(func(p *profile) {
				p.Spec.SeedSelector = &gardencorev1beta1.SeedSelector{LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{"climate": "mild"}}}
			})},
			Request: bind(), Refused: []string{"its labels do not match the seed selector"},
		},
		"API-SVAL-3 restriction": {
			Reason: "promises must be kept",
			Objects: []kind.Object{admissiontest.Project(), admissiontest.Seed("a"), admissiontest.Profile(func(p *profile) {
				p.Spec.Regions[0].AccessRestrictions = []gardencorev1beta1.AccessRestriction{{Name: "eu"}}
			})},
			Request: bind(func(s *shoot) {
				s.Spec.AccessRestrictions = []gardencorev1beta1.AccessRestrictionWithOptions{{AccessRestriction: gardencorev1beta1.AccessRestriction{Name: "eu"}}}
			}),
			Refused: []string{`access restriction "eu"`},
		},
		"API-SVAL-3 full":   {Reason: "a full seed takes no more", Objects: append(seedWith(limited("2")), neighbours(2)...), Request: bind(), Refused: []string{"it is full (2 of 2 shoots)"}},
		"API-SVAL-3 room":   {Reason: "one with room does", Objects: append(seedWith(limited("3")), neighbours(2)...), Request: bind()},
		"API-SVAL-3 far":    {Reason: "one far from its limit as well", Objects: append(seedWith(limited("30")), neighbours(2)...), Request: bind()},
		"API-SVAL-4 itself": {Reason: "a shoot does not count against itself", Objects: append(seedWith(limited("1")), admissiontest.Shoot(func(s *shoot) { s.Status.SeedName = new("a") })), Request: bind()},
		"API-SVAL-4 running": {
			Reason: "a shoot counts where it is meant to be and where it still runs", Request: bind(),
			Objects: append(seedWith(limited("2")), neighbours(1)[0], admissiontest.Shoot(func(s *shoot) {
				s.Name, s.Spec.SeedName, s.Status.SeedName = "moving", new("b"), new("a")
			})),
			Refused: []string{"it is full (2 of 2 shoots)"},
		},
		"API-SVAL-4 twice": {
			Reason: "but once where both are one", Request: bind(),
			Objects: append(seedWith(limited("2")), admissiontest.Shoot(func(s *shoot) { s.Name, s.Spec.SeedName, s.Status.SeedName = "there", new("a"), new("a") })),
		},
		"API-SVAL-7": {Reason: "zones to survive with", Objects: seedWith(), Request: bind(surviving), Refused: []string{`it has 2 zones, failure tolerance "zone" needs 3`}},
		"API-SVAL-12": {Reason: "networks are apart", Objects: seedWith(func(s *seed) {
			s.Spec.Networks = gardencorev1beta1.SeedNetworks{IPFamilies: []gardencorev1beta1.IPFamily{"IPv6"}, Pods: "fd00:1::/48", Services: "fd00:2::/112"}
		}), Request: bind(func(s *shoot) { s.Spec.Networking.Nodes = new("fd00:1::/64") }), Refused: []string{"its pods network fd00:1::/48 overlaps with the nodes network fd00:1::/64 of the shoot"}},
		"API-VALSHOOT-11":         {Reason: "unless they are mapped", Objects: seedWith(func(s *seed) { s.Spec.Networks.Pods, s.Spec.Networks.ShootDefaults = "10.11.128.0/20", nil }), Request: bind()},
		"API-SVAL-5 backup":       {Reason: "a move needs backups", Objects: garden(admissiontest.Seed("a", backed), admissiontest.Seed("b")), Request: move, Refused: []string{`from seed "b" to "a"`, `seed "b" has no backups`}},
		"API-SVAL-5 backup there": {Reason: "at both ends", Objects: garden(admissiontest.Seed("a"), admissiontest.Seed("b", backed)), Request: move, Refused: []string{`from seed "b" to "a"`, `seed "a" has no backups`}},
		"API-SVAL-5 fine":         {Reason: "with backups it goes", Objects: garden(admissiontest.Seed("a", backed), admissiontest.Seed("b", backed)), Request: move},
		"API-SVAL-5 provider":     {Reason: "machines stay where they are", Objects: garden(admissiontest.Seed("a", backed), admissiontest.Seed("b", backed, func(s *seed) { s.Spec.Provider.Type = "other" })), Request: move, Refused: []string{"their providers differ"}},
	})
}

// TestPlacesAtOnce_API_SVAL_4 asks for the last place before anything was written.
func TestPlacesAtOnce_API_SVAL_4(t *testing.T) {
	t.Parallel()
	g := admissiontest.New(t, nil, garden(append(neighbours(1), admissiontest.Seed("a", limited("2")))...)...)
	rule := completed(g.World)
	ask := func(name string) error {
		waits := func(s *shoot) { s.Name, s.ResourceVersion = name, "7" }
		return g.Ask(rule, admissiontest.Request{
			Object: admissiontest.Shoot(waits, networked, on("a")), Old: admissiontest.Shoot(waits, networked), Subresource: "binding",
		})
	}
	if err := ask("one"); err != nil {
		t.Fatalf("the first one gets it: %v", err)
	}
	if err := ask("one"); err != nil {
		t.Errorf("it may ask again: %v", err)
	}
	checkRefused(t, "of two requests at once one is refused", ask("two"), "it is full (2 of 2 shoots)")
}

func surviving(s *shoot) {
	s.Spec.ControlPlane = &gardencorev1beta1.ControlPlane{HighAvailability: &gardencorev1beta1.HighAvailability{
		FailureTolerance: gardencorev1beta1.FailureTolerance{Type: gardencorev1beta1.FailureToleranceTypeZone},
	}}
}

func TestCreateOnSeed(t *testing.T) {
	t.Parallel()
	ask := admissiontest.Request{Object: admissiontest.Shoot(networked, on("a"))}
	admissiontest.Run(t, completed, map[string]admissiontest.Case{
		"API-BIND-3":         {Reason: "who may bind chooses the seed", Rights: []string{"rose update shoots/binding garden-meadow/sprout"}, Objects: garden(admissiontest.Seed("a")), Request: ask},
		"API-BIND-3 refused": {Reason: "others leave it to the scheduler", Objects: garden(admissiontest.Seed("a")), Request: ask, Refused: []string{"spec.seedName", "shoots/binding", "scheduler"}},
	})
}

func TestNetworks(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason  string
		change  func(*shoot)
		seed    func(*seed)
		want    []string
		refused string
	}{
		"API-SMUT-3 open":      {reason: "what is open comes from the seed", change: func(*shoot) {}, want: []string{"10.11.0.0/16", "10.12.0.0/16"}},
		"API-SMUT-3 given":     {reason: "what is given stays", change: func(s *shoot) { s.Spec.Networking.Pods = new("10.20.0.0/16") }, want: []string{"10.20.0.0/16", "10.12.0.0/16"}},
		"API-SMUT-3 family":    {reason: "IPv4 is nothing for IPv6", change: func(s *shoot) { s.Spec.Networking.IPFamilies = []gardencorev1beta1.IPFamily{"IPv6"} }, refused: "spec.networking.pods"},
		"API-SVAL-12 required": {reason: "on a seed both are needed", change: func(*shoot) {}, seed: func(s *seed) { s.Spec.Networks.ShootDefaults = nil }, refused: `spec.networking.services: Required value: seed "a" has no default for it`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tc.seed == nil {
				tc.seed = func(*seed) {}
			}
			g := admissiontest.New(t, nil, garden(admissiontest.Seed("a", tc.seed))...)
			s := admissiontest.Shoot(tc.change, on("a"))
			err := g.Ask(completed(g.World), admissiontest.Request{Object: s, Old: admissiontest.Shoot(tc.change), Subresource: "binding"})
			if tc.refused != "" {
				checkRefused(t, tc.reason, err, tc.refused)
				return
			}
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, []string{*s.Spec.Networking.Pods, *s.Spec.Networking.Services}); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
