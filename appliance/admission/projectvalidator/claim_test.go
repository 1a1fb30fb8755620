// SPDX-License-Identifier: Apache-2.0

package projectvalidator_test

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/projectvalidator"
)

// TestAtOnce asks for one namespace twice, before anything was written.
func TestAtOnce(t *testing.T) {
	t.Parallel()
	g := admissiontest.New(t, nil)
	rule := projectvalidator.New(g.World)
	if err := g.Ask(rule, admissiontest.Request{Object: admissiontest.Project()}); err != nil {
		t.Fatalf("the first one gets it: %v", err)
	}
	other := admissiontest.Project(func(p *project) { p.Name = "other" })
	if err := g.Ask(rule, admissiontest.Request{Object: other}); !apierrors.IsForbidden(err) {
		t.Errorf("API-RRM-8: of two requests at once one is refused, got %v", err)
	}
	if err := g.Ask(rule, admissiontest.Request{Object: admissiontest.Project()}); err != nil {
		t.Errorf("API-RRM-8: who has asked may ask again, got %v", err)
	}
}
