// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	bolt "go.etcd.io/bbolt"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	testclock "k8s.io/utils/clock/testing"
)

// damagedStore has four entries of a namespace and one of another, of which the second and the third cannot be decoded. What the
// store tells of goes to failed.
func damagedStore(t *testing.T) (s *Store, clk *testclock.FakeClock, failed chan error) {
	t.Helper()
	clk, failed = testclock.NewFakeClock(time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)), make(chan error, 10)
	s, err := Open(Config{Dir: t.TempDir(), Keep: time.Hour, MaxBytes: 1 << 20, Clock: clk, Failed: func(err error) { failed <- err }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	var all []*Entry
	for i, namespace := range []string{"garden-a", "garden-a", "garden-a", "garden-b", "garden-a"} {
		e := &Entry{Time: metav1.NewMicroTime(clk.Now().Add(time.Duration(i) * time.Second))}
		e.Namespace, e.Subject.Kind, e.Subject.Name = namespace, "Shoot", "one"
		all = append(all, e)
	}
	if err := s.Append(t.Context(), all...); err != nil {
		t.Fatal(err)
	}
	damage := func(tx *bolt.Tx) error {
		content := originsOf(tx).Bucket(originOf(all[1]).key())

		return errors.Join(
			content.Put(key(2), append(timeKey(all[1].Time.Time), `{"subject":7}`...)),
			content.Put(key(3), timeKey(all[2].Time.Time)),
		)
	}
	if err := s.db.Update(damage); err != nil {
		t.Fatal(err)
	}

	return s, clk, failed
}

// keys returns how many keys each bucket has.
func keys(t *testing.T, s *Store) (numbers, subjects, origins int) {
	t.Helper()
	err := s.db.View(func(tx *bolt.Tx) error {
		numbers, subjects = numbersOf(tx).Stats().KeyN, subjectsOf(tx).Stats().KeyN

		return originsOf(tx).ForEachBucket(func([]byte) error { origins++; return nil })
	})
	if err != nil {
		t.Fatal(err)
	}

	return numbers, subjects, origins
}

// TestReadBesideDamaged reads a file in which some entries cannot be decoded: the others are found, and the log is told once.
func TestReadBesideDamaged(t *testing.T) {
	t.Parallel()
	s, _, failed := damagedStore(t)
	for _, q := range []Query{{}, {Namespace: "garden-a"}, {}} {
		page, err := s.List(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		got, want := []string{}, []string{"1", "4", "5"}
		for _, e := range page.Entries {
			got = append(got, e.ResourceVersion)
		}
		if q.Namespace != "" {
			want = []string{"1", "5"}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("List(%+v) (-want +got):\n%s", q, diff)
		}
	}
	last, err := s.Last(t.Context(), Query{Namespace: "garden-a", Kind: "Shoot", Name: "one", Upto: 3})
	if err != nil || last == nil || last.ResourceVersion != "1" {
		t.Errorf("Last() = %+v, %v, want the entry before those that are damaged", last, err)
	}
	if len(failed) != 1 {
		t.Fatalf("damaged entries were told of %d times, want once", len(failed))
	}
	told, is := errors.AsType[*DamagedError](<-failed)
	if !is || told.Entries != 2 || told.First != 2 || told.Reason == nil {
		t.Errorf("told of %+v, want 2 entries, the first one with number 2", told)
	}
}

// TestPruneDamagedByAge has the time of damaged entries come: they are removed with the others, and nothing is left of them.
func TestPruneDamagedByAge(t *testing.T) {
	t.Parallel()
	s, clk, failed := damagedStore(t)
	clk.Step(time.Hour + 3*time.Second + time.Millisecond)
	wake := &Entry{Time: metav1.NewMicroTime(clk.Now())}
	if err := s.Append(t.Context(), wake); err != nil {
		t.Fatal(err)
	}
	wait(t, s, func() bool { return len(failed) > 0 && len(s.damaged) == 0 })
	if numbers, subjects, origins := keys(t, s); numbers != 2 || subjects != 2 || origins != 2 {
		t.Errorf("%d numbers, %d subjects and %d origins are left, want those of the last two entries", numbers, subjects, origins)
	}
	if told, is := errors.AsType[*DamagedError](<-failed); !is || told.Entries != 2 {
		t.Errorf("told of %+v, want 2 damaged entries", told)
	}
}

// TestPruneDamagedBySize has the largest origin give up all that it has.
func TestPruneDamagedBySize(t *testing.T) {
	t.Parallel()
	s, _, _ := damagedStore(t)
	removed := newPruning()
	err := s.db.Update(func(tx *bolt.Tx) error {
		return errors.Join(s.pruneLargest(tx, removed), removed.forgetSubjects(tx))
	})
	if err != nil {
		t.Fatal(err)
	}
	if numbers, subjects, origins := keys(t, s); numbers != 0 || subjects != 0 || origins != 0 {
		t.Errorf("%d numbers, %d subjects and %d origins are left, want none", numbers, subjects, origins)
	}
	if left := s.used; removed.usage[origin{"namespace/garden-a", "garden-a"}] != left[origin{"namespace/garden-a", "garden-a"}] {
		t.Errorf("removed %v of %v", removed.usage, left)
	}
}

// TestAdoptBesideDamaged opens a file of an earlier version in which an entry cannot be decoded.
func TestAdoptBesideDamaged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := Open(Config{Dir: dir, Keep: time.Hour, MaxBytes: 1 << 20, Clock: testclock.NewFakeClock(time.Now())})
	if err != nil {
		t.Fatal(err)
	}
	good, err := encode(&Entry{Time: metav1.NewMicroTime(time.Now())})
	if err != nil {
		t.Fatal(err)
	}
	err = s.db.Update(func(tx *bolt.Tx) error {
		earlier, err := tx.CreateBucket([]byte(bucketEntries))
		if err != nil {
			return err
		}

		return errors.Join(earlier.Put(key(1), []byte("damaged")), earlier.Put(key(2), good), earlier.SetSequence(2))
	})
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	var told []error
	s, err = Open(Config{
		Dir: dir, Keep: time.Hour, MaxBytes: 1 << 20, Clock: testclock.NewFakeClock(time.Now()), Failed: func(err error) { told = append(told, err) },
	})
	if err != nil {
		t.Fatal(err)
	}
	page, err := s.List(t.Context(), Query{})
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	if len(page.Entries) != 1 || page.Last != 2 {
		t.Errorf("List() = %+v, want the entry that can be decoded", page)
	}
	if len(told) != 1 {
		t.Errorf("told %v, want what is left out", told)
	}
}
