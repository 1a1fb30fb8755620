// SPDX-License-Identifier: Apache-2.0

package shoot_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

func TestBinding(t *testing.T) {
	t.Parallel()
	none := func(*object) {}
	for name, tc := range map[string]struct {
		reason string
		// bound is the seed that the shoot is on already, status how it does, change what is asked of shoots/binding.
		bound          string
		status, change func(*object)
		refusal        string
		pending        bool
		grows          bool
	}{
		"API-BIND-1 first":        {reason: "a shoot gets its seed", status: none, change: seeded("a"), grows: true},
		"API-BIND-1 other":        {reason: "and may get another one", bound: "b", status: none, change: seeded("a"), grows: true},
		"API-BIND-1 same":         {reason: "twice the same is a mistake", bound: "a", status: none, change: seeded("a"), refusal: "bound to this seed already"},
		"API-BIND-1 none":         {reason: "a seed cannot be taken away", bound: "a", status: none, change: func(s *object) { s.Spec.SeedName = nil }, refusal: "names a seed"},
		"API-SHOOTSTRAT-8 clears": {reason: "the note that no seed was found goes", status: last("Create", "Pending"), change: seeded("a"), grows: true},
		"API-SHOOTSTRAT-8 keeps":  {reason: "any other operation stays", status: last("Create", "Processing"), change: seeded("a"), pending: true, grows: true},
		"API-BIND-2": {
			reason: "nothing else changes with a new seed", bound: "b", status: none,
			change: func(s *object) {
				seeded("a")(s)
				s.Spec.Purpose = new(gardencorev1beta1.ShootPurposeTesting)
			},
			refusal: "only the seed can change",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			s := w.main.MustCreate(w.ctx, sprout())
			if tc.bound != "" {
				seeded(tc.bound)(s)
				s = w.binding.MustUpdate(w.ctx, s)
			}
			tc.status(s)
			s = w.status.MustUpdate(w.ctx, s)
			before := s.Generation
			tc.change(s)
			got, err := w.binding.Update(w.ctx, s)
			if tc.refusal != "" {
				if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), tc.refusal) {
					t.Errorf("%s\nUpdate: got %v, want Invalid with %q", tc.reason, err, tc.refusal)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s\nUpdate: %v", tc.reason, err)
			}
			type outcome struct{ Grown, Pending bool }
			is := outcome{Grown: got.Generation == before+1, Pending: got.Status.LastOperation != nil}
			if diff := cmp.Diff(outcome{Grown: tc.grows, Pending: tc.pending}, is); diff != "" {
				t.Errorf("%s\ngeneration %d after %d, last operation %v (-want +got):\n%s", tc.reason, got.Generation, before, got.Status.LastOperation, diff)
			}
		})
	}
}

func TestSeedByUpdate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.main.MustCreate(w.ctx, sprout())
	seeded("a")(s)
	if _, err := w.main.Update(w.ctx, s); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "shoots/binding") {
		t.Errorf("API-BIND-1: an ordinary update says how to do it\nUpdate: got %v", err)
	}
}
