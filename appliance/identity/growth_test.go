// SPDX-License-Identifier: Apache-2.0

package identity_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/terrarium-garden/terrarium/appliance/identity"
)

// later are the resources that a later version encrypts.
func later() []string { return append(identity.EncryptedResources(), "widgets.example.org") }

// TestGrowth has a later version, which encrypts one more kind of objects, on one of three servers: the keys of all are published with it,
// and the others, of the version before, take that up at once, while they run, and after they were off. Rotations go on.
func TestGrowth(t *testing.T) {
	t.Parallel()
	s := &shared{world: newWorld(t)}
	first := s.open(t, s.dir)
	second, third := s.other(t), s.other(t)
	s.leads(t, first)
	s.takeUp(t, second, false)
	s.takeUp(t, third, false)
	if err := first.Changes.StartEncryptionRotation(s.clk.Now()); err != nil {
		t.Fatal(err)
	}
	s.takeUp(t, second, false)
	if err := third.Close(); err != nil {
		t.Fatal(err)
	}
	was := *s.published

	// The second one is upgraded and takes the lead.
	path := filepath.Join(second.Dir, "pki", "encryption.yaml")
	before := read(t, path)
	s.leads(t, second)
	next, err := second.Sharing.GrowthFor(was.Generation, later())
	if err != nil || next == nil || next.Number != was.Number+1 {
		t.Fatalf("One more kind is one more generation.\nGrowth(): got %v, %v", next, err)
	}
	if !bytes.Equal(before, read(t, path)) {
		t.Error("Nothing is in use before it is published.")
	}
	s.published = next
	s.takeUp(t, second, false)
	if again, err := second.Sharing.GrowthFor(next.Generation, later()); err != nil || again != nil {
		t.Errorf("It is published once.\nGrowth(): got %v, %v", again, err)
	}
	grown := string(read(t, path))
	if !strings.Contains(grown, "widgets.example.org") || keyIn(t, string(before)) != keyIn(t, grown) {
		t.Errorf("The further kind is encrypted with the key that is there.\ngot %s", grown)
	}
	s.takeUp(t, first, true)
	same(t, "one of the version before that runs takes it up", second, first)
	third = s.open(t, third.Dir)
	s.takeUp(t, third, false)
	same(t, "one of the version before that was off takes it up", second, third)
	for _, g := range []*identity.Garden{first, third} {
		if err := g.Close(); err != nil {
			t.Fatal(err)
		}
		g = s.open(t, g.Dir)
		same(t, "after a restart", second, g)
		if held, err := identity.HasGeneration(g.Dir, next.Generation); err != nil || !held {
			t.Errorf("A start changes none of the keys that are published.\nHasGeneration(): got %t, %v", held, err)
		}
	}
	if err := second.Changes.StartTokenKeyRotation(s.clk.Now()); err != nil {
		t.Errorf("Rotations go on: %v", err)
	}
}

// keyIn returns the secret in a configuration.
func keyIn(t *testing.T, text string) string {
	t.Helper()
	_, rest, found := strings.Cut(text, "secret: ")
	if !found {
		t.Fatalf("there is no key in %s", text)
	}
	secret, _, _ := strings.Cut(rest, "\n")

	return secret
}

// TestGrowthRefuses has keys that no rotation has made, and a configuration without what was always encrypted: neither is published.
func TestGrowthRefuses(t *testing.T) {
	t.Parallel()
	s := &shared{world: newWorld(t)}
	first := s.open(t, s.dir)
	s.leads(t, first)
	older := s.published.Generation
	if err := first.Changes.StartTokenKeyRotation(s.clk.Now()); err != nil {
		t.Fatal(err)
	}
	if _, err := first.Sharing.GrowthFor(older, later()); !errors.Is(err, identity.ErrUnpublished) {
		t.Errorf("Only the generation that is published grows.\nGrowth(): got %v", err)
	}
	path := filepath.Join(s.dir, "pki", "encryption.yaml")
	write(t, path, bytes.Replace(read(t, path), []byte("secret: "), []byte("secret: AA"), 1))
	if _, err := first.Sharing.GrowthFor(s.published.Generation, later()); !errors.Is(err, identity.ErrUnpublished) {
		t.Errorf("Keys that somebody has changed are not published.\nGrowth(): got %v", err)
	}
}

// TestGrowAlone is a later version on a garden whose keys no other server uses.
func TestGrowAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.ensure(t, names())
	path := w.path("pki", "encryption.yaml")
	before := string(read(t, path))
	if err := g.Sharing.Grow(); err != nil || string(read(t, path)) != before {
		t.Errorf("What is complete stays as it is.\nGrow(): got %v", err)
	}
	if err := g.Sharing.GrowFor(later()); err != nil {
		t.Fatal(err)
	}
	if is := string(read(t, path)); !strings.Contains(is, "widgets.example.org") || keyIn(t, is) != keyIn(t, before) {
		t.Errorf("The further kind is encrypted with the key that is there.\ngot %s", is)
	}
	w.ensure(t, names())
}
