// SPDX-License-Identifier: Apache-2.0

package shootvalidator_test

import (
	"testing"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

func TestFamily(t *testing.T) {
	t.Parallel()
	derived := func(name, parent string) kind.Object {
		return admissiontest.NamespacedProfile(func(p *gardencorev1beta1.NamespacedCloudProfile) {
			p.Name, p.Spec.Parent.Name, p.Spec.Parent.Kind = name, parent, "CloudProfile"
			p.Status.CloudProfileSpec = admissiontest.Profile().Spec
		})
	}
	world := append(garden(), derived("own", "local"), derived("second", "local"), derived("foreign", "other"),
		admissiontest.Profile(func(p *gardencorev1beta1.CloudProfile) { p.Name = "other" }))
	of := func(kind, name string) *gardencorev1beta1.Shoot {
		return admissiontest.Shoot(func(s *shoot) {
			s.Spec.CloudProfile = &gardencorev1beta1.CloudProfileReference{Kind: kind, Name: name}
		})
	}
	const garden, project = "CloudProfile", "NamespacedCloudProfile"
	moves := func(was, is *gardencorev1beta1.Shoot) admissiontest.Request {
		return admissiontest.Request{Old: was, Object: is}
	}
	refused := []string{`a shoot of CloudProfile "local", or of one derived from it, cannot change to CloudProfile "other"`}
	admissiontest.Run(t, completed, map[string]admissiontest.Case{
		"API-SHOOTSTRAT-9 derived":         {Reason: "a profile of the project derived from that of the garden takes its place", Objects: world, Request: moves(of(garden, "local"), of(project, "own"))},
		"API-SHOOTSTRAT-9 sibling":         {Reason: "so does another one derived from it", Objects: world, Request: moves(of(project, "own"), of(project, "second"))},
		"API-SHOOTSTRAT-9 back":            {Reason: "and the one of the garden again", Objects: world, Request: moves(of(project, "own"), of(garden, "local"))},
		"API-SHOOTSTRAT-9 foreign":         {Reason: "one of another family does not", Objects: world, Request: moves(of(garden, "local"), of(project, "foreign")), Refused: refused},
		"API-SHOOTSTRAT-9 foreign parent":  {Reason: "nor does its parent", Objects: world, Request: moves(of(project, "own"), of(garden, "other")), Refused: refused},
		"API-SHOOTSTRAT-9 foreign sibling": {Reason: "nor does a cousin", Objects: world, Request: moves(of(project, "own"), of(project, "foreign")), Refused: refused},
	})
}
