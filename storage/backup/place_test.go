// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
	if text, err := os.ReadFile(filepath.Join(p.dir, "file")); err != nil || string(text) != "new" {
		t.Errorf("The data directory has %q, %v", text, err)
	}
	if text, err := os.ReadFile(filepath.Join(p.dir+".before-"+start.Format(timeForm), "file")); err != nil || string(text) != "old" {
		t.Errorf("What was there before is gone: %q, %v", text, err)
	}
}

// TestNoExchange leaves everything as it was where the directories cannot be exchanged.
func TestNoExchange(t *testing.T) {
	t.Parallel()
	p, stage := inPlace(t)
	p.exchange = func(string, string) error { return errors.ErrUnsupported }
	if _, err := p.put(stage, start); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("got %v", err)
	}
	if text, err := os.ReadFile(filepath.Join(p.dir, "file")); err != nil || string(text) != "old" {
		t.Errorf("The data directory has %q, %v", text, err)
	}
	if all, err := os.ReadDir(filepath.Dir(p.dir)); err != nil || len(all) != 1 {
		t.Errorf("Left beside the data directory: %v, %v", all, err)
	}
}
