// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// inPlace is a data directory with a file, and a directory that is about to replace it.
func inPlace(t *testing.T) (p place, stage string) {
	t.Helper()
	p = newPlace(filepath.Join(t.TempDir(), "data"), true)
	if err := writeNew(filepath.Join(p.dir, "file"), strings.NewReader("old")); err != nil {
		t.Fatal(err)
	}
	if _, err := p.claim(func(string) (func() error, error) { return func() error { return nil }, nil }); err != nil {
		t.Fatal(err)
	}
	stage, err := p.stage()
	if err != nil {
		t.Fatal(err)
	}
	if err := writeNew(filepath.Join(stage, "file"), strings.NewReader("new")); err != nil {
		t.Fatal(err)
	}

	return p, stage
}

// texts are the contents of files.
func texts(t *testing.T, paths ...string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Error(err)
		}
		found[path] = string(text)
	}

	return found
}

// TestCrashAfterExchange ends a restore right after the directories were exchanged. The next restore must leave what was there before.
func TestCrashAfterExchange(t *testing.T) {
	t.Parallel()
	p, stage := inPlace(t)
	exchange := p.exchange
	p.exchange = func(one, other string) error {
		if err := exchange(one, other); err != nil {
			t.Error(err)
		}
		panic("crash")
	}
	func() {
		defer func() { _ = recover() }()
		_, _ = p.put(stage, start)
	}()
	next := newPlace(p.dir, true)
	if _, err := next.stage(); err != nil {
		t.Fatal(err)
	}
	file, former := filepath.Join(p.dir, "file"), filepath.Join(p.dir+".before-"+start.Format(timeForm), "file")
	if diff := cmp.Diff(map[string]string{file: "new", former: "old"}, texts(t, file, former)); diff != "" {
		t.Errorf("The data directory, and what was there before (-want +got):\n%s", diff)
	}

	// What the crash has left of the first restore does not harm what the second one moves aside.
	second, err := next.stage()
	if err != nil {
		t.Fatal(err)
	}
	next.full = true
	aside, err := next.put(second, start.Add(time.Second))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := next.stage(); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(aside, "file")); err != nil || string(text) != "new" {
		t.Errorf("What the second restore has moved aside is gone: %q, %v", text, err)
	}
	if _, err := os.Stat(filepath.Join(p.dir, markFile)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("The data directory is still marked: %v", err)
	}
}

// TestCrashBeforeExchange ends a restore right before the directories are exchanged. The next restore removes what it has left, and
// nothing else.
func TestCrashBeforeExchange(t *testing.T) {
	t.Parallel()
	p, stage := inPlace(t)
	earlier := filepath.Join(p.dir+".before-20260101-000000", "file")
	if err := writeNew(earlier, strings.NewReader("earlier")); err != nil {
		t.Fatal(err)
	}
	p.exchange = func(string, string) error { panic("crash") }
	func() {
		defer func() { _ = recover() }()
		_, _ = p.put(stage, start)
	}()
	left := p.dir + ".before-" + start.Format(timeForm)
	if text, err := os.ReadFile(filepath.Join(left, "file")); err != nil || string(text) != "new" {
		t.Fatalf("The crash has left %q, %v", text, err)
	}
	next := newPlace(p.dir, true)
	if _, err := next.stage(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("What was left is still there: %v", err)
	}
	file := filepath.Join(p.dir, "file")
	if diff := cmp.Diff(map[string]string{file: "old", earlier: "earlier"}, texts(t, file, earlier)); diff != "" {
		t.Errorf("What the crash has not touched (-want +got):\n%s", diff)
	}
}

// TestNoExchange leaves everything as it was where the directories cannot be exchanged.
func TestNoExchange(t *testing.T) {
	t.Parallel()
	p, stage := inPlace(t)
	p.exchange = func(string, string) error { return errors.ErrUnsupported }
	_, err := p.put(stage, start)
	if diff := cmp.Diff(errors.ErrUnsupported, err, cmpopts.EquateErrors()); diff != "" {
		t.Errorf("error (-want +got):\n%s", diff)
	}
	file := filepath.Join(p.dir, "file")
	if diff := cmp.Diff(map[string]string{file: "old"}, texts(t, file)); diff != "" {
		t.Errorf("The data directory (-want +got):\n%s", diff)
	}
	if all, err := os.ReadDir(filepath.Dir(p.dir)); err != nil || len(all) != 1 {
		t.Errorf("Left beside the data directory: %v, %v", all, err)
	}
}
