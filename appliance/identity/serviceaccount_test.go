// SPDX-License-Identifier: Apache-2.0

package identity_test

import (
	"errors"
	"testing"

	"github.com/terrarium-garden/terrarium/appliance/identity"
)

func TestTokenKeyRotation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.ensure(t, names())
	first := g.ServiceAccount.Keys()
	if first.Rotating() || len(first.Accepted) != 1 {
		t.Errorf("a new garden has one key: got %d", len(first.Accepted))
	}
	if err := g.Changes.CompleteTokenKeyRotation(first.ID, w.clk.Now()); !errors.Is(err, identity.ErrNotRotating) {
		t.Errorf("complete before start: got %v, want ErrNotRotating", err)
	}
	if err := g.Changes.StartTokenKeyRotation(w.clk.Now()); err != nil {
		t.Fatalf("StartTokenKeyRotation(...) = %v", err)
	}
	second := g.ServiceAccount.Keys()
	if !second.Rotating() || second.ID == first.ID || !second.Since.Equal(w.clk.Now()) {
		t.Errorf("a rotation has a new key since now: got %+v", second)
	}
	if err := g.Changes.StartTokenKeyRotation(w.clk.Now()); !errors.Is(err, identity.ErrRotating) {
		t.Errorf("start before complete: got %v, want ErrRotating", err)
	}
	checkModes(t, w.dir)

	g = w.ensure(t, names())
	again := g.ServiceAccount.Keys()
	if again.ID != second.ID || !again.Rotating() || !again.Since.Equal(second.Since) {
		t.Errorf("a restart goes on with the rotation: got %+v, want %+v", again, second)
	}
	files, err := identity.Portable(w.dir)
	if _, ok := files["pki/service-account-former.pub"]; !ok || err != nil {
		t.Errorf("a snapshot has the former key: %v", err)
	}
	states := map[string]identity.State{}
	items, err := identity.Inspect(w.dir, w.clk.Now())
	for _, item := range items {
		states[item.Subject] = item.State
	}
	if err != nil || states[second.ID] != identity.StateOK || states[first.ID] != identity.StateRotating {
		t.Errorf("Inspect(...) = %v, %v", states, err)
	}

	if err := g.Changes.CompleteTokenKeyRotation(first.ID, w.clk.Now()); !errors.Is(err, identity.ErrNotRotating) {
		t.Errorf("complete another rotation than the one that goes on: got %v, want ErrNotRotating", err)
	}
	if err := g.Changes.CompleteTokenKeyRotation(second.ID, w.clk.Now()); err != nil || g.ServiceAccount.Keys().Rotating() || g.ServiceAccount.Keys().ID != second.ID {
		t.Fatalf("CompleteTokenKeyRotation() = %v, keys %+v", err, g.ServiceAccount.Keys())
	}
	if again := w.ensure(t, names()).ServiceAccount.Keys(); again.Rotating() || again.ID != second.ID {
		t.Errorf("after a restart the former key is still gone: got %+v", again)
	}
}

// TestTokenKeyRotationInterrupted ends the process between the two steps of a start.
func TestTokenKeyRotationInterrupted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.ensure(t, names())
	before, key := g.ServiceAccount.Keys().ID, read(t, w.path("pki", "service-account.key"))
	if err := g.Changes.StartTokenKeyRotation(w.clk.Now()); err != nil {
		t.Fatal(err)
	}
	write(t, w.path("pki", "service-account.key"), key)
	g = w.ensure(t, names())
	if is := g.ServiceAccount.Keys(); is.Rotating() || is.ID != before {
		t.Errorf("an interrupted start changes nothing: got %+v, want key %q", is, before)
	}
	if err := g.Changes.StartTokenKeyRotation(w.clk.Now()); err != nil || !g.ServiceAccount.Keys().Rotating() {
		t.Errorf("a start after an interrupted one: %v", err)
	}
}
