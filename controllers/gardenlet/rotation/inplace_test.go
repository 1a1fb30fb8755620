// SPDX-License-Identifier: Apache-2.0

package rotation_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/rotation"
)

// TestPendingPoolsKeepPreparing: as long as machines wait for their owner, authorities and the key of service accounts are not prepared, and
// the encryption key, which has nothing to do with machines, is.
func TestPendingPoolsKeepPreparing_GLET_CRED_8(t *testing.T) {
	t.Parallel()
	pending := func(auto, manual []string) *gardencorev1beta1.InPlaceUpdatesStatus {
		return &gardencorev1beta1.InPlaceUpdatesStatus{PendingWorkerUpdates: &gardencorev1beta1.PendingWorkerUpdates{AutoInPlaceUpdate: auto, ManualInPlaceUpdate: manual}}
	}
	s := plant(asks("rotate-credentials-start"))
	rotation.Begin(s, at(1))
	for _, step := range []struct {
		reason string
		listed *gardencorev1beta1.InPlaceUpdatesStatus
		want   [3]phase
	}{
		{"a pool waits for its owner", pending(nil, []string{"a"}), [3]phase{"Preparing", "Preparing", "Prepared"}},
		{"and still does", pending(nil, []string{"a"}), [3]phase{"Preparing", "Preparing", "Prepared"}},
		{"it is updated", nil, [3]phase{"Prepared", "Prepared", "Prepared"}},
	} {
		s.Status.InPlaceUpdates = step.listed
		rotation.Succeed(s, true, at(2))
		if diff := cmp.Diff(step.want, phases(s)); diff != "" {
			t.Errorf("%s: phases (-want +got):\n%s", step.reason, diff)
		}
	}
	s = plant(asks("rotate-ca-start-without-workers-rollout"))
	rotation.Begin(s, at(1))
	s.Status.InPlaceUpdates = pending(nil, []string{"a"})
	rotation.Succeed(s, true, at(2))
	if got := phases(s)[0]; got != "WaitingForWorkersRollout" {
		t.Errorf("the rollout was not asked for, and the rotation is %s", got)
	}
	asks("rotate-rollout-workers=a,b")(s)
	rotation.Begin(s, at(3))
	rotation.Succeed(s, true, at(4))
	if got := phases(s)[0]; got != "WaitingForWorkersRollout" {
		t.Errorf("a pool waits for its owner, and the rotation is %s", got)
	}
	s.Status.InPlaceUpdates = pending([]string{"b"}, nil)
	rotation.Succeed(s, true, at(5))
	if got := phases(s)[0]; got != "Prepared" {
		t.Errorf("nothing waits for the owner, and the rotation is %s", got)
	}
}

// TestForcedChangesAreAnswered: the permission to change a pool in the middle of an update goes with the run that carries the change out.
func TestForcedChangesAreAnswered(t *testing.T) {
	t.Parallel()
	want := []rotation.Answer{{Operation: "force-in-place-update"}}
	if diff := cmp.Diff(want, rotation.Begin(plant(asks("force-in-place-update")), at(1))); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
}
