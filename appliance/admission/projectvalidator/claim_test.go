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
	if err := g.Ask(rule, admissiontest.Request{Object: other, DryRun: true}); err != nil {
		t.Errorf("API-RRM-8: a dry run asks as well: %v", err)
	}
	var got []string
	for _, p := range []*project{admissiontest.Project(), other, admissiontest.Project()} {
		got = append(got, fmt.Sprint(g.Ask(rule, admissiontest.Request{Object: p})))
	}
	want := []string{"<nil>", `projects.core.gardener.cloud "other" is forbidden: another request has just requested namespace "garden-meadow"; use another one, or try again in two minutes`, "<nil>"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("API-RRM-8: the first one gets it, the other is refused, and who has asked may ask again (-want +got):\n%s", diff)
	}
}

// TestRefusedClaimNothing asks for a namespace by requests that are refused, and then by one that is not.
func TestRefusedClaimNothing(t *testing.T) {
	t.Parallel()
	taken := func(p *project) { p.Name, p.Spec.Namespace = "taken", new("garden-taken") }
	wanted := admissiontest.Project(func(p *project) { p.Name, p.Spec.Namespace = "wanted", new("garden-wanted") })
	named := func(name, namespace string) *project {
		return admissiontest.Project(func(p *project) { p.Name, p.Spec.Namespace = name, &namespace })
	}
	for name, tc := range map[string]struct {
		reason  string
		refused admissiontest.Request
		wanted  *project
		want    string
	}{
		"name taken": {
			"who makes a project that exists gets no namespace for it",
			admissiontest.Request{Object: named("taken", "garden-wanted")},
			wanted,
			`projects.core.gardener.cloud "taken" already exists`,
		},
		"namespace taken": {
			"the project of a namespace is not kept from it by others",
			admissiontest.Request{Object: named("other", "garden-taken")},
			named("taken", "garden-taken"),
			`projects.core.gardener.cloud "other" is forbidden: namespace "garden-taken" belongs to project "taken"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := admissiontest.New(t, nil, admissiontest.Project(taken))
			rule := projectvalidator.New(g.World)
			request := admissiontest.Request{Object: tc.wanted}
			if tc.wanted.Name == "taken" {
				request.Old = admissiontest.Project(taken, func(p *project) { p.Spec.Namespace = nil })
			}
			got := []string{fmt.Sprint(g.Ask(rule, tc.refused)), fmt.Sprint(g.Ask(rule, request))}
			if diff := cmp.Diff([]string{tc.want, "<nil>"}, got); diff != "" {
				t.Errorf("API-RRM-8: %s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
