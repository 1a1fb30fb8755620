// SPDX-License-Identifier: Apache-2.0

package log

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clocktesting "k8s.io/utils/clock/testing"
)

// TestRecordOfAnother finds records of earlier writes, of which nobody knew that they were made, under the revision of a write that fails.
// That write is not acknowledged. The next one is made, after readers and watches were given what the file has, with nothing left out.
func TestRecordOfAnother(t *testing.T) {
	t.Parallel()

	path := filepath.Join(t.TempDir(), "objects.db")
	l, err := Open(t.Context(), NewConfig(path))
	if err != nil {
		t.Fatal(err)
	}
	write := func(c Change) (Result, error) {
		t.Helper()

		return l.Write(t.Context(), c)
	}
	old, err := write(Change{Key: "/kept", Value: []byte("old"), Lease: 3600})
	if err != nil {
		t.Fatal(err)
	}
	all := Range{Key: "/", End: "0"}
	follower, err := l.Follow(all, old.Revision, make(chan struct{}, 1))
	if err != nil {
		t.Fatal(err)
	}
	first := old.Revision + 1
	made := []*Record{
		{Revision: first, Created: first, Key: "/earlier", Value: []byte("e")},
		{Revision: first + 1, Created: old.Revision, Key: "/kept", Value: []byte{}, Previous: old.Revision},
		{Revision: first + 2, Created: first, Key: "/earlier", Deleted: true, Previous: first},
	}
	for _, r := range made {
		if err := r.insert(t.Context(), l.file.insert); err != nil {
			t.Fatal(err)
		}
	}
	if result, err := write(Change{Key: "/mine", Value: []byte("m")}); err == nil {
		t.Errorf("Write(/mine): got %+v; it is not in the file", result)
	}
	if result, err := write(Change{Key: "/kept", Delete: true, Revision: old.Revision}); err != nil || result.Applied || result.Found != first+1 {
		t.Errorf("A write is judged by what is in the file.\nWrite(delete /kept at %d): %+v, %v, want that %d is found", old.Revision, result, err, first+1)
	}
	result, err := write(Change{Key: "/mine", Value: []byte("m")})
	if err != nil || !result.Applied || result.Revision != first+3 {
		t.Fatalf("The log goes on by itself.\nWrite(/mine): %+v, %v, want revision %d", result, err, first+3)
	}
	mine := &Record{Revision: first + 3, Created: first + 3, Key: "/mine", Value: []byte("m")}
	got, _, err := follower.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []*Record{made[0], made[1], made[2], mine}
	made[1].PreviousValue, made[1].PreviousCreated, made[1].PreviousLease = []byte("old"), old.Revision, 3600
	made[2].PreviousValue, made[2].PreviousCreated = []byte("e"), first
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("A watch misses nothing.\nNext() (-want +got):\n%s", diff)
	}
	follower.Stop()
	made[1].PreviousValue, made[1].PreviousCreated, made[1].PreviousLease = nil, 0, 0
	has := func(reason string) {
		t.Helper()
		list, err := l.List(t.Context(), Read{Range: all, KeysOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		revisions := map[string]int64{}
		for _, r := range list.Records {
			revisions[r.Key] = r.Revision
		}
		if diff := cmp.Diff(map[string]int64{"/kept": first + 1, "/mine": first + 3}, revisions); diff != "" {
			t.Errorf("%s\nList(all) (-want +got):\n%s", reason, diff)
		}
	}
	has("There is what the file has.")
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if l, err = Open(t.Context(), NewConfig(path)); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}()
	has("A start changes nothing.")
}

// TestCatchUpWhileNobodyWrites: readers get to know of a write that was made although it failed, also if no other write follows.
func TestCatchUpWhileNobodyWrites(t *testing.T) {
	t.Parallel()

	clk := clocktesting.NewFakeClock(time.Now())
	cfg := NewConfig(filepath.Join(t.TempDir(), "objects.db"))
	cfg.Clock, cfg.GroupDelay = clk, 0
	l, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}()
	wake := make(chan struct{}, 1)
	follower, err := l.Follow(Range{Key: "/", End: "0"}, l.Revision(), wake)
	if err != nil {
		t.Fatal(err)
	}
	defer follower.Stop()
	<-wake // It rings once when it begins.
	earlier := &Record{Revision: l.Revision() + 1, Created: l.Revision() + 1, Key: "/earlier", Value: []byte("e")}
	if err := earlier.insert(t.Context(), l.file.insert); err != nil {
		t.Fatal(err)
	}
	if result, err := l.Write(t.Context(), Change{Key: "/mine", Value: []byte("m")}); err == nil {
		t.Errorf("Write(/mine): got %+v; it is not in the file", result)
	}
	clk.Step(2 * pace)
	select {
	case <-wake:
	case <-time.After(30 * time.Second):
		t.Fatal("The record is not published.")
	}
	got, _, err := follower.Next(t.Context())
	if diff := cmp.Diff([]*Record{earlier}, got); diff != "" || err != nil {
		t.Errorf("Next(): %v (-want +got):\n%s", err, diff)
	}
}
