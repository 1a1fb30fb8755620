// SPDX-License-Identifier: Apache-2.0

package identity_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/terrarium-garden/terrarium/appliance/identity"
)

// refuses checks that a server neither takes up what is published, nor publishes what it has.
func (s *shared) refuses(t *testing.T, g *identity.Garden, reason string) {
	t.Helper()
	if _, err := g.Sharing.TakeUp(*s.published, false, s.clk.Now()); !errors.Is(err, identity.ErrUnpublished) || !strings.Contains(err.Error(), "bundle publish") {
		t.Errorf("Keys that changed beside the rotations are reported, %s.\nTakeUp(): got %v, want %v", reason, err, identity.ErrUnpublished)
	}
	if own, err := g.Sharing.Proposal(&s.published.Generation); !errors.Is(err, identity.ErrUnpublished) || own != nil {
		t.Errorf("They are not published by themselves, %s.\nProposal(): got %v, %v, want %v", reason, own, err, identity.ErrUnpublished)
	}
}

// copyKeys copies keys, as who unpacks a backup over a directory does.
func copyKeys(t *testing.T, from, to string) {
	t.Helper()
	entries, err := os.ReadDir(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(to, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != "generation.json" {
			write(t, filepath.Join(to, e.Name()), read(t, filepath.Join(from, e.Name())))
		}
	}
}

// rotateEncryption makes all steps of a change of the key with which objects are stored.
func rotateEncryption(t *testing.T, s *shared, g *identity.Garden) {
	t.Helper()
	all := steps(s)
	for _, step := range all[len(all)-6:] {
		if err := step(g); err != nil {
			t.Fatal(err)
		}
	}
}

// TestOldKeysAreNotPublished unpacks an old copy of the keys over the directory of a server, which then leads: no other server may lose the
// key with which all objects are stored.
func TestOldKeysAreNotPublished(t *testing.T) {
	t.Parallel()
	s := &shared{world: newWorld(t)}
	first := s.open(t, s.dir)
	second := s.other(t)
	s.leads(t, first)
	s.takeUp(t, second, false)
	old := filepath.Join(t.TempDir(), "old")
	copyKeys(t, filepath.Join(second.Dir, "pki"), old)
	rotateEncryption(t, s, first)
	s.takeUp(t, second, false)
	copyKeys(t, old, filepath.Join(second.Dir, "pki"))
	s.refuses(t, second, "on the server that stands by")
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	second = s.open(t, second.Dir)
	s.refuses(t, second, "after a start")
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}

	// A permission is for the keys that were there.
	allowed := func() {
		t.Helper()
		if err := identity.AllowPublication(second.Dir); err != nil {
			t.Fatal(err)
		}
	}
	allowed()
	file := filepath.Join(second.Dir, "pki", "service-account.key")
	key := read(t, file)
	stranger := s.open(t, filepath.Join(t.TempDir(), "stranger"))
	write(t, file, read(t, filepath.Join(stranger.Dir, "pki", "service-account.key")))
	second = s.open(t, second.Dir)
	s.refuses(t, second, "if others were meant")
	write(t, file, key)
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}

	// Somebody insists. The other server takes them up, and keeps what it had.
	newest := read(t, filepath.Join(first.Dir, "pki", "encryption.yaml"))
	if got := former(t, first.Dir); len(got) != 0 {
		t.Fatalf("Nothing is kept before: got %d", len(got))
	}
	second = s.open(t, second.Dir)
	was := s.published.Number
	s.leads(t, second)
	if s.published.Number != was+1 {
		t.Fatalf("What was allowed is published: got generation %d after %d", s.published.Number, was)
	}
	s.takeUp(t, first, false)
	same(t, "after all", first, second)
	if got := former(t, first.Dir); len(got) != 1 || !bytes.Equal(got[0], newest) {
		t.Errorf("A key with which objects may be stored is kept: got %d files", len(got))
	}
	if _, err := os.Stat(filepath.Join(second.Dir, "publish-keys.json")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("The permission is for once: got %v", err)
	}
}

// former are the configurations with keys that were kept beside a directory.
func former(t *testing.T, dir string) [][]byte {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "pki.before-*", "encryption.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var all [][]byte
	for _, file := range found {
		all = append(all, read(t, file))
	}

	return all
}

// TestRotatedKeysAreNotKept takes up all steps of a rotation: the one that removes the former key leaves no copy of it.
func TestRotatedKeysAreNotKept(t *testing.T) {
	t.Parallel()
	s := &shared{world: newWorld(t)}
	first := s.open(t, s.dir)
	second, third := s.other(t), s.other(t)
	s.leads(t, first)
	s.takeUp(t, second, false)
	s.takeUp(t, third, false)
	for _, step := range steps(s) {
		if err := step(first); err != nil {
			t.Fatal(err)
		}
		s.takeUp(t, second, false)
	}
	if got := former(t, second.Dir); len(got) != 0 {
		t.Errorf("A rotation gives the former key up: got %d copies", len(got))
	}
	s.takeUp(t, third, false)
	if got := former(t, third.Dir); len(got) != 1 {
		t.Errorf("Who has not seen the rotation keeps a copy: got %d copies", len(got))
	}
}

// TestChangedWhileLeading changes a file under a server that leads: its next step does not publish that.
func TestChangedWhileLeading(t *testing.T) {
	t.Parallel()
	s := &shared{world: newWorld(t)}
	first := s.open(t, s.dir)
	s.leads(t, first)
	stranger := s.open(t, filepath.Join(t.TempDir(), "stranger"))
	write(t, filepath.Join(s.dir, "pki", "encryption.yaml~"), []byte("left by an editor"))
	if err := first.Changes.StartWorkloadIdentityRotation(s.clk.Now()); err != nil {
		t.Errorf("A file that is no key does not matter: got %v", err)
	}
	write(t, filepath.Join(s.dir, "pki", "encryption.yaml"), read(t, filepath.Join(stranger.Dir, "pki", "encryption.yaml")))
	was := s.published.Generation
	if err := first.Changes.StartTokenKeyRotation(s.clk.Now()); !errors.Is(err, identity.ErrUnpublished) || s.published.Generation != was {
		t.Errorf("A step publishes what it has changed alone.\nStartTokenKeyRotation(): got %v, want %v", err, identity.ErrUnpublished)
	}
}
