// SPDX-License-Identifier: Apache-2.0

package log_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/terrarium-garden/terrarium/storage/log"
)

// TestFlippedBytes changes single bytes of a value in the file, which SQLite itself does not notice. The record is not served, a check
// names it, other keys are still served, and the damaged key can be removed.
func TestFlippedBytes(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	cfg.HistoryBytes = 1
	l := open(t, cfg)
	apply(t, l, log.Change{Key: "/good", Value: []byte("untouched")})
	hurt := apply(t, l, log.Change{Key: "/bad", Value: []byte("CANARY-VALUE-CANARY")})
	for _, full := range []bool{false, true} {
		if problems, err := l.Check(t.Context(), full); err != nil || len(problems) > 0 {
			t.Fatalf("a whole file has no problems: got %q, %v", problems, err)
		}
	}
	end(t, l)

	flip(t, cfg.File, "CANARY-VALUE")

	if problems, err := log.CheckFile(t.Context(), cfg.File, false); err != nil || len(problems) != 1 {
		t.Errorf("the check of a file names the record: got %q, %v", problems, err)
	}
	l = open(t, cfg)
	keys, err := l.Damaged(t.Context())
	if err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"/bad"}, keys); diff != "" {
		t.Errorf("the damaged keys (-want +got):\n%s", diff)
	}
	for what, read := range map[string]log.Read{
		"the key":   {Range: log.Range{Key: "/bad"}},
		"its range": {Range: log.Range{Key: "/", End: "0"}},
	} {
		got, err := l.List(t.Context(), read)
		if diff := cmp.Diff(log.ErrDamaged, err, cmpopts.EquateErrors()); diff != "" {
			t.Errorf("%s is not served: got %d records; error (-want +got):\n%s", what, len(got.Records), diff)
		}
	}
	if got, err := l.List(t.Context(), log.Read{Range: log.Range{Key: "/good"}}); err != nil || len(got.Records) != 1 {
		t.Errorf("other keys are served: got %d records, %v", len(got.Records), err)
	}
	if problems, err := l.Check(t.Context(), true); err != nil || len(problems) != 1 {
		t.Errorf("the check names the record: got %q, %v", problems, err)
	}
	if removed := apply(t, l, log.Change{Key: "/bad", Delete: true, Revision: hurt.Revision}); removed.PreviousValue != nil {
		t.Errorf("what a damaged record held is not known: got %q", removed.PreviousValue)
	}
	if got, err := l.List(t.Context(), log.Read{Range: log.Range{Key: "/", End: "0"}}); err != nil || len(got.Records) != 1 {
		t.Errorf("the damaged key can be removed, and the range is served again: got %d records, %v", len(got.Records), err)
	}
}

// flip changes a byte of a text that is in a file once.
func flip(t *testing.T, path, text string) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(content, []byte(text)); n != 1 {
		t.Fatalf("the value is %d times in the file", n)
	}
	content[bytes.Index(content, []byte(text))] ^= 1
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestExportOfDamage copies nothing that is damaged: the copy would have a checksum that is right.
func TestExportOfDamage(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	l := open(t, cfg)
	apply(t, l, log.Change{Key: "/good", Value: []byte("untouched")})
	hurt := apply(t, l, log.Change{Key: "/bad", Value: []byte("CANARY-VALUE-CANARY")})
	end(t, l)
	flip(t, cfg.File, "CANARY-VALUE")
	l = open(t, cfg)
	read := func() (records int, state, since error) {
		e, err := l.Export(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		count := func(*log.Record) error {
			records++

			return nil
		}
		state, since = e.State(t.Context(), count), e.Since(t.Context(), 0, count)
		if err := e.Close(); err != nil {
			t.Error(err)
		}

		return records, state, since
	}
	records, state, since := read()
	if diff := cmp.Diff([]error{log.ErrDamaged, log.ErrDamaged}, []error{state, since}, cmpopts.EquateErrors()); diff != "" || records != 2 {
		t.Errorf("a damaged record is not exported: got %d records, want 2; errors (-want +got):\n%s", records, diff)
	}
	// A state has no more use for the record once its key is gone.
	apply(t, l, log.Change{Key: "/bad", Delete: true, Revision: hurt.Revision})
	_, state, since = read()
	if diff := cmp.Diff([]error{nil, log.ErrDamaged}, []error{state, since}, cmpopts.EquateErrors()); diff != "" {
		t.Errorf("after the key was removed: errors (-want +got):\n%s", diff)
	}
}
