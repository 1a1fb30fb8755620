// SPDX-License-Identifier: Apache-2.0

package query_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

func seed(change ...func(*gardencorev1beta1.Seed)) *gardencorev1beta1.Seed {
	s := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{"continent": "eu"}}}
	s.Spec.Provider = gardencorev1beta1.SeedProvider{Type: "local", Region: "local", Zones: []string{"x", "y"}}
	s.Spec.Networks = gardencorev1beta1.SeedNetworks{Pods: "10.1.0.0/16", Services: "10.2.0.0/16", Nodes: new("10.3.0.0/16")}
	for _, c := range change {
		c(s)
	}
	return s
}

func shoot(change ...func(*gardencorev1beta1.Shoot)) *gardencorev1beta1.Shoot {
	s := &gardencorev1beta1.Shoot{}
	s.Spec.Provider = gardencorev1beta1.Provider{Type: "local", Workers: []gardencorev1beta1.Worker{{Name: "w"}}}
	s.Spec.Networking = &gardencorev1beta1.Networking{Pods: new("10.11.0.0/16"), Services: new("10.12.0.0/16")}
	for _, c := range change {
		c(s)
	}
	return s
}

func tainted(taints ...gardencorev1beta1.SeedTaint) *gardencorev1beta1.Seed {
	return seed(func(s *gardencorev1beta1.Seed) { s.Spec.Taints = taints })
}

func tolerating(all ...gardencorev1beta1.Toleration) *gardencorev1beta1.Shoot {
	return shoot(func(s *gardencorev1beta1.Shoot) { s.Spec.Tolerations = all })
}

func defaults(pods, services string) *gardencorev1beta1.Seed {
	return seed(func(s *gardencorev1beta1.Seed) {
		s.Spec.Networks.ShootDefaults = &gardencorev1beta1.ShootNetworks{Pods: &pods, Services: &services}
	})
}

func networking(n *gardencorev1beta1.Networking) *gardencorev1beta1.Shoot {
	return shoot(func(s *gardencorev1beta1.Shoot) { s.Spec.Networking = n })
}

func TestAgainstSeeds(t *testing.T) {
	t.Parallel()
	labels := func(value string) *gardencorev1beta1.SeedSelector {
		return &gardencorev1beta1.SeedSelector{LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{"continent": value}}}
	}
	surviving := shoot(func(s *gardencorev1beta1.Shoot) {
		s.Spec.ControlPlane = &gardencorev1beta1.ControlPlane{HighAvailability: &gardencorev1beta1.HighAvailability{
			FailureTolerance: gardencorev1beta1.FailureTolerance{Type: gardencorev1beta1.FailureToleranceTypeZone},
		}}
	})
	restricted := shoot(func(s *gardencorev1beta1.Shoot) {
		s.Spec.AccessRestrictions = []gardencorev1beta1.AccessRestrictionWithOptions{{AccessRestriction: gardencorev1beta1.AccessRestriction{Name: "eu"}}}
	})
	other := seed(func(s *gardencorev1beta1.Seed) { s.Spec.Provider.Type = "other" })
	sixth := seed(func(s *gardencorev1beta1.Seed) {
		s.Spec.Networks = gardencorev1beta1.SeedNetworks{Pods: "fd00:1::/32", Services: "fd00:2::/32", Nodes: new("fd00:3::/32")}
	})
	giving := sixth.DeepCopy()
	giving.Spec.Networks.ShootDefaults = &gardencorev1beta1.ShootNetworks{Pods: new("fd00:11::/64"), Services: new("fd00:2:5::/64")}
	for name, tc := range map[string]struct{ reason, got, want string }{
		"SCHED-TAINT-1 none":       {"nothing to tolerate", query.Intolerance(shoot(), seed()), ""},
		"SCHED-TAINT-1 key":        {"a taint without value is tolerated by its key", query.Intolerance(tolerating(gardencorev1beta1.Toleration{Key: "k", Value: new("v")}), tainted(gardencorev1beta1.SeedTaint{Key: "k"})), ""},
		"SCHED-TAINT-1 value":      {"a taint with a value needs that value", query.Intolerance(tolerating(gardencorev1beta1.Toleration{Key: "k"}), tainted(gardencorev1beta1.SeedTaint{Key: "k", Value: new("v")})), `the shoot does not tolerate its taint "k"`},
		"SCHED-TAINT-1 same value": {"the same value fits", query.Intolerance(tolerating(gardencorev1beta1.Toleration{Key: "k", Value: new("v")}), tainted(gardencorev1beta1.SeedTaint{Key: "k", Value: new("v")})), ""},
		"SCHED-TAINT-1 count":      {"more taints than tolerations never fit", query.Intolerance(tolerating(gardencorev1beta1.Toleration{Key: "k"}), tainted(gardencorev1beta1.SeedTaint{Key: "k"}, gardencorev1beta1.SeedTaint{Key: "k", Value: new("v")})), "it has 2 taints, the shoot has 1 tolerations"},
		"SCHED-TAINT-1 last": {
			"the last toleration of a key counts",
			query.Intolerance(tolerating(gardencorev1beta1.Toleration{Key: "k", Value: new("v")}, gardencorev1beta1.Toleration{Key: "k"}), tainted(gardencorev1beta1.SeedTaint{Key: "k", Value: new("v")})),
			`the shoot does not tolerate its taint "k"`,
		},
		"API-SVAL-3 no selector": {"no selector takes every seed", query.SelectorMismatch(nil, "p", other), ""},
		"API-SVAL-3 labels":      {"labels decide", query.SelectorMismatch(labels("us"), "p", seed()), "its labels do not match the seed selector of p"},
		"API-SVAL-3 broken": {
			"a broken selector matches nothing",
			query.SelectorMismatch(&gardencorev1beta1.SeedSelector{LabelSelector: metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Of"}}}}, "p", seed()),
			`the seed selector of p is invalid: "Of" is not a valid label selector operator`,
		},
		"API-SVAL-3 open":     {"without types all providers are taken", query.SelectorMismatch(labels("eu"), "p", other), ""},
		"API-SVAL-3 unlisted": {"with types only those", query.SelectorMismatch(&gardencorev1beta1.SeedSelector{ProviderTypes: []string{"one"}}, "p", other), `its provider type is "other", p allows one`},
		"API-SVAL-3 listed":   {"of which it is one", query.SelectorMismatch(&gardencorev1beta1.SeedSelector{ProviderTypes: []string{"one", "other"}}, "p", other), ""},
		"API-SVAL-3 any":      {"or any is", query.SelectorMismatch(&gardencorev1beta1.SeedSelector{ProviderTypes: []string{"*"}}, "p", other), ""},
		"SCHED-FILT-5":        {"surviving the loss of a zone takes three", query.MissingZones(surviving, seed()), `it has 2 zones, failure tolerance "zone" needs 3`},
		"SCHED-FILT-5 enough": {"three are enough", query.MissingZones(surviving, seed(func(s *gardencorev1beta1.Seed) { s.Spec.Provider.Zones = []string{"x", "y", "z"} })), ""},
		"SCHED-FILT-7":        {"promises must be kept", query.MissingAccessRestriction(restricted, seed()), `it does not support access restriction "eu"`},
		"SCHED-FILT-7 kept": {"they can be", query.MissingAccessRestriction(restricted, seed(func(s *gardencorev1beta1.Seed) {
			s.Spec.AccessRestrictions = []gardencorev1beta1.AccessRestriction{{Name: "eu"}}
		})), ""},
		"SCHED-FILT-10a":         {"networks apart are fine", query.NetworkConflict(shoot(), sixth), ""},
		"SCHED-FILT-10a none":    {"without networks there is nothing to compare", query.NetworkConflict(networking(nil), sixth), ""},
		"API-VALSHOOT-11":        {"IPv4 ranges are mapped", query.NetworkConflict(networking(&gardencorev1beta1.Networking{Pods: new("10.3.4.0/24")}), seed()), ""},
		"SCHED-FILT-10a pods":    {"pods in the nodes of the seed", query.NetworkConflict(networking(&gardencorev1beta1.Networking{Pods: new("fd00:3:4::/64")}), sixth), "its nodes network fd00:3::/32 overlaps with the pods network fd00:3:4::/64 of the shoot"},
		"SCHED-FILT-10a default": {"what the seed would give counts", query.NetworkConflict(networking(&gardencorev1beta1.Networking{IPFamilies: []gardencorev1beta1.IPFamily{"IPv6"}}), giving), "its services network fd00:2::/32 overlaps with the services network fd00:2:5::/64 of the shoot"},
		"SCHED-FILT-10a status": {
			"what the shoot has already counts",
			query.NetworkConflict(shoot(func(s *gardencorev1beta1.Shoot) {
				s.Status.Networking = &gardencorev1beta1.NetworkingStatus{Nodes: []string{"fd00:20::/64", "fd00:1:8::/64"}}
			}), sixth),
			"its pods network fd00:1::/32 overlaps with the nodes network fd00:1:8::/64 of the shoot",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, tc.got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestDefaultNetworks(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		shoot  *gardencorev1beta1.Shoot
		want   []*string
	}{
		"API-SMUT-3 own":    {reason: "what the shoot has stays", shoot: shoot(), want: []*string{new("10.11.0.0/16"), new("10.12.0.0/16")}},
		"API-SMUT-3 open":   {reason: "what it leaves open comes from the seed", shoot: networking(&gardencorev1beta1.Networking{}), want: []*string{new("10.4.0.0/16"), new("10.5.0.0/16")}},
		"API-SMUT-3 family": {reason: "an IPv6 shoot takes no IPv4 range", shoot: networking(&gardencorev1beta1.Networking{IPFamilies: []gardencorev1beta1.IPFamily{"IPv6"}}), want: []*string{nil, nil}},
		"API-SMUT-3 workerless": {
			reason: "no pods without workers",
			shoot: shoot(func(s *gardencorev1beta1.Shoot) {
				s.Spec.Provider.Workers, s.Spec.Networking = nil, &gardencorev1beta1.Networking{}
			}),
			want: []*string{nil, new("10.5.0.0/16")},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pods, services := query.DefaultNetworks(&tc.shoot.Spec, defaults("10.4.0.0/16", "10.5.0.0/16"))
			if diff := cmp.Diff(tc.want, []*string{pods, services}); diff != "" {
				t.Errorf("%s\nDefaultNetworks (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
