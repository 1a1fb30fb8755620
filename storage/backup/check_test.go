// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// checked verifies a snapshot, waits, and returns what became of it.
func (g *garden) checked(k *Keeper, name string) Check {
	g.tb.Helper()
	if err := k.Check(g.tb.Context(), name); err != nil {
		g.tb.Fatalf("check %q: %v", name, err)
	}
	k.checking.Wait()
	for _, kept := range g.list(k) {
		if kept.Name == name {
			return *kept.Check
		}
	}
	g.tb.Fatalf("%q is gone", name)

	return Check{}
}

func (g *garden) list(k *Keeper) []Kept {
	g.tb.Helper()
	found, err := k.List(g.tb.Context())
	if err != nil {
		g.tb.Fatal(err)
	}

	return found
}

// TestCheck reads a snapshot and its increments again, and says which file is damaged.
func TestCheck(t *testing.T) {
	t.Parallel()
	g := newGarden(t, nil)
	full, more := g.shipped()
	k := g.keeper(nil)
	now := g.clock.Now()
	if diff := cmp.Diff(Check{State: CheckSucceeded, Began: now, Ended: now, Files: 4}, g.checked(k, full.Name)); diff != "" {
		t.Errorf("All is well (-want +got):\n%s", diff)
	}
	blind := g.keeper(func(c *Config) { c.Keys.Identities = nil })
	if is := g.checked(blind, full.Name); is.State != CheckSucceeded || !is.Blind || is.Files != 4 {
		t.Errorf("Without a key: %+v", is)
	}
	text, err := os.ReadFile(g.folder.path(more[1].Name))
	if err != nil {
		t.Fatal(err)
	}
	text[len(text)/3] ^= 1
	if err := os.WriteFile(g.folder.path(more[1].Name), text, 0o600); err != nil {
		t.Fatal(err)
	}
	for what, k := range map[string]*Keeper{"with the key": k, "without": blind} {
		if is := g.checked(k, full.Name); is.State != CheckFailed || is.Files != 2 || !strings.Contains(is.Problem, more[1].Name) {
			t.Errorf("A damaged increment, %s: %+v", what, is)
		}
	}
	if err := k.Check(t.Context(), more[0].Name); !errors.Is(err, ErrNotFound) {
		t.Errorf("An increment: %v, want %v", err, ErrNotFound)
	}
	if err := k.Check(t.Context(), "../key"); !errors.Is(err, ErrNotFound) {
		t.Errorf("A path: %v, want %v", err, ErrNotFound)
	}
	// What was found is forgotten with the snapshot.
	if err := g.folder.Delete(t.Context(), full.Name); err != nil {
		t.Fatal(err)
	}
	g.list(k)
	if len(k.checks) != 0 {
		t.Errorf("Kept: %v", k.checks)
	}
}

// TestOneCheck verifies one snapshot at a time, and none once the keeper stops.
func TestOneCheck(t *testing.T) {
	t.Parallel()
	g := newGarden(t, nil)
	first, second := g.save(), g.save()
	k := g.keeper(nil)
	if began, err := k.beginCheck(first.Name); !began || err != nil {
		t.Fatalf("Begun: %t, %v", began, err)
	}
	if err := k.Check(t.Context(), second.Name); !errors.Is(err, ErrChecking) {
		t.Errorf("Another one: %v, want %v", err, ErrChecking)
	}
	if err := k.Check(t.Context(), first.Name); err != nil {
		t.Errorf("The same one: %v", err)
	}
	k.endCheck(first.Name, 1, nil)
	k.checking.Done()
	k.endChecks()
	if err := k.Check(t.Context(), second.Name); !errors.Is(err, ErrStopping) {
		t.Errorf("While it stops: %v, want %v", err, ErrStopping)
	}
}

// TestTails divides the increments among the snapshots, and sees that one is missing.
func TestTails(t *testing.T) {
	t.Parallel()
	g := newGarden(t, nil)
	full, more := g.shipped()
	newer := g.save()
	g.put(g.objects, "/registry/a", "later")
	last := g.ship(more[2])
	k := g.keeper(nil)
	count := func() (found []string) {
		for _, kept := range g.list(k) {
			is := kept.Name + ":"
			for _, e := range kept.Increments.Files {
				is += " " + e.Name
			}
			if kept.Increments.Gap {
				is += " gap"
			}
			found = append(found, is)
		}

		return found
	}
	want := []string{
		newer.Name + ": " + last.Name,
		full.Name + ": " + more[0].Name + " " + more[1].Name + " " + more[2].Name,
	}
	if diff := cmp.Diff(want, count()); diff != "" {
		t.Errorf("All are there (-want +got):\n%s", diff)
	}
	if err := g.folder.Delete(t.Context(), more[1].Name); err != nil {
		t.Fatal(err)
	}
	want[1] = full.Name + ": " + more[0].Name + " gap"
	if diff := cmp.Diff(want, count()); diff != "" {
		t.Errorf("One is missing (-want +got):\n%s", diff)
	}
}

// TestOpen hands out the file as it is stored, until the keeper stops.
func TestOpen(t *testing.T) {
	t.Parallel()
	g := newGarden(t, nil)
	full := g.save()
	k := g.keeper(nil)
	f, err := k.Open(t.Context(), full.Name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // Nothing is written.
	got, err := io.ReadAll(io.NewSectionReader(f, 0, f.Size()))
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(g.folder.path(full.Name))
	if err != nil || !bytes.Equal(got, want) || bytes.Contains(got, []byte("secret")) {
		t.Errorf("%d bytes, want the %d of the file, %v", len(got), len(want), err)
	}
	close(k.stopping)
	if _, err := f.ReadAt(make([]byte, 1), 0); !errors.Is(err, ErrStopping) {
		t.Errorf("While it stops: %v, want %v", err, ErrStopping)
	}
	for _, name := range []string{"key", "../key", "increment-20261122-120100-0-1-0-1"} {
		if _, err := k.Open(t.Context(), name); !errors.Is(err, ErrNotFound) {
			t.Errorf("%q: %v, want %v", name, err, ErrNotFound)
		}
	}
}

// TestCheckEnds gives up a verification when the keeper stops.
func TestCheckEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := &Keeper{stopping: make(chan struct{})}
		ctx, end := k.untilStop(t.Context(), time.Hour)
		defer end()
		close(k.stopping)
		synctest.Wait()
		if ctx.Err() == nil {
			t.Error("It goes on.")
		}
	})
}
