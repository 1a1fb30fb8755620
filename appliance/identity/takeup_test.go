// SPDX-License-Identifier: Apache-2.0

package identity_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/terrarium-garden/terrarium/appliance/identity"
)

// TestTakeUpWhileRunning writes a published step file by file, and goes on when that was interrupted.
func TestTakeUpWhileRunning(t *testing.T) {
	t.Parallel()
	s := &shared{world: newWorld(t)}
	first := s.open(t, s.dir)
	second := s.other(t)
	s.leads(t, first)
	s.takeUp(t, second, false)
	for i, step := range steps(s) {
		was := s.published.Generation
		if err := step(first); err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
		// A process was killed when it had written nothing but that it is about to.
		note, err := json.Marshal(map[string]any{"generation": was.Number, "digest": was.Digest, "next": s.published.Generation})
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(second.Dir, "pki", "generation.json"), note)
		s.takeUp(t, second, true)
		same(t, "after a step", first, second)
	}
}

// TestTakeUpRefuses has keys in the datastore that must not come into use.
func TestTakeUpRefuses(t *testing.T) {
	t.Parallel()
	s := &shared{world: newWorld(t)}
	first := s.open(t, s.dir)
	second := s.other(t)
	s.leads(t, first)
	s.takeUp(t, second, false)
	old := *s.published
	if err := first.Changes.StartTokenKeyRotation(s.clk.Now()); err != nil {
		t.Fatal(err)
	}
	newer := *s.published
	files := map[string][]byte{"service-account.key": read(t, filepath.Join(first.Dir, "pki", "service-account.key"))}
	open, err := json.Marshal(files)
	if err != nil {
		t.Fatal(err)
	}
	if !reveals(open, files) || reveals(newer.Content, files) {
		t.Error("What is published is sealed.")
	}
	renumbered := old
	renumbered.Number = newer.Number + 5
	damaged := newer
	damaged.Content = bytes.Clone(newer.Content)
	damaged.Content[len(damaged.Content)/2] ^= 1
	stranger := s.open(t, filepath.Join(t.TempDir(), "stranger"))
	for _, c := range []struct {
		reason string
		by     *identity.Garden
		from   identity.Sealed
		want   error
	}{
		{"Who has newer keys does not go back to those that were given up.", first, old, identity.ErrOlderGeneration},
		{"An old value is not passed off as a newer one.", second, renumbered, identity.ErrSealed},
		{"What was changed is not opened.", second, damaged, identity.ErrSealed},
		{"Who does not have the bundle cannot open it.", stranger, newer, identity.ErrSealed},
	} {
		before := c.by.ServiceAccount.Keys().ID
		if _, err := c.by.Sharing.TakeUp(c.from, false, s.clk.Now()); !errors.Is(err, c.want) || c.by.ServiceAccount.Keys().ID != before {
			t.Errorf("%s\nTakeUp(): got %v, want %v", c.reason, err, c.want)
		}
	}

	// Keys that only this server has are not written over.
	write(t, filepath.Join(second.Dir, "pki", "service-account.key"), read(t, filepath.Join(stranger.Dir, "pki", "service-account.key")))
	if _, err := second.Sharing.TakeUp(newer, false, s.clk.Now()); !errors.Is(err, identity.ErrUnpublished) {
		t.Errorf("Keys that nobody else has are kept.\nTakeUp(): got %v, want %v", err, identity.ErrUnpublished)
	}
}

// reveals reports whether a text has one of the files in it, as it is or in base64, from its beginning to near its end.
func reveals(text []byte, files map[string][]byte) bool {
	for _, data := range files {
		coded := base64.StdEncoding.EncodeToString(data)
		if bytes.Contains(text, bytes.TrimSpace(data)) || bytes.Contains(text, []byte(coded[:len(coded)-4])) {
			return true
		}
	}

	return false
}

// TestExchangeInterrupted finds a directory of keys that was moved away for another one, which did not come.
func TestExchangeInterrupted(t *testing.T) {
	t.Parallel()
	s := &shared{world: newWorld(t)}
	first := s.open(t, s.dir)
	key := first.ServiceAccount.Keys().ID
	if err := errors.Join(first.Close(), os.Rename(filepath.Join(s.dir, "pki"), filepath.Join(s.dir, "pki.former"))); err != nil {
		t.Fatal(err)
	}
	if got := s.open(t, s.dir).ServiceAccount.Keys().ID; got != key {
		t.Errorf("The keys are those from before.\nEnsure(): got key %s, want %s", got, key)
	}
}
