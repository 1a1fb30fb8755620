// SPDX-License-Identifier: Apache-2.0

package shootvalidator_test

import (
	"testing"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/shootvalidator"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

// TestTechnicalID gives shoots technical IDs of others.
func TestTechnicalID(t *testing.T) {
	t.Parallel()
	project := []kind.Object{admissiontest.Project()}
	id := func(id string) *gardencorev1beta1.Shoot {
		return admissiontest.Shoot(func(s *gardencorev1beta1.Shoot) { s.Status.TechnicalID = id })
	}
	ask := func(now, before string) admissiontest.Request {
		return admissiontest.Request{Object: id(now), Old: id(before), Subresource: "status"}
	}
	admissiontest.Run(t, shootvalidator.New, map[string]admissiontest.Case{
		"API-VALSHOOT-2 own":     {Reason: "the gardenlet sets it", Objects: project, Request: ask("shoot--meadow--sprout", "")},
		"API-VALSHOOT-2 none":    {Reason: "or not yet", Objects: project, Request: ask("", "")},
		"API-VALSHOOT-2 kept":    {Reason: "what is set stays, also that of an older version", Objects: project, Request: ask("shoot-meadow-sprout", "shoot-meadow-sprout")},
		"API-VALSHOOT-2 project": {Reason: "a shoot is in no other project", Objects: project, Request: ask("shoot--victim--sprout", ""), Refused: []string{"status.technicalID", `"shoot--meadow--sprout"`}},
		"API-VALSHOOT-2 name":    {Reason: "and has no other name", Objects: project, Request: ask("shoot--meadow--prod", ""), Refused: []string{"status.technicalID"}},
		"API-VALSHOOT-2 system":  {Reason: "it is in no namespace of the seed", Objects: project, Request: ask("kube-system", ""), Refused: []string{"status.technicalID"}},
	})
}
