// SPDX-License-Identifier: Apache-2.0

package timeline_test

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	bolt "go.etcd.io/bbolt"
	"k8s.io/utils/clock"
	testclock "k8s.io/utils/clock/testing"

	gardenappliancev1alpha1 "github.com/terrarium-garden/terrarium/apis/appliance/v1alpha1"
	"github.com/terrarium-garden/terrarium/storage/local/timeline"
)

const seedUser = "gardener.cloud:system:seed:"

// by makes somebody the user of an entry with a text.
func by(user string, e *timeline.Entry, text int) *timeline.Entry {
	e.User = user
	e.Type, e.Task = gardenappliancev1alpha1.TimelineEntryTask, &gardenappliancev1alpha1.TimelineTask{Title: strings.Repeat("t", text)}

	return e
}

// flood adds twice as much as fits.
func flood(t *testing.T, s *timeline.Store, maxBytes int, filler func(n int) *timeline.Entry) {
	t.Helper()
	const text, batch = 2000, 50
	for n := 0; n < 2*maxBytes/text; n += batch {
		var all []*timeline.Entry
		for i := range batch {
			all = append(all, filler(n+i))
		}
		if err := s.Append(t.Context(), all...); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPruneLargest holds that a seed, or a project, that fills the file erases its own history only.
func TestPruneLargest(t *testing.T) {
	t.Parallel()
	const size = 2 << 20
	for name, filler := range map[string]func(n int) *timeline.Entry{
		"a gardenlet": func(int) *timeline.Entry {
			return by(seedUser+"evil", entry("garden-a", "Shoot", "flood", time.Now()), 2000)
		},
		"a gardenlet in many namespaces": func(n int) *timeline.Entry {
			return by(seedUser+"evil", entry(fmt.Sprintf("garden-%d", n%20), "Shoot", "flood", time.Now()), 2000)
		},
		"an extension of a seed": func(n int) *timeline.Entry {
			return by(fmt.Sprintf("system:serviceaccount:seed-evil:extension-%d", n%7), entry("garden-a", "BackupEntry", "flood", time.Now()), 2000)
		},
		"members of a project": func(n int) *timeline.Entry {
			return by(fmt.Sprintf("member-%d", n%7), entry("garden-evil", "Shoot", "flood", time.Now()), 2000)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s := open(t, dir, clock.RealClock{}, size)
			var want []string
			history := func(round int) {
				var all []*timeline.Entry
				for n := range 50 {
					all = append(all,
						by("admin", entry("garden-a", "Shoot", fmt.Sprintf("request-%d-%d", round, n), time.Now()), 100),
						by(seedUser+"good", entry("garden-a", "Shoot", fmt.Sprintf("task-%d-%d", round, n), time.Now()), 100),
						by("", entry("garden-b", "Shoot", fmt.Sprintf("other-%d-%d", round, n), time.Now()), 100))
				}
				for _, e := range all {
					want = append(want, e.Subject.Name)
				}
				if err := s.Append(t.Context(), all...); err != nil {
					t.Fatal(err)
				}
			}
			history(0)
			flood(t, s, size, filler)
			history(1)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			// What everybody uses is counted anew.
			s = open(t, dir, clock.RealClock{}, size)
			flood(t, s, size, filler)
			var got []string
			flooded := 0
			for _, e := range list(t, s, timeline.Query{}).Entries {
				if e.Subject.Name == "flood" {
					flooded++
				} else {
					got = append(got, e.Subject.Name)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the history of others (-want +got)\n%s", diff)
			}
			if flooded < 100 {
				t.Errorf("only %d of the last entries are left", flooded)
			}
			if err := s.Reaches(60); !errors.Is(err, timeline.ErrExpired) {
				t.Errorf("a watch that has missed removed entries goes on: %v", err)
			}
			if last := list(t, s, timeline.Query{Limit: 1}).Last; s.Reaches(last) != nil {
				t.Error("a watch that has missed nothing is refused")
			}
		})
	}
}

// TestPruneWithinSeed holds that a project whose shoots make a gardenlet tell much does not erase what the gardenlet tells of others.
func TestPruneWithinSeed(t *testing.T) {
	t.Parallel()
	const size = 2 << 20
	s := open(t, t.TempDir(), clock.RealClock{}, size)
	if err := s.Append(t.Context(), by(seedUser+"one", entry("garden-a", "Shoot", "kept", time.Now()), 100)); err != nil {
		t.Fatal(err)
	}
	flood(t, s, size, func(int) *timeline.Entry {
		return by(seedUser+"one", entry("garden-evil", "Shoot", "flood", time.Now()), 2000)
	})
	if got := list(t, s, timeline.Query{Namespace: "garden-a"}); len(got.Entries) != 1 {
		t.Error("the entry of another project is gone")
	}
}

// TestEarlierFile opens a file in which entries were kept by their numbers alone.
func TestEarlierFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const first, last = 11, 12_010
	earlierFile(t, dir, first, last)
	if err := timeline.Advance(dir, 1000); err != nil {
		t.Fatal(err)
	}
	s := open(t, dir, testclock.NewFakeClock(start), 1<<30)
	page := list(t, s, timeline.Query{})
	if len(page.Entries) != last-first+1 || page.Last != last+1000 {
		t.Fatalf("%d entries, the last number is %d", len(page.Entries), page.Last)
	}
	for i, e := range page.Entries {
		if want := fmt.Sprintf("s%d", first+i); e.Subject.Name != want || e.Name != timeline.Name(uint64(first+i)) || e.User != "admin" {
			t.Fatalf("entry %d is %s of %s by %s, want that of %s", i, e.Name, e.Subject.Name, e.User, want)
		}
	}
	if got := list(t, s, timeline.Query{Namespace: "garden-a", Kind: "Shoot", Name: "s500"}); len(got.Entries) != 1 {
		t.Errorf("%d entries of an object", len(got.Entries))
	}
	if err := s.Reaches(first - 2); !errors.Is(err, timeline.ErrExpired) {
		t.Errorf("a watch from before the first entry: %v", err)
	}
	if err := s.Reaches(first - 1); err != nil {
		t.Errorf("a watch from the first entry: %v", err)
	}
	if err := s.Append(t.Context(), entry("garden-a", "Shoot", "new", start)); err != nil {
		t.Fatal(err)
	}
	if got := list(t, s, timeline.Query{After: last}); len(got.Entries) != 1 || got.Last != last+1001 {
		t.Errorf("%d new entries, the last number is %d", len(got.Entries), got.Last)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if page = list(t, open(t, dir, testclock.NewFakeClock(start), 1<<30), timeline.Query{}); len(page.Entries) != last-first+2 {
		t.Errorf("%d entries after another start", len(page.Entries))
	}
}

// earlierFile writes a file as versions before the origins did.
func earlierFile(t *testing.T, dir string, first, last uint64) {
	t.Helper()
	db, err := bolt.Open(filepath.Join(dir, "timeline.db"), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bolt.Tx) error {
		entries, err := tx.CreateBucket([]byte("entries"))
		if err != nil {
			return err
		}
		subjects, err := tx.CreateBucket([]byte("subjects"))
		if err != nil {
			return err
		}
		for n := first; n <= last; n++ {
			e := entry("garden-a", "Shoot", fmt.Sprintf("s%d", n), start)
			e.User = "admin"
			data, err := json.Marshal(e)
			if err != nil {
				return err
			}
			at := binary.BigEndian.AppendUint64(nil, uint64(start.UnixMicro()))
			subject := binary.BigEndian.AppendUint64([]byte("garden-a\x00Shoot\x00"+e.Subject.Name+"\x00"), n)
			if err := errors.Join(entries.Put(binary.BigEndian.AppendUint64(nil, n), append(at, data...)), subjects.Put(subject, at[:8])); err != nil {
				return err
			}
		}

		return entries.SetSequence(last)
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}
