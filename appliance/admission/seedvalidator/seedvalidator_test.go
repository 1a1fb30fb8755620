// SPDX-License-Identifier: Apache-2.0

package seedvalidator_test

import (
	"testing"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/seedvalidator"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

type (
	seed  = gardencorev1beta1.Seed
	shoot = gardencorev1beta1.Shoot
)

func domain(name string) func(*seed) {
	return func(s *seed) {
		s.Spec.DNS.Internal = &gardencorev1beta1.SeedDNSProviderConfig{Type: "local", Domain: name}
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	bound := []kind.Object{admissiontest.Shoot(func(s *shoot) { s.Spec.SeedName = new("a") })}
	left := []kind.Object{admissiontest.Shoot(func(s *shoot) { s.Spec.SeedName, s.Status.SeedName = new("b"), new("a") })}
	oneZone := func(s *seed) { s.Spec.Provider.Zones = []string{"a"} }
	admissiontest.Run(t, seedvalidator.New, map[string]admissiontest.Case{
		"API-SEEDVAL-1 bound":     {Reason: "a seed with shoots stays", Objects: bound, Request: admissiontest.Request{Old: admissiontest.Seed("a")}, Refused: []string{"still runs shoots", "garden-meadow/sprout"}},
		"API-SEEDVAL-1 running":   {Reason: "also one that a shoot is leaving", Objects: left, Request: admissiontest.Request{Old: admissiontest.Seed("a")}, Refused: []string{"garden-meadow/sprout"}},
		"API-SEEDVAL-1 empty":     {Reason: "an empty one goes", Objects: bound, Request: admissiontest.Request{Old: admissiontest.Seed("c")}},
		"API-SEEDVAL-2 zones":     {Reason: "zones stay while shoots are there", Objects: bound, Request: admissiontest.Request{Object: admissiontest.Seed("a", oneZone), Old: admissiontest.Seed("a")}, Refused: []string{"spec.provider.zones", `zone "b"`, "garden-meadow/sprout"}},
		"API-SEEDVAL-2 no shoots": {Reason: "without shoots they may go", Request: admissiontest.Request{Object: admissiontest.Seed("a", oneZone), Old: admissiontest.Seed("a")}},
		"API-SEEDVAL-2 more":      {Reason: "more zones are welcome", Objects: bound, Request: admissiontest.Request{Object: admissiontest.Seed("a"), Old: admissiontest.Seed("a", oneZone)}},
		"API-SEEDVAL-2 domain":    {Reason: "the domain stays", Objects: bound, Request: admissiontest.Request{Object: admissiontest.Seed("a", domain("x.y")), Old: admissiontest.Seed("a", domain("x.z"))}, Refused: []string{"spec.dns.internal", `"x.z"`}},
		"API-SEEDVAL-2 none":      {Reason: "and does not vanish", Objects: bound, Request: admissiontest.Request{Object: admissiontest.Seed("a"), Old: admissiontest.Seed("a", domain("x.z"))}, Refused: []string{"spec.dns.internal"}},
		"API-SEEDVAL-2 first":     {Reason: "a first one is welcome", Objects: bound, Request: admissiontest.Request{Object: admissiontest.Seed("a", domain("x.z")), Old: admissiontest.Seed("a")}},
	})
}
