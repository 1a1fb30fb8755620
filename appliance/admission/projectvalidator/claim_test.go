// SPDX-License-Identifier: Apache-2.0

package projectvalidator_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/projectvalidator"
)

// TestAtOnce asks for one namespace twice, before anything was written.
func TestAtOnce(t *testing.T) {
	t.Parallel()
	g := admissiontest.New(t, nil)
	rule := projectvalidator.New(g.World)
	other := admissiontest.Project(func(p *project) { p.Name = "other" })
	var got []string
	for _, p := range []*project{admissiontest.Project(), other, admissiontest.Project()} {
		got = append(got, fmt.Sprint(g.Ask(rule, admissiontest.Request{Object: p})))
	}
	want := []string{"<nil>", `projects.core.gardener.cloud "other" is forbidden: another request has just requested namespace "garden-meadow"; use another one, or try again in two minutes`, "<nil>"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("API-RRM-8: the first one gets it, the other is refused, and who has asked may ask again (-want +got):\n%s", diff)
	}
}
