// SPDX-License-Identifier: Apache-2.0

package timeline_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	testclock "k8s.io/utils/clock/testing"

	gardenappliancev1alpha1 "github.com/terrarium-garden/terrarium/apis/appliance/v1alpha1"
	"github.com/terrarium-garden/terrarium/storage/local/timeline"
)

var start = time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)

func open(t *testing.T, dir string, clk clock.WithTicker, maxBytes int64) *timeline.Store {
	t.Helper()
	s, err := timeline.Open(timeline.Config{
		Dir: dir, Keep: 30 * 24 * time.Hour, MaxBytes: maxBytes, Clock: clk, Failed: func(err error) { t.Error(err) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})

	return s
}

func entry(namespace, kind, name string, at time.Time) *timeline.Entry {
	e := &timeline.Entry{
		Time: metav1.NewMicroTime(at), Type: gardenappliancev1alpha1.TimelineEntryRemoved,
		Subject: gardenappliancev1alpha1.TimelineSubject{Kind: kind, Namespace: namespace, Name: name},
	}
	e.Namespace = namespace

	return e
}

func names(page timeline.Page) []string {
	var all []string
	for _, e := range page.Entries {
		all = append(all, e.Namespace+"/"+e.Subject.Kind+"/"+e.Subject.Name+" "+e.ResourceVersion)
	}

	return all
}

func list(t *testing.T, s *timeline.Store, q timeline.Query) timeline.Page {
	t.Helper()
	page, err := s.List(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}

	return page
}

func TestList(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir(), testclock.NewFakeClock(start), 1<<30)
	if err := s.Append(t.Context(),
		entry("garden-a", "Shoot", "one", start),
		entry("garden-a", "Shoot", "one-more", start.Add(time.Minute)),
		entry("garden-ab", "Shoot", "one", start.Add(2*time.Minute)),
		entry("garden-a", "BackupEntry", "one", start.Add(3*time.Minute)),
		entry("garden-a", "Shoot", "one", start.Add(4*time.Minute)),
	); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		query timeline.Query
		want  []string
		more  bool
	}{
		"all": {want: []string{
			"garden-a/Shoot/one 1", "garden-a/Shoot/one-more 2", "garden-ab/Shoot/one 3", "garden-a/BackupEntry/one 4", "garden-a/Shoot/one 5",
		}},
		"a namespace, in order": {
			query: timeline.Query{Namespace: "garden-a"},
			want:  []string{"garden-a/Shoot/one 1", "garden-a/Shoot/one-more 2", "garden-a/BackupEntry/one 4", "garden-a/Shoot/one 5"},
		},
		"a kind": {
			query: timeline.Query{Namespace: "garden-a", Kind: "Shoot"},
			want:  []string{"garden-a/Shoot/one 1", "garden-a/Shoot/one-more 2", "garden-a/Shoot/one 5"},
		},
		"an object, not others whose names begin alike": {
			query: timeline.Query{Namespace: "garden-a", Kind: "Shoot", Name: "one"},
			want:  []string{"garden-a/Shoot/one 1", "garden-a/Shoot/one 5"},
		},
		"later ones": {
			query: timeline.Query{Namespace: "garden-a", Kind: "Shoot", Name: "one", After: 1},
			want:  []string{"garden-a/Shoot/one 5"},
		},
		"a span of time": {
			query: timeline.Query{Since: start.Add(time.Minute), Until: start.Add(3 * time.Minute)},
			want:  []string{"garden-a/Shoot/one-more 2", "garden-ab/Shoot/one 3"},
		},
		"a page": {
			query: timeline.Query{Namespace: "garden-a", Limit: 2, After: 1},
			want:  []string{"garden-a/Shoot/one-more 2", "garden-a/BackupEntry/one 4"}, more: true,
		},
		"the last page": {query: timeline.Query{Limit: 2, After: 3}, want: []string{"garden-a/BackupEntry/one 4", "garden-a/Shoot/one 5"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			page := list(t, s, tc.query)
			if diff := cmp.Diff(tc.want, names(page)); diff != "" || page.More != tc.more || page.Last != 5 {
				t.Errorf("more %v, last %d (-want +got)\n%s", page.More, page.Last, diff)
			}
		})
	}
}

func TestOffer(t *testing.T) {
	t.Parallel()
	clk := testclock.NewFakeClock(start)
	s := open(t, t.TempDir(), clk, 1<<30)
	changed := s.Changed()
	s.Offer(entry("a", "Shoot", "offered", start))
	// Who waits for an entry does not wait for the rest of the time that others linger.
	if err := s.Append(t.Context(), entry("a", "Shoot", "appended", start)); err != nil {
		t.Fatal(err)
	}
	<-changed
	if diff := cmp.Diff([]string{"a/Shoot/offered 1", "a/Shoot/appended 2"}, names(list(t, s, timeline.Query{}))); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestFull checks that entries are dropped while too many wait, and that this is told.
func TestFull(t *testing.T) {
	t.Parallel()
	clk, told := testclock.NewFakeClock(start), make(chan error, 1)
	s, err := timeline.Open(timeline.Config{
		Dir: t.TempDir(), Keep: time.Hour, MaxBytes: 1 << 30, Clock: clk, Failed: func(err error) { told <- err },
	})
	if err != nil {
		t.Fatal(err)
	}
	batch := make([]*timeline.Entry, 1000)
	for i := range batch {
		batch[i] = entry("a", "Shoot", "s", start)
	}
	// The writer lingers, because the clock stands still.
	for range 21 {
		s.Offer(batch...)
	}
	if err := s.Append(t.Context(), entry("a", "Shoot", "s", start)); !errors.Is(err, timeline.ErrFull) {
		t.Errorf("an entry beyond the limit: %v", err)
	}
	s.Lost(2)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(timeline.ErrFull.Error()+": 1003 entries were left out", (<-told).Error()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestFullOfLongTexts checks that few entries are too many if they take much memory, and that there is room again when they are written.
func TestFullOfLongTexts(t *testing.T) {
	t.Parallel()
	const most = 32 << 20
	clk, told := testclock.NewFakeClock(start), make(chan error, 1)
	s, err := timeline.Open(timeline.Config{
		Dir: t.TempDir(), Keep: time.Hour, MaxBytes: 1 << 30, Clock: clk, Failed: func(err error) { told <- err },
	})
	if err != nil {
		t.Fatal(err)
	}
	large := entry("a", "Shoot", "s", start)
	large.Condition = &gardenappliancev1alpha1.TimelineCondition{Message: strings.Repeat("x", 1<<20)}
	for range 2 * most >> 20 {
		s.Offer(large)
	}
	if err := s.Append(t.Context(), large); !errors.Is(err, timeline.ErrFull) {
		t.Errorf("an entry beyond the limit: %v", err)
	}
	// Somebody who waits for a small one has the writer write all.
	if err := s.Append(t.Context(), entry("a", "Shoot", "small", start)); err != nil {
		t.Fatal(err)
	}
	if err := s.Append(t.Context(), large); err != nil {
		t.Errorf("an entry after the others were written: %v", err)
	}
	if n, least := len(list(t, s, timeline.Query{}).Entries), most>>21; n < least || n > most>>20+1 {
		t.Errorf("%d entries of 1 MiB were taken, want at least %d and no more than %d", n, least, most>>20+1)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	close(told)
	if err := <-told; !errors.Is(err, timeline.ErrFull) {
		t.Errorf("Failed was told %v", err)
	}
}

// TestListOfLongTexts checks that a page does not take more memory than it may, but has an entry in any case.
func TestListOfLongTexts(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir(), clock.RealClock{}, 1<<30)
	for n := range 5 {
		large := entry("a", "Shoot", fmt.Sprint("s", n), start)
		large.User = strings.Repeat("x", 100_000)
		if err := s.Append(t.Context(), large); err != nil {
			t.Fatal(err)
		}
	}
	for most, want := range map[int64]int{0: 5, 1: 1, 150_000: 1, 250_000: 2, 1_000_000: 5} {
		page, err := s.List(t.Context(), timeline.Query{MostWeight: most})
		if err != nil {
			t.Fatal(err)
		}
		if len(page.Entries) != want || page.More != (want < 5) {
			t.Errorf("at most %d bytes: %d entries, more %t; want %d of 5", most, len(page.Entries), page.More, want)
		}
	}
}

// TestReopen checks that everything that was acknowledged or offered before a close is there afterwards, and that numbers go on.
func TestReopen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir, clock.RealClock{}, 1<<30)
	var writers sync.WaitGroup
	for w := range 8 {
		writers.Go(func() {
			for n := range 50 {
				if err := s.Append(t.Context(), entry("a", "Shoot", fmt.Sprintf("s%d-%d", w, n), start)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	s.Offer(entry("a", "Shoot", "last", start))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Append(t.Context(), entry("a", "Shoot", "late", start)); !errors.Is(err, timeline.ErrClosed) {
		t.Errorf("append to a closed timeline: %v", err)
	}
	s = open(t, dir, clock.RealClock{}, 1<<30)
	if err := s.Append(t.Context(), entry("a", "Shoot", "next", time.Now())); err != nil {
		t.Fatal(err)
	}
	page := list(t, s, timeline.Query{Since: start})
	if page.Last != 402 {
		t.Errorf("the newest entry is %d, want 402", page.Last)
	}
}

func TestPruneByAge(t *testing.T) {
	t.Parallel()
	clk := testclock.NewFakeClock(start)
	s := open(t, t.TempDir(), clk, 1<<30)
	var old []*timeline.Entry
	for range 2500 {
		old = append(old, entry("a", "Shoot", "old", start))
	}
	if err := s.Append(t.Context(), append(old, entry("a", "Shoot", "young", start.Add(29*24*time.Hour)))...); err != nil {
		t.Fatal(err)
	}
	clk.Step(30*24*time.Hour + time.Minute)
	// Every write is followed by a look for old entries; the second one comes after the look of the first.
	for range 4 {
		if err := s.Append(t.Context(), entry("a", "Shoot", "new", clk.Now())); err != nil {
			t.Fatal(err)
		}
	}
	waitFor(t, s, func(page timeline.Page) bool {
		return len(page.Entries) == 5 && page.Entries[0].Subject.Name == "young"
	})
	if got := list(t, s, timeline.Query{Namespace: "a", Kind: "Shoot", Name: "old"}); len(got.Entries) != 0 {
		t.Errorf("%d old entries are still found by their object", len(got.Entries))
	}
	if err := s.Reaches(0); !errors.Is(err, timeline.ErrExpired) {
		t.Errorf("entries have been removed, but a watch from the beginning is accepted: %v", err)
	}
	if err := s.Reaches(2500); err != nil {
		t.Errorf("a watch that has missed nothing is refused: %v", err)
	}
}

// TestPruneByAgeBesideAWrongClock has entries that were added while the clock was years ahead: they do not keep older ones from being removed,
// and are removed with what was added after them.
func TestPruneByAgeBesideAWrongClock(t *testing.T) {
	t.Parallel()
	clk := testclock.NewFakeClock(start)
	s := open(t, t.TempDir(), clk, 1<<30)
	wrong := start.AddDate(50, 0, 0)
	all := []*timeline.Entry{entry("a", "Shoot", "wrong", wrong)}
	for range 1500 {
		all = append(all, entry("a", "Shoot", "old", start), entry("a", "Shoot", "wrong", wrong))
	}
	all = append(all, entry("a", "Shoot", "young", start.Add(29*24*time.Hour)))
	if err := s.Append(t.Context(), all...); err != nil {
		t.Fatal(err)
	}
	clk.Step(30*24*time.Hour + time.Minute)
	for range 4 {
		if err := s.Append(t.Context(), entry("a", "Shoot", "new", clk.Now())); err != nil {
			t.Fatal(err)
		}
	}
	waitFor(t, s, func(page timeline.Page) bool {
		return len(page.Entries) == 6 && page.Entries[0].Subject.Name == "wrong" && page.Entries[1].Subject.Name == "young"
	})
}

// TestLast finds the newest entry of an object without reading those before it, and none of objects whose names are alike.
func TestLast(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir(), testclock.NewFakeClock(start), 1<<30)
	if err := s.Append(t.Context(),
		entry("garden-a", "Shoot", "one", start),
		entry("garden-a", "Shoot", "one", start.Add(time.Minute)),
		entry("garden-a", "Shoot", "one", start.Add(2*time.Minute)),
		entry("garden-a", "Shoot", "on", start),
		entry("garden-a", "Shoot", "one-more", start),
		entry("garden-ab", "Shoot", "one", start),
		entry("z", "Z", "z", start),
	); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		query timeline.Query
		skip  int
		want  string
		read  int
	}{
		"the newest":            {query: timeline.Query{Namespace: "garden-a", Kind: "Shoot", Name: "one"}, want: "3", read: 1},
		"the newest but one":    {query: timeline.Query{Namespace: "garden-a", Kind: "Shoot", Name: "one"}, skip: 1, want: "2", read: 2},
		"before a time":         {query: timeline.Query{Namespace: "garden-a", Kind: "Shoot", Name: "one", Until: start.Add(time.Minute)}, want: "1", read: 1},
		"none that is selected": {query: timeline.Query{Namespace: "garden-a", Kind: "Shoot", Name: "one"}, skip: 3, read: 3},
		"none at all":           {query: timeline.Query{Namespace: "garden-a", Kind: "Shoot", Name: "o"}},
		"the last of the file":  {query: timeline.Query{Namespace: "z", Kind: "Z", Name: "z"}, want: "7", read: 1},
		"after all of the file": {query: timeline.Query{Namespace: "z", Kind: "Z", Name: "zz"}},
		"before all of it":      {query: timeline.Query{Namespace: "a", Kind: "A", Name: "a"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			read := 0
			tc.query.Keep = func(*timeline.Entry) bool { read++; return read > tc.skip }
			last, err := s.Last(t.Context(), tc.query)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if last != nil {
				got = last.ResourceVersion
			}
			if got != tc.want || read != tc.read {
				t.Errorf("Last(): got entry %q after %d were read, want %q after %d", got, read, tc.want, tc.read)
			}
		})
	}
}

func TestPruneBySize(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir, clock.RealClock{}, 2<<20)
	for round := range 40 {
		var batch []*timeline.Entry
		for range 1000 {
			batch = append(batch, entry("a", "Shoot", fmt.Sprintf("s%d", round), time.Now()))
		}
		if err := s.Append(t.Context(), batch...); err != nil {
			t.Fatal(err)
		}
	}
	page := list(t, s, timeline.Query{})
	if n := len(page.Entries); n == 40_000 || n < 1000 || page.Entries[n-1].Subject.Name != "s39" {
		t.Errorf("%d entries are left", n)
	}
	info, err := os.Stat(filepath.Join(dir, "timeline.db"))
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > 8<<20 {
		t.Errorf("the file has grown to %d bytes", info.Size())
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "timeline.db"), []byte("no database, but long enough to be looked at"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := timeline.Open(timeline.Config{Dir: dir, Keep: time.Hour, MaxBytes: 1 << 20, Clock: clock.RealClock{}}); err == nil {
		t.Error("a damaged file is opened")
	}
}

// waitFor lists again after each change until the page is as wanted.
func waitFor(t *testing.T, s *timeline.Store, wanted func(timeline.Page) bool) {
	t.Helper()
	deadline := time.After(30 * time.Second)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		page := list(t, s, timeline.Query{})
		if wanted(page) {
			return
		}
		select {
		case <-deadline:
			t.Fatalf("%d entries, not as wanted", len(page.Entries))
		case <-tick.C:
		}
	}
}

// slowWriter is a destination that does not go on before something is done.
type slowWriter struct {
	first func()
	bytes int
}

func (w *slowWriter) Write(p []byte) (int, error) {
	if w.bytes == 0 {
		w.first()
	}
	w.bytes += len(p)

	return len(p), nil
}

// TestWriteDuringCopy: while the file is copied to where it takes long, entries are written though the file grows by them.
func TestWriteDuringCopy(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir(), clock.RealClock{}, 1<<20)
	written := make(chan error, 1)
	to := &slowWriter{first: func() {
		go func() {
			var entries []*timeline.Entry
			for n := range 400 {
				entries = append(entries, entry("garden-a", "Shoot", fmt.Sprintf("%0500d", n), time.Now()))
			}
			written <- s.Append(t.Context(), entries...)
		}()
		select {
		case err := <-written:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(time.Minute):
			t.Error("writes wait for the copy")
		}
	}}
	if err := s.Copy(to); err != nil || to.bytes == 0 {
		t.Errorf("Copy(...): %d bytes, %v", to.bytes, err)
	}
}
