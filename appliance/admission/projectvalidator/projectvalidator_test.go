// SPDX-License-Identifier: Apache-2.0

package projectvalidator_test

import (
	"testing"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/projectvalidator"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

type project = gardencorev1beta1.Project

func TestValidate(t *testing.T) {
	t.Parallel()
	other := func(p *project) { p.Name = "other" }
	nowhere := func(p *project) { p.Spec.Namespace = nil }
	taken := []kind.Object{admissiontest.Project()}
	admissiontest.Run(t, projectvalidator.New, map[string]admissiontest.Case{
		"API-RRM-8 taken":     {Reason: "a namespace has one project", Objects: taken, Request: admissiontest.Request{Object: admissiontest.Project(other)}, Refused: []string{`namespace "garden-meadow" belongs to project "meadow"`}},
		"API-RRM-8 update":    {Reason: "also later", Objects: taken, Request: admissiontest.Request{Object: admissiontest.Project(other), Old: admissiontest.Project(other, nowhere)}, Refused: []string{"garden-meadow"}},
		"API-RRM-8 own":       {Reason: "its own", Objects: taken, Request: admissiontest.Request{Object: admissiontest.Project(), Old: admissiontest.Project(nowhere)}},
		"API-RRM-8 unchanged": {Reason: "what stays is not looked at", Objects: taken, Request: admissiontest.Request{Object: admissiontest.Project(other), Old: admissiontest.Project(other)}},
		"API-RRM-8 none":      {Reason: "without a namespace there is no quarrel", Objects: taken, Request: admissiontest.Request{Object: admissiontest.Project(other, nowhere)}},
	})
}
