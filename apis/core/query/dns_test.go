// SPDX-License-Identifier: Apache-2.0

package query_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

func TestDomainProvider(t *testing.T) {
	t.Parallel()
	dns := func(providers ...gardencorev1beta1.DNSProvider) *gardencorev1beta1.DNS {
		return &gardencorev1beta1.DNS{Domain: new("a.example"), Providers: providers}
	}
	for name, tc := range map[string]struct {
		reason string
		dns    *gardencorev1beta1.DNS
		want   string
	}{
		"none":                  {reason: "there may be no section"},
		"API-DNS-5 primary":     {"the marked one hosts the domain", dns(gardencorev1beta1.DNSProvider{Type: new("a")}, gardencorev1beta1.DNSProvider{Type: new("b"), Primary: new(true)}), "b"},
		"API-DNS-5 not marked":  {"one is not primary for being the only one", dns(gardencorev1beta1.DNSProvider{Type: new("a")}), ""},
		"API-DNS-5 not primary": {"nor for saying that it is not", dns(gardencorev1beta1.DNSProvider{Type: new("a"), Primary: new(false)}), ""},
		"unmanaged":             {"nobody makes records for an unmanaged one", dns(gardencorev1beta1.DNSProvider{Type: new("unmanaged"), Primary: new(true)}), ""},
		"no type":               {"nor for one without a type", dns(gardencorev1beta1.DNSProvider{Primary: new(true)}), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ""
			if p := query.DomainProvider(tc.dns); p != nil {
				got = *p.Type
			}
			if got != tc.want {
				t.Errorf("%s\nDomainProvider(...) = %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

func TestNested(t *testing.T) {
	t.Parallel()
	got := map[string]bool{}
	for _, pair := range [][2]string{{"a.x", "x"}, {"x", "a.x"}, {"x", "x"}, {"ax", "x"}} {
		got[pair[0]+" "+pair[1]] = query.Nested(pair[0], pair[1])
	}
	if diff := cmp.Diff(map[string]bool{"a.x x": true, "x a.x": true, "x x": false, "ax x": false}, got); diff != "" {
		t.Errorf("one lies below the other if it ends in it at a dot\nNested (-want +got):\n%s", diff)
	}
}

func TestSeeds(t *testing.T) {
	t.Parallel()
	on := func(spec, status *string) *gardencorev1beta1.Shoot {
		s := &gardencorev1beta1.Shoot{}
		s.Spec.SeedName, s.Status.SeedName = spec, status
		return s
	}
	for name, tc := range map[string]struct {
		shoot *gardencorev1beta1.Shoot
		want  []string
	}{
		"SCHED-USAGE-1 none":    {on(nil, nil), nil},
		"SCHED-USAGE-1 bound":   {on(new("a"), nil), []string{"a"}},
		"SCHED-USAGE-1 running": {on(new("a"), new("a")), []string{"a"}},
		"SCHED-USAGE-1 moving":  {on(new("b"), new("a")), []string{"b", "a"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, query.Seeds(tc.shoot)); diff != "" {
				t.Errorf("Seeds(...) (-want +got):\n%s", diff)
			}
			for _, seed := range tc.want {
				if !query.OnSeed(tc.shoot, seed) {
					t.Errorf("it is not on seed %q", seed)
				}
			}
			if query.OnSeed(tc.shoot, "c") {
				t.Error("it is on a seed that it does not name")
			}
		})
	}
}
