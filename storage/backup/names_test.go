// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"fmt"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// rename gives a file the name of another one, as somebody can who may write to the folder and has no key.
func (g *garden) rename(from, to Entry) {
	g.tb.Helper()
	if err := os.Rename(g.folder.path(from.Name), g.folder.path(to.Name)); err != nil {
		g.tb.Fatal(err)
	}
}

// shipped is a snapshot and three increments.
func (g *garden) shipped() (full Entry, made []Entry) {
	g.tb.Helper()
	g.put(g.objects, "/registry/a", "0")
	full = g.save()
	last := full
	for n := range 3 {
		g.put(g.objects, "/registry/a", fmt.Sprint(n+1))
		g.put(g.objects, fmt.Sprintf("/registry/%d", n), "x")
		last = g.ship(last)
		made = append(made, last)
	}

	return full, made
}

// TestRenamedIncrement puts an older increment where another one was, whose writes would be missing.
func TestRenamedIncrement(t *testing.T) {
	t.Parallel()
	g := newGarden(t, nil)
	_, made := g.shipped()
	g.rename(made[0], made[1])
	// The first one is still there, as a copy.
	text, err := os.ReadFile(g.folder.path(made[1].Name))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(g.folder.path(made[0].Name), text, 0o600); err != nil {
		t.Fatal(err)
	}
	_, done, err := g.restore(nil)
	if diff := cmp.Diff(ErrDamaged, err, cmpopts.EquateErrors()); diff != "" {
		t.Errorf("restored %+v; error (-want +got):\n%s", done, diff)
	}
}

// TestRenamedSnapshot puts an older snapshot where the newest one was, which would roll the garden back.
func TestRenamedSnapshot(t *testing.T) {
	t.Parallel()
	g := newGarden(t, nil)
	old, _ := g.shipped()
	newest := g.save()
	g.rename(old, newest)
	_, done, err := g.restore(nil)
	if diff := cmp.Diff(ErrDamaged, err, cmpopts.EquateErrors()); diff != "" {
		t.Errorf("restored %+v; error (-want +got):\n%s", done, diff)
	}
	// A file that is named by its path may have any name.
	if _, _, err := g.restore(func(r *Restore) { r.File = g.folder.path(newest.Name) }); err != nil {
		t.Errorf("by path: %v", err)
	}
}

// TestGapBetweenFiles refuses an increment that does not go on from what was read, whatever the names say.
func TestGapBetweenFiles(t *testing.T) {
	t.Parallel()
	g := newGarden(t, nil)
	full, made := g.shipped()
	of := func(e Entry) opener {
		return opener{name: e.Name, kept: true, open: func() (File, error) { return g.folder.Open(t.Context(), e.Name) }}
	}
	b := &building{dir: t.TempDir(), identities: g.keys.Identities, now: start}
	_, err := b.run(t.Context(), of(full), []opener{of(made[0]), of(made[2])})
	if diff := cmp.Diff(ErrGap, err, cmpopts.EquateErrors()); diff != "" {
		t.Errorf("error (-want +got):\n%s", diff)
	}
}
