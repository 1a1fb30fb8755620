// SPDX-License-Identifier: Apache-2.0

package shootvalidator_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

// TestOrder makes requests with several faults: the first one is answered alone, until only fields are left, which are
// answered together (API-SVAL-1).
func TestOrder(t *testing.T) {
	t.Parallel()
	full := garden(admissiontest.Seed("a", backed), admissiontest.Seed("b", backed, limited("0")))
	long := func(s *shoot) { s.Name = "sixteen-letters1" }
	moving := func(s *shoot) {
		s.Status.LastOperation = &gardencorev1beta1.LastOperation{Type: "Migrate", State: "Processing"}
		s.Status.Constraints = []gardencorev1beta1.Condition{{Type: "HibernationPossible", Status: "False", Message: "a webhook is in the way"}}
	}
	sleepless := func(s *shoot) { moving(s); s.Status.LastOperation = nil }
	asleep := func(s *shoot) { s.Spec.Hibernation = &gardencorev1beta1.Hibernation{Enabled: new(true)} }
	unknown := func(s *shoot) { s.Spec.Region, s.Spec.Provider.Workers[0].Machine.Type = "nowhere", "huge" }
	change := func(before func(*shoot), after ...func(*shoot)) admissiontest.Request {
		old := []func(*shoot){networked, on("a"), before}
		return admissiontest.Request{Object: admissiontest.Shoot(append(old, after...)...), Old: admissiontest.Shoot(old...)}
	}
	const (
		membership, scheduling, deletion, hibernation = "at most 21 characters", "cannot host the shoot", "cannot change now", "a webhook is in the way"
		region, machine                               = "spec.region", "machine.type"
	)
	all := []string{membership, scheduling, deletion, hibernation, region, machine}
	for name, tc := range map[string]struct {
		objects []kind.Object
		request admissiontest.Request
		want    []string
	}{
		"membership before scheduling":  {full, create(networked, long, on("b"), unknown), []string{membership}},
		"scheduling before deletion":    {full, change(moving, on("b"), asleep, unknown), []string{scheduling}},
		"deletion before hibernation":   {full, change(moving, asleep, unknown), []string{deletion}},
		"hibernation before fields":     {full, change(sleepless, asleep, unknown), []string{hibernation}},
		"fields together":               {full, change(func(*shoot) {}, unknown), []string{region, machine}},
		"unchanged":                     {full, change(func(s *shoot) { moving(s); asleep(s); unknown(s) }), nil},
		"unchanged, but for its labels": {full, change(func(s *shoot) { moving(s); unknown(s) }, func(s *shoot) { s.Labels = map[string]string{"a": "b"} }), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := admissiontest.New(t, []string{"rose update shoots/binding garden-meadow/sixteen-letters1"}, tc.objects...)
			answer := ""
			if err := g.Ask(completed(g.World), tc.request); err != nil {
				answer = err.Error()
			}
			var got []string
			for _, fault := range all {
				if strings.Contains(answer, fault) {
					got = append(got, fault)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || (answer == "") != (tc.want == nil) {
				t.Errorf("API-SVAL-1: the faults that the answer names (-want +got):\n%s\nanswer: %s", diff, answer)
			}
		})
	}
}
