// SPDX-License-Identifier: Apache-2.0

package log_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/terrarium-garden/terrarium/storage/log"
)

// since exports what came after a revision.
func since(t *testing.T, l *log.Log, after int64) (records int, err error) {
	t.Helper()
	e, err := l.Export(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}()
	err = e.Since(t.Context(), after, func(*log.Record) error {
		records++

		return nil
	})

	return records, err
}

// TestHold keeps what an export waits for, though the past states are compacted, but not without a bound.
func TestHold(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	cfg.MinRevisions, cfg.MaxRevisions, cfg.HeldRevisions = 1, 1, 100
	l := open(t, cfg)
	write := func(n int) {
		for i := range n {
			apply(t, l, log.Change{Key: "/a", Value: fmt.Appendf(nil, "%d", i), Revision: l.Head("/a")})
		}
	}
	write(10)
	after := l.Revision()
	l.Hold(after)
	write(50)
	if got, err := since(t, l, after); err != nil || got != 50 {
		t.Errorf("Since(held revision): got %d records, %v; want 50", got, err)
	}
	if got := l.Compacted(); got <= after {
		t.Errorf("a hold does not change which states can be read: compacted up to %d, want beyond %d", got, after)
	}
	write(100)
	if _, err := since(t, l, after); !errors.Is(err, log.ErrCompacted) {
		t.Errorf("Since(a revision with more after it than can be held): got %v, want %v", err, log.ErrCompacted)
	}
	after = l.Revision()
	l.Hold(after)
	write(50)
	l.Release()
	write(50)
	if _, err := since(t, l, after); !errors.Is(err, log.ErrCompacted) {
		t.Errorf("Since(revision that was released): got %v, want %v", err, log.ErrCompacted)
	}
}

// TestBytes bounds what is kept by its size as well: with large values, few revisions fill a disk.
func TestBytes(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	cfg.MinRevisions, cfg.MaxBytes, cfg.HeldBytes = 10, 100<<10, 300<<10
	l := open(t, cfg)
	write := func(n int) {
		for range n {
			apply(t, l, log.Change{Key: "/a", Value: make([]byte, 1000), Revision: l.Head("/a")})
		}
	}
	write(90)
	if got := l.Compacted(); got != 0 {
		t.Errorf("What is young and fits is kept.\nCompacted(): got %d", got)
	}
	held := l.Revision()
	l.Hold(held)
	write(200)
	if got, least, most := l.Compacted(), l.Revision()-110, l.Revision()-80; got < least || got > most {
		t.Errorf("The newest 100 KiB are kept.\nCompacted(): got %d, want from %d to %d", got, least, most)
	}
	if got, err := since(t, l, held); err != nil || got != 200 {
		t.Errorf("Since(held revision): got %d records, %v; want 200", got, err)
	}
	write(200)
	if _, err := since(t, l, held); !errors.Is(err, log.ErrCompacted) {
		t.Errorf("Since(a revision with more after it than can be held): got %v, want %v", err, log.ErrCompacted)
	}
	if size, err := l.Size(t.Context()); err != nil || size > 300<<10 {
		t.Errorf("Size(): got %d bytes, %v; want at most 300 KiB", size, err)
	}
}

// TestSum tells two histories apart by the record of a revision.
func TestSum(t *testing.T) {
	t.Parallel()
	var sums []int64
	for _, value := range []string{"one", "one", "another"} {
		l := open(t, config(t))
		written := apply(t, l, log.Change{Key: "/a", Value: []byte(value)})
		for _, revision := range []int64{written.Revision, written.Revision + 1} {
			sums = append(sums, sumAt(t.Context(), t, l, revision))
		}
	}
	if sums[0] == 0 || sums[0] != sums[2] || sums[0] == sums[4] || sums[1] != 0 {
		t.Errorf("checksums of the same, the same and another record, each with that of none after it: %v", sums)
	}
}

func sumAt(ctx context.Context, t *testing.T, l *log.Log, revision int64) int64 {
	t.Helper()
	e, err := l.Export(ctx)
	if err != nil {
		t.Fatal(err)
	}
	sum, err := e.Sum(ctx, revision)
	if err = errors.Join(err, e.Close()); err != nil {
		t.Fatal(err)
	}

	return sum
}
