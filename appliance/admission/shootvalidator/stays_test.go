// SPDX-License-Identifier: Apache-2.0

package shootvalidator_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

// stay is an update of a shoot that stays on its seed a.
func stay(before func(*shoot), after ...func(*shoot)) admissiontest.Request {
	return admissiontest.Request{
		Object: admissiontest.Shoot(append([]func(*shoot){networked, on("a"), before}, after...)...), Old: admissiontest.Shoot(networked, on("a"), before),
	}
}

func plain(*shoot) {}

func promising(names ...string) func(*shoot) {
	return func(s *shoot) {
		for _, name := range names {
			s.Spec.AccessRestrictions = append(s.Spec.AccessRestrictions,
				gardencorev1beta1.AccessRestrictionWithOptions{AccessRestriction: gardencorev1beta1.AccessRestriction{Name: name}})
		}
	}
}

// TestSeedSuffices_API_SVAL_7 asks more of the seed that a shoot is on.
func TestSeedSuffices_API_SVAL_7(t *testing.T) {
	t.Parallel()
	keeping := func(s *seed) { s.Spec.AccessRestrictions = []gardencorev1beta1.AccessRestriction{{Name: "eu"}} }
	wide := func(s *seed) { s.Spec.Provider.Zones = []string{"a", "b", "c"} }
	on := func(change ...func(*seed)) []kind.Object {
		return []kind.Object{admissiontest.Project(), admissiontest.Seed("a", change...), admissiontest.Profile(func(p *profile) {
			p.Spec.Regions[0].AccessRestrictions = []gardencorev1beta1.AccessRestriction{{Name: "eu"}, {Name: "us"}}
		})}
	}
	ofNode := func(s *shoot) {
		surviving(s)
		s.Spec.ControlPlane.HighAvailability.FailureTolerance.Type = gardencorev1beta1.FailureToleranceTypeNode
	}
	purposed := func(s *shoot) { s.Spec.Purpose = new(gardencorev1beta1.ShootPurposeTesting) }
	admissiontest.Run(t, completed, map[string]admissiontest.Case{
		"API-SVAL-7 later":    {Reason: "a control plane that comes to survive zones needs them", Objects: on(), Request: stay(plain, surviving), Refused: []string{`seed "a", which the shoot is on`, `it has 2 zones, failure tolerance "zone" needs 3`}},
		"API-SVAL-7 enough":   {Reason: "where there are enough it does", Objects: on(wide), Request: stay(plain, surviving)},
		"API-SVAL-7 node":     {Reason: "nodes are everywhere", Objects: on(), Request: stay(plain, ofNode)},
		"API-SVAL-7 kept":     {Reason: "what was accepted stays", Objects: on(), Request: stay(surviving, purposed)},
		"API-SVAL-3 promise":  {Reason: "a promise that the seed keeps is given", Objects: on(keeping), Request: stay(plain, promising("eu"))},
		"API-SVAL-3 unkept":   {Reason: "another is not", Objects: on(keeping), Request: stay(promising("eu"), promising("us")), Refused: []string{`access restriction "us"`}},
		"API-SVAL-3 kept":     {Reason: "what was promised stays", Objects: on(), Request: stay(promising("us"), purposed)},
		"API-SVAL-3 no seed":  {Reason: "without a seed nobody has to keep it yet", Objects: on(), Request: change(plain, promising("us"))},
		"API-SVAL-7 and more": {Reason: "one does not hide the other", Objects: on(wide), Request: stay(plain, surviving, promising("us")), Refused: []string{`access restriction "us"`}},
	})
}

// TestStays_API_SVAL_20 changes what a seed was chosen for.
func TestStays_API_SVAL_20(t *testing.T) {
	t.Parallel()
	pinned := func(zones ...string) func(*shoot) {
		return func(s *shoot) { s.Spec.ControlPlane = &gardencorev1beta1.ControlPlane{Zones: zones} }
	}
	giving := admissiontest.Profile(func(p *profile) {
		p.Spec.ControlPlane = &gardencorev1beta1.CloudProfileControlPlane{AllowZonePinning: true}
	})
	withheld := admissiontest.Profile(func(p *profile) { p.Spec.ControlPlane = &gardencorev1beta1.CloudProfileControlPlane{} })
	in := func(p *profile) []kind.Object {
		return []kind.Object{admissiontest.Project(), p, admissiontest.Seed("a")}
	}
	constrained := func(s *shoot) {
		s.Status.Constraints = []gardencorev1beta1.Condition{{Type: "HibernationPossible", Status: "False", Message: "a webhook is in the way"}}
	}
	purposed := func(s *shoot) { s.Spec.Purpose = new(gardencorev1beta1.ShootPurposeTesting) }
	own := func(s *shoot) {
		s.Spec.Kubernetes.KubeAPIServer = &gardencorev1beta1.KubeAPIServerConfig{ServiceAccountConfig: &gardencorev1beta1.ServiceAccountConfig{Issuer: new("https://issuer.example")}}
	}
	issuing := annotated("authentication.gardener.cloud/issuer", "managed")
	admissiontest.Run(t, completed, map[string]admissiontest.Case{
		"API-SVAL-20 pinned":       {Reason: "a profile may give zones away", Objects: in(giving), Request: create(pinned("a"))},
		"API-SVAL-20 withheld":     {Reason: "or say that it does not", Objects: in(withheld), Request: create(pinned("a")), Refused: []string{"spec.controlPlane.zones"}},
		"API-SVAL-20 pinned still": {Reason: "who has chosen may go on", Objects: in(admissiontest.Profile()), Request: stay(pinned("a"), purposed)},
		"API-SVAL-20 kept zone":    {Reason: "also in a zone that the seed has no more", Objects: in(giving), Request: stay(pinned("z"), purposed)},
		"API-SVAL-20 wrong zone":   {Reason: "but not in another one that it has not", Objects: in(giving), Request: stay(pinned("a"), pinned("z")), Refused: []string{`seed "a" has no zone "z"`}},
		"API-SVAL-9 other change":  {Reason: "who stays awake may do so", Objects: in(giving), Request: stay(constrained, purposed)},
		"API-SVAL-20 own issuer":   {Reason: "a cluster may have its own issuer", Objects: in(giving), Request: create(own)},
		"API-SVAL-20 two issuers":  {Reason: "who has both may go on", Objects: in(giving), Request: stay(all(own, issuing), purposed)},
		"API-SVAL-20 second":       {Reason: "nobody gets the garden's beside it", Objects: in(giving), Request: stay(own, issuing), Refused: []string{"serviceAccountConfig.issuer"}},
		"API-ADM-4 other parts":    {Reason: "other parts of a shoot are not judged", Objects: in(giving), Request: admissiontest.Request{Object: admissiontest.Shoot(version("1.0.0")), Old: admissiontest.Shoot(), Subresource: "other"}},
		"API-SVAL-1 deletion":      {Reason: "what goes is not judged", Objects: in(giving), Request: change(plain, all(version("1.0.0"), func(s *shoot) { s.DeletionTimestamp = new(metav1.Now()) }))},
	})
}

// TestSeedGoes_API_SVAL_8 moves a shoot away from a seed in deletion.
func TestSeedGoes_API_SVAL_8(t *testing.T) {
	t.Parallel()
	g := admissiontest.New(t, nil, garden(admissiontest.Seed("a", backed), admissiontest.Seed("b", backed, func(s *seed) { s.Finalizers = []string{"gardener"} }))...)
	g.Delete("seeds", "b")
	rule := completed(g.World)
	move := admissiontest.Request{Object: admissiontest.Shoot(networked, on("a")), Old: admissiontest.Shoot(networked, on("b")), Subresource: "binding"}
	if err := g.Ask(rule, move); err != nil {
		t.Errorf("shoots can leave a seed in deletion: %v", err)
	}
	confirmed := func(s *shoot) {
		annotated("confirmation.gardener.cloud/deletion", "true")(s)
		annotated("deletion.gardener.cloud/confirmed-by", "rose")(s)
	}
	noted := admissiontest.Request{Object: admissiontest.Shoot(networked, on("b"), confirmed), Old: admissiontest.Shoot(networked, on("b"))}
	if err := g.Ask(rule, noted); err != nil {
		t.Errorf("a confirmation is noted with the name of the user: %v", err)
	}
}
