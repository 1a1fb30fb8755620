// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/storage/log"
)

var errNoSpace = syscall.ENOSPC

// TestRestoreIsWhatWasSaved saves a garden, changes it further, and compares what is restored with what was saved.
func TestRestoreIsWhatWasSaved(t *testing.T) {
	t.Parallel()
	g := newGarden(t, nil)
	for n := range 50 {
		g.put(g.objects, fmt.Sprintf("/registry/%d", n), strings.Repeat("value", n))
	}
	g.put(g.objects, "/registry/7", "changed")
	g.remove(g.objects, "/registry/8")
	g.put(g.events, "/registry/events/a", "happened")
	objects, events := state(t, g.objects), state(t, g.events)
	made := g.save()
	last := g.put(g.objects, "/registry/later", "is not in it")

	dir, done, err := g.restore(nil)
	if err != nil {
		t.Fatal(err)
	}
	restored := opened(t, dir, "objects.db")
	if diff := cmp.Diff(objects, state(t, restored)); diff != "" {
		t.Errorf("Objects are restored with their revisions (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(events, state(t, opened(t, dir, "events.db"))); diff != "" {
		t.Errorf("Events are restored (-want +got):\n%s", diff)
	}
	key, err := os.ReadFile(filepath.Join(dir, "pki", "server-ca.key"))
	if err != nil || string(key) != "secret" {
		t.Errorf("The identity is restored: %q, %v", key, err)
	}
	if done.Objects != int64(len(objects)) || done.Revision != made.Objects.To {
		t.Errorf("The report is %+v, of %d objects at revision %d.", done, len(objects), made.Objects.To)
	}
	if restored.Revision() <= last {
		t.Errorf("The garden goes on at revision %d, and clients have seen %d.", restored.Revision(), last)
	}
	if _, err := restored.Follow(log.Range{Key: "/", End: "0"}, last, make(chan struct{}, 1)); !errors.Is(err, log.ErrCompacted) {
		t.Errorf("A watch from revision %d, which was lost, has to begin anew: %v", last, err)
	}
	if left := leftovers(t, dir); len(left) > 0 {
		t.Errorf("Left beside the directory: %v", left)
	}
}

// TestSaveUnderLoad saves while many write. All that was answered before has to be in it, and nothing that was refused.
func TestSaveUnderLoad(t *testing.T) {
	t.Parallel()
	const writers, each = 8, 150
	g := newGarden(t, nil)
	var mu sync.Mutex
	answered := map[int64]string{}
	var writing sync.WaitGroup
	for w := range writers {
		writing.Go(func() {
			for n := range each {
				key := fmt.Sprintf("/registry/%d/%d", w, n)
				result, err := g.objects.Write(t.Context(), log.Change{Key: key, Value: []byte(`"x"`)})
				if err != nil || !result.Applied {
					t.Errorf("write: %v", err)

					return
				}
				mu.Lock()
				answered[result.Revision] = key
				mu.Unlock()
				// It exists already: this is refused.
				if refused, err := g.objects.Write(t.Context(), log.Change{Key: key, Value: []byte(`"refused"`)}); err != nil || refused.Applied {
					t.Errorf("A second creation: %+v, %v", refused, err)
				}
			}
		})
	}
	var saved []Entry
	for range 3 {
		saved = append(saved, g.save())
	}
	writing.Wait()
	for _, e := range saved {
		dir, done, err := g.restore(func(r *Restore) { r.Want.Name = e.Name })
		if err != nil {
			t.Fatal(err)
		}
		found := state(t, opened(t, dir, "objects.db"))
		for revision, key := range answered {
			if _, there := found[key]; there != (revision <= done.Revision) {
				t.Errorf("Snapshot at revision %d: %q, written at %d, is there: %t", done.Revision, key, revision, there)
			}
		}
		for key, value := range found {
			if strings.Contains(value, "refused") {
				t.Errorf("%q holds what was refused.", key)
			}
		}
	}
}

// TestRestoreToAnyMoment goes through increments with changes and deletions.
func TestRestoreToAnyMoment(t *testing.T) {
	t.Parallel()
	g := newGarden(t, nil)
	g.put(g.objects, "/registry/a", "1")
	g.put(g.objects, "/registry/b", "1")
	last := g.save()
	type moment struct {
		at       time.Time
		revision int64
		objects  map[string]string
	}
	moments := []moment{{last.Time, last.Objects.To, state(t, g.objects)}}
	for _, change := range []func(){
		func() { g.put(g.objects, "/registry/a", "2") },
		func() { g.remove(g.objects, "/registry/b"); g.put(g.events, "/registry/events/x", "1") },
		func() { g.put(g.objects, "/registry/b", "again"); g.put(g.objects, "/registry/c", "1") },
	} {
		change()
		last = g.ship(last)
		moments = append(moments, moment{last.Time, last.Objects.To, state(t, g.objects)})
	}
	for i, m := range moments {
		for name, want := range map[string]Target{"time": {Time: m.at.Add(30 * time.Second)}, "revision": {Revision: m.revision}} {
			dir, done, err := g.restore(func(r *Restore) { r.Want = want })
			if err != nil {
				t.Fatalf("Moment %d by %s: %v", i, name, err)
			}
			if diff := cmp.Diff(m.objects, state(t, opened(t, dir, "objects.db"))); diff != "" || done.Increments > i || done.Earlier != (i < 3) {
				t.Errorf("Moment %d by %s, %d increments, earlier %t (-want +got):\n%s", i, name, done.Increments, done.Earlier, diff)
			}
		}
	}
	if _, _, err := g.restore(func(r *Restore) { r.Want.Revision = last.Objects.To + 1 }); err == nil {
		t.Error("A revision that was not saved is restored.")
	}
	if _, _, err := g.restore(func(r *Restore) { r.Want.Time = start.Add(-time.Hour) }); !errors.Is(err, ErrNotFound) {
		t.Errorf("A time before the first snapshot: %v", err)
	}
}

// TestDamage damages files in every way that a disk or a person does, and expects to be told, and no directory.
func TestDamage(t *testing.T) {
	t.Parallel()
	g := newGarden(t, nil)
	for n := range 200 {
		g.put(g.objects, fmt.Sprintf("/registry/%d", n), strings.Repeat(fmt.Sprint(n), 50))
	}
	made := g.save()
	text, err := os.ReadFile(g.folder.path(made.Name))
	if err != nil {
		t.Fatal(err)
	}
	flip := func(at int) []byte {
		damaged := slices.Clone(text)
		damaged[at] ^= 0x10

		return damaged
	}
	cases := map[string]struct {
		text []byte
		want error
	}{
		"Empty":      {nil, ErrDamaged},
		"CutInHalf":  {text[:len(text)/2], ErrDamaged},
		"CutByOne":   {text[:len(text)-1], ErrDamaged},
		"Longer":     {append(slices.Clone(text), 'x'), ErrDamaged},
		"NoSnapshot": {bytes.Repeat([]byte("x"), 10_000), ErrDamaged},
		"Manifest":   {bytes.Replace(text, []byte(`"garden-1"`), []byte(`"garden-2"`), 1), ErrDamaged},
	}
	for at := 0; at < len(text); at += max(1, len(text)/60) {
		cases[fmt.Sprintf("Flip%d", at)] = struct {
			text []byte
			want error
		}{flip(at), ErrDamaged}
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "x"+Extension)
			if err := os.WriteFile(path, c.text, 0o600); err != nil {
				t.Fatal(err)
			}
			g := *g
			g.tb = t
			dir, _, err := g.restore(func(r *Restore) { r.File = path })
			if !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			if _, err := os.Stat(dir); !os.IsNotExist(err) || len(leftovers(t, dir)) > 0 {
				t.Errorf("A directory was left: %v, %v", err, leftovers(t, dir))
			}
		})
	}
}

func TestWrongKey(t *testing.T) {
	t.Parallel()
	g := newGarden(t, nil)
	g.save()
	_, _, err := g.restore(func(r *Restore) { r.Identities = otherKey(t) })
	if !errors.Is(err, ErrWrongKey) {
		t.Errorf("got %v, want %v", err, ErrWrongKey)
	}
}

// TestNothingIsInTheClear looks for a value and a key in the file.
func TestNothingIsInTheClear(t *testing.T) {
	t.Parallel()
	g := newGarden(t, nil)
	g.put(g.objects, "/registry/secrets/x", "very-secret-value")
	made := g.save()
	text, err := os.ReadFile(g.folder.path(made.Name))
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"very-secret-value", "/registry/secrets", "BEGIN"} {
		if bytes.Contains(text, []byte(secret)) {
			t.Errorf("%q is in the file.", secret)
		}
	}
	if info, err := os.Stat(g.folder.path(made.Name)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("The file has mode %v, %v", info.Mode(), err)
	}
}

// TestIncrementsInDisorder loses, repeats and mixes up increments.
func TestIncrementsInDisorder(t *testing.T) {
	t.Parallel()
	g := newGarden(t, nil)
	g.put(g.objects, "/registry/a", "0")
	first := g.save()
	last := first
	var made []Entry
	for n := range 4 {
		g.put(g.objects, "/registry/a", fmt.Sprint(n+1))
		last = g.ship(last)
		made = append(made, last)
	}
	want := state(t, g.objects)

	// One more that holds the last two again, as a server writes it that does not know of them.
	g.ship(made[1])
	dir, _, err := g.restore(nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, state(t, opened(t, dir, "objects.db"))); diff != "" {
		t.Errorf("Repeated increments (-want +got):\n%s", diff)
	}

	if err := g.folder.Delete(t.Context(), made[1].Name); err != nil {
		t.Fatal(err)
	}
	if _, _, err := g.restore(nil); !errors.Is(err, ErrGap) {
		t.Errorf("A lost increment: got %v, want %v", err, ErrGap)
	}
	if _, done, err := g.restore(func(r *Restore) { r.Want.Revision = made[0].Objects.To }); err != nil || done.Revision != made[0].Objects.To {
		t.Errorf("The state before the gap: %+v, %v", done, err)
	}
}

// TestRestoreOver refuses a directory in use, and moves what is there aside when asked to.
func TestRestoreOver(t *testing.T) {
	t.Parallel()
	g := newGarden(t, nil)
	g.put(g.objects, "/registry/a", "1")
	g.save()
	dir := filepath.Join(t.TempDir(), "data")
	for _, file := range []string{"db/objects.db", "db/objects.db-wal", "db/objects.db-shm"} {
		if err := writeNew(filepath.Join(dir, file), strings.NewReader("old")); err != nil {
			t.Fatal(err)
		}
	}
	into := func(force bool, lock error) (Restored, error) {
		_, done, err := g.restore(func(r *Restore) {
			r.DataDir, r.Force = dir, force
			r.Lock = func(string) (func() error, error) { return func() error { return nil }, lock }
		})

		return done, err
	}
	if _, err := into(false, nil); !errors.Is(err, ErrNotEmpty) {
		t.Errorf("Not empty: %v", err)
	}
	errUsed := errors.New("used by process 1")
	if _, err := into(true, errUsed); !errors.Is(err, errUsed) {
		t.Errorf("In use: %v", err)
	}
	done, err := into(true, nil)
	if err != nil {
		t.Fatal(err)
	}
	if old, err := os.ReadFile(filepath.Join(done.Aside, "db", "objects.db-wal")); err != nil || string(old) != "old" {
		t.Errorf("What was there is aside: %q, %v", old, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "db", "objects.db-wal")); !os.IsNotExist(err) {
		t.Errorf("The old write-ahead log is beside the new database: %v", err)
	}
	if found := state(t, opened(t, dir, "objects.db")); len(found) != 1 {
		t.Errorf("Restored: %v", found)
	}
}

// TestRestoreTwice restores a restored garden: its revisions never go back.
func TestRestoreTwice(t *testing.T) {
	t.Parallel()
	g := newGarden(t, nil)
	g.put(g.objects, "/registry/a", "1")
	g.save()
	_, first, err := g.restore(nil)
	if err != nil {
		t.Fatal(err)
	}
	// The restored garden has saved into the same folder; then the first snapshot is restored again.
	later := Manifest{Kind: Full, Time: start.Add(time.Hour), Objects: Span{To: first.Next + 100}}
	if err := writeText(g.folder.path(nameOf(later)), nil); err != nil {
		t.Fatal(err)
	}
	var second Restored
	if _, second, err = g.restore(func(r *Restore) { r.Want.Time = start.Add(time.Minute) }); err != nil {
		t.Fatal(err)
	}
	// Where the folder knows nothing of that, time does: the first file is restored once more, a minute later.
	file := g.folder.path(snapshots(mustList(t, g.folder))[1].Name)
	var third Restored
	if _, third, err = g.restore(func(r *Restore) { r.File, r.Now = file, start.Add(time.Minute) }); err != nil {
		t.Fatal(err)
	}
	if third.Next <= first.Next+1_000_000 {
		t.Errorf("The garden goes on at %d a minute after it went on at %d.", third.Next, first.Next)
	}
	if second.Next <= first.Next+100 {
		t.Errorf("The garden goes on at %d, and had reached %d.", second.Next, first.Next+100)
	}
}
