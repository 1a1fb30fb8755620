// SPDX-License-Identifier: Apache-2.0

package identity_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/terrarium-garden/terrarium/appliance/identity"
)

// TestSameNumber has two servers that both made a generation of one number, because the datastore has lost its last write in between.
func TestSameNumber(t *testing.T) {
	t.Parallel()
	s := &shared{world: newWorld(t)}
	first := s.open(t, s.dir)
	second := s.other(t)
	s.leads(t, first)
	s.takeUp(t, second, false)
	lost := s.published
	if err := first.Changes.StartTokenKeyRotation(s.clk.Now()); err != nil {
		t.Fatal(err)
	}
	s.published = lost
	s.leads(t, second)
	if err := second.Changes.StartTokenKeyRotation(s.clk.Now()); err != nil {
		t.Fatal(err)
	}
	key := first.ServiceAccount.Keys().ID
	_, err := first.Sharing.TakeUp(*s.published, false, s.clk.Now())
	if !errors.Is(err, identity.ErrOlderGeneration) || first.ServiceAccount.Keys().ID != key {
		t.Errorf("A generation is not made twice.\nTakeUp(): got %v, want %v", err, identity.ErrOlderGeneration)
	}
	for _, way := range []string{"terrarium bundle publish", "terrarium bundle import --force"} {
		if !strings.Contains(err.Error(), way) {
			t.Errorf("The error says what to do: got %v, want %s", err, way)
		}
	}

	// Somebody decides for the one that was lost.
	if err := errors.Join(first.Close(), identity.AllowPublication(s.dir)); err != nil {
		t.Fatal(err)
	}
	first = s.open(t, s.dir)
	s.leads(t, first)
	s.takeUp(t, second, false)
	same(t, "after a decision", first, second)
	if first.ServiceAccount.Keys().ID != key {
		t.Error("The newest keys are kept.")
	}
}

// TestBundleHasGeneration imports a bundle, after which no older keys are passed off on the new server.
func TestBundleHasGeneration(t *testing.T) {
	t.Parallel()
	s := &shared{world: newWorld(t)}
	first := s.open(t, s.dir)
	s.leads(t, first)
	old := *s.published
	rotateEncryption(t, s, first)
	second := s.other(t)
	if _, err := second.Sharing.TakeUp(old, false, s.clk.Now()); !errors.Is(err, identity.ErrOlderGeneration) {
		t.Errorf("A new server takes up nothing older than its bundle.\nTakeUp(): got %v, want %v", err, identity.ErrOlderGeneration)
	}
	if took, err := second.Sharing.TakeUp(*s.published, false, s.clk.Now()); err != nil || took {
		t.Errorf("It has the newest keys already.\nTakeUp(): got %t, %v", took, err)
	}
	if is, err := second.Sharing.Held(); err != nil || is != s.published.Generation {
		t.Errorf("Held(): got %+v, %v, want %+v", is, err, s.published.Generation)
	}

	// What somebody has changed is not given to others.
	write(t, filepath.Join(s.dir, "pki", "service-account.key"), read(t, filepath.Join(s.open(t, filepath.Join(t.TempDir(), "stranger")).Dir, "pki", "service-account.key")))
	if _, err := identity.Shared(s.dir); !errors.Is(err, identity.ErrUnpublished) {
		t.Errorf("A bundle has a generation.\nShared(): got %v, want %v", err, identity.ErrUnpublished)
	}
}

// TestLostRecord finds no keys in a datastore where there were some.
func TestLostRecord(t *testing.T) {
	t.Parallel()
	s := &shared{world: newWorld(t)}
	first := s.open(t, s.dir)
	s.leads(t, first)
	if err := first.Changes.StartTokenKeyRotation(s.clk.Now()); err != nil {
		t.Fatal(err)
	}
	if own, err := first.Sharing.Proposal(nil); !errors.Is(err, identity.ErrLost) || own != nil {
		t.Errorf("It does not begin anew by itself.\nProposal(): got %v, %v, want %v", own, err, identity.ErrLost)
	}
	if err := errors.Join(first.Close(), identity.AllowPublication(s.dir)); err != nil {
		t.Fatal(err)
	}
	first = s.open(t, s.dir)
	if own, err := first.Sharing.Proposal(nil); err != nil || own == nil || own.Number != s.published.Number+1 {
		t.Errorf("It goes on if somebody says so.\nProposal(): got %v, %v", own, err)
	}
}

// TestHalfWrittenIsNotPublished finds a directory in which some files of a generation are not written yet.
func TestHalfWrittenIsNotPublished(t *testing.T) {
	t.Parallel()
	s := &shared{world: newWorld(t)}
	first := s.open(t, s.dir)
	s.leads(t, first)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(s.dir, "pki", "generation.json"), []byte(`{"generation":1,"digest":"a","next":{"generation":2,"digest":"b"}}`))
	if err := identity.AllowPublication(s.dir); !errors.Is(err, identity.ErrHalfWritten) {
		t.Errorf("AllowPublication(): got %v, want %v", err, identity.ErrHalfWritten)
	}
	if _, err := os.Stat(filepath.Join(s.dir, "publish-keys.json")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Nothing is allowed: got %v", err)
	}
}

// TestUnusableKeys takes up keys that are damaged, again and again: the error is the same each time, so it is logged once.
func TestUnusableKeys(t *testing.T) {
	t.Parallel()
	s := &shared{world: newWorld(t)}
	first := s.open(t, s.dir)
	second := s.other(t)
	s.leads(t, first)
	s.takeUp(t, second, false)
	write(t, filepath.Join(s.dir, "pki", "client-ca.key"), []byte("damaged"))
	if err := identity.AllowPublication(s.dir); err != nil {
		t.Fatal(err)
	}
	damaged, err := first.Sharing.Proposal(&s.published.Generation)
	if err != nil || damaged == nil {
		t.Fatalf("Proposal(): got %v, %v", damaged, err)
	}
	key := second.ServiceAccount.Keys().ID
	_, once := second.Sharing.TakeUp(*damaged, false, s.clk.Now())
	_, again := second.Sharing.TakeUp(*damaged, false, s.clk.Now())
	if once == nil || again == nil || once.Error() != again.Error() || !strings.Contains(once.Error(), "client-ca.key") || second.ServiceAccount.Keys().ID != key {
		t.Errorf("TakeUp(): got %v, and then %v", once, again)
	}
}
