// SPDX-License-Identifier: Apache-2.0

package auditlog_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/terrarium-garden/terrarium/appliance/auditlog"
)

func line(n int, padding int) []byte {
	return fmt.Appendf(nil, `{"auditID":"%d","verb":"create","user":{"username":"alice"},"stageTimestamp":"2030-01-01T00:00:00Z","userAgent":%q}`+"\n",
		n, strings.Repeat("x", padding))
}

// TestBounds writes far more than is kept, from many goroutines: the size is kept to, no line is torn, and the newest are there.
func TestBounds(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "audit")
	l, err := auditlog.Open(auditlog.Config{Dir: dir, MaxBytes: 1 << 20, MaxAge: time.Hour, Clock: clock.RealClock{}, Log: logr.Discard()})
	if err != nil {
		t.Fatal(err)
	}
	const writers, each = 8, 2000
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			for n := range each {
				if _, err := l.Write(line(w*each+n, 1000)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if _, err := l.Write(line(-1, 1)); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Write(line(0, 1)); err == nil {
		t.Error("a closed log takes nothing")
	}
	found, err := auditlog.Search(t.Context(), dir, auditlog.Filter{User: "alice", Limit: 3})
	if err != nil || len(found) != 3 || found[2].AuditID != "-1" {
		t.Errorf("the newest event is the last one that is found: got %+v, %v", found, err)
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var size int64
	for _, f := range files {
		info, err := f.Info()
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
	}
	// What waits at once is written to one file.
	if size > 6<<20 {
		t.Errorf("got %d bytes in %d files", size, len(files))
	}
}

// TestSearchOverLongLines searches a file with lines that are too long to be events: they are left out, and nothing else is.
func TestSearchOverLongLines(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	long := bytes.Repeat([]byte("x"), 3<<20)
	content := slices.Concat(line(1, 10), long, []byte("\n"), line(2, 10), long[:1<<20], []byte("\n"), line(3, 10), long)
	if err := os.WriteFile(filepath.Join(dir, "audit.log"), content, 0o600); err != nil {
		t.Fatal(err)
	}
	found, err := auditlog.Search(t.Context(), dir, auditlog.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for i := range found {
		ids = append(ids, found[i].AuditID)
	}
	if diff := cmp.Diff([]string{"1", "2", "3"}, ids); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// TestFilesFromTheFuture has files of a time when the clock was ahead, which fill the space: they make room for what comes after them.
func TestFilesFromTheFuture(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	now := time.Date(2030, 1, 2, 0, 0, 0, 0, time.UTC)
	for n := range 9 {
		name := fmt.Sprintf("audit-%s.log", now.AddDate(60, 0, n).Format("20060102T150405.000000000Z"))
		if err := os.WriteFile(filepath.Join(dir, name), make([]byte, 100<<10), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for n := range 2 {
		name := fmt.Sprintf("audit-%s.log", now.AddDate(0, 0, -n).Format("20060102T150405.000000000Z"))
		if err := os.WriteFile(filepath.Join(dir, name), make([]byte, 100<<10), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	clk := clocktesting.NewFakeClock(now)
	l, err := auditlog.Open(auditlog.Config{Dir: dir, MaxBytes: 1 << 20, MaxAge: 30 * 24 * time.Hour, Clock: clk, Log: logr.Discard()})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	left := map[string]int{}
	for _, f := range files {
		left[f.Name()[:len("audit-20")]]++
	}
	if diff := cmp.Diff(map[string]int{"audit-20": 8, "audit.lo": 1}, left); diff != "" {
		t.Errorf("as much as fits is left (-want +got):\n%s", diff)
	}
	for _, day := range []string{"20300101", "20300102"} {
		if !slices.ContainsFunc(files, func(f os.DirEntry) bool { return strings.HasPrefix(f.Name(), "audit-"+day) }) {
			t.Errorf("the file of %s is gone", day)
		}
	}
}

// TestOutcome selects events by what came of the request.
func TestOutcome(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var content []byte
	for _, code := range []int{200, 201, 401, 403, 409, 500} {
		content = fmt.Appendf(content, `{"auditID":"%d","stage":"ResponseComplete","verb":"get","responseStatus":{"code":%d}}`+"\n", code, code)
	}
	content = append(content, `{"auditID":"none","stage":"ResponseComplete","verb":"get"}`+"\n"...)
	if err := os.WriteFile(filepath.Join(dir, "audit.log"), content, 0o600); err != nil {
		t.Fatal(err)
	}
	for outcome, want := range map[auditlog.Outcome]string{
		"": "200 201 401 403 409 500 none", auditlog.Succeeded: "200 201 none", auditlog.Failed: "401 403 409 500", auditlog.Denied: "401 403",
	} {
		found, err := auditlog.Search(t.Context(), dir, auditlog.Filter{Outcome: outcome})
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for i := range found {
			ids = append(ids, found[i].AuditID)
		}
		if got := strings.Join(ids, " "); got != want {
			t.Errorf("outcome %q: got %q, want %q", outcome, got, want)
		}
	}
	if auditlog.Outcome("other").Valid() {
		t.Error("other is no outcome")
	}
}

// TestAge keeps events for a limited time, although there is space for more.
func TestAge(t *testing.T) {
	t.Parallel()
	dir, clk := t.TempDir(), clocktesting.NewFakeClock(time.Now())
	cfg := auditlog.Config{Dir: dir, MaxBytes: 1 << 20, MaxAge: 8 * time.Hour, Clock: clk, Log: logr.Discard()}
	for n := range 40 {
		l, err := auditlog.Open(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.Write(line(n, 1)); err != nil {
			t.Fatal(err)
		}
		clk.Step(90 * time.Minute)
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	found, err := auditlog.Search(t.Context(), dir, auditlog.Filter{})
	if err != nil || len(found) == 0 || len(found) > 10 {
		t.Errorf("got %d events, %v; want those of a few hours", len(found), err)
	}
}
