// SPDX-License-Identifier: Apache-2.0

package identity_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/appliance/identity"
)

// encryptionKeys returns the ids of the keys in the order of the file.
func (w world) encryptionKeys(t *testing.T) []string {
	t.Helper()
	items, err := identity.Inspect(w.dir, w.clk.Now())
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, item := range items {
		if item.Name == "encryption" {
			keys = append(keys, item.Subject)
		}
	}

	return keys
}

// TestEncryptionRotation ends the process after each step.
func TestEncryptionRotation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.ensure(t, names())
	former := w.encryptionKeys(t)[0]
	if r, err := g.Encryption.Rotation(); r != nil || err != nil {
		t.Errorf("a new garden rotates nothing: got %+v, %v", r, err)
	}
	w.clk.SetTime(w.clk.Now().Add(day))
	results := make(chan error)
	const starters = 8
	for range starters {
		go func() { results <- g.Changes.StartEncryptionRotation(w.clk.Now()) }()
	}
	started := 0
	for range starters {
		switch err := <-results; {
		case err == nil:
			started++
		case !errors.Is(err, identity.ErrRotating):
			t.Errorf("a second rotation: got %v, want ErrRotating", err)
		}
	}
	if started != 1 {
		t.Fatalf("rotations that began at the same time: got %d, want 1", started)
	}
	r, err := g.Encryption.Rotation()
	if err != nil {
		t.Fatal(err)
	}
	fresh := r.Key
	steps := []struct {
		step identity.EncryptionStep
		want []string
	}{
		{identity.EncryptionAdd, []string{former, fresh}},
		{identity.EncryptionWrite, []string{fresh, former}},
		{identity.EncryptionRewrite, []string{fresh, former}},
		{identity.EncryptionRemove, []string{fresh}},
		{identity.EncryptionEnd, []string{fresh}},
	}
	for i, s := range steps {
		g = w.ensure(t, names())
		for _, other := range slices.Delete(slices.Clone(steps), i, i+1) {
			if err := g.Changes.AdvanceEncryptionRotation(other.step, w.clk.Now()); err == nil {
				t.Errorf("step %q instead of %q is refused", other.step, s.step)
			}
		}
		if err := g.Changes.AdvanceEncryptionRotation(s.step, w.clk.Now()); err != nil {
			t.Fatalf("AdvanceEncryptionRotation(%q) = %v", s.step, err)
		}
		if diff := cmp.Diff(s.want, w.encryptionKeys(t)); diff != "" {
			t.Errorf("keys after %q, the first one writes (-want +got):\n%s", s.step, diff)
		}
		checkModes(t, w.dir)
	}
	if r, err := w.ensure(t, names()).Encryption.Rotation(); r != nil || err != nil {
		t.Errorf("the rotation is over: got %+v, %v", r, err)
	}
}

func TestEncryptionRotationRefused(t *testing.T) {
	t.Parallel()
	for reason, change := range map[string]func(string) string{
		"Several providers": func(s string) string {
			return strings.Replace(s, "\n  resources:\n", "\n  - identity: {}\n  resources:\n", 1)
		},
		"Other resources": func(s string) string { return strings.Replace(s, "- secrets\n", "- secrets\n  - configmaps\n", 1) },
	} {
		w := newWorld(t)
		w.ensure(t, names())
		before := string(read(t, w.path("pki", "encryption.yaml")))
		after := change(before)
		if after == before {
			t.Fatalf("%s: the file did not change:\n%s", reason, before)
		}
		write(t, w.path("pki", "encryption.yaml"), []byte(after))
		g := w.ensure(t, names())
		if err := g.Changes.StartEncryptionRotation(w.clk.Now()); !errors.Is(err, identity.ErrEncryptionFixed) {
			t.Errorf("%s: got %v, want ErrEncryptionFixed", reason, err)
		}
	}
}
