// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// change makes a step of a rotation. If the keys are shared, the step is first made on a copy, then published, and only then made here: a
// server that ends in between, here or elsewhere, takes it up from what was published.
func (s *Sharing) change(now time.Time, step func(*material) error) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	if s.publish == nil {
		s.here.mu.Lock()
		defer s.here.mu.Unlock()

		return step(s.here)
	}
	from, err := readHeld(s.dir)
	if err != nil {
		return err
	}
	before, err := sharedFiles(s.dir)
	if err != nil {
		return err
	}
	if from.Next == nil && digestOf(before) != from.Digest {
		return unpublished(s.dir, from.Generation)
	}
	after, err := s.rehearse(now, step)
	if err != nil || maps.EqualFunc(before, after, bytes.Equal) {
		return err
	}
	next, err := sealNext(s.dir, from.Generation, after)
	if err != nil {
		return err
	}
	if err := s.publish(from.Generation, *next); err != nil {
		return err
	}

	return s.apply(next.Generation, after, now)
}

// rehearse makes a step on a copy, and returns the files that come out.
func (s *Sharing) rehearse(now time.Time, step func(*material) error) (files map[string][]byte, err error) {
	dir, err := os.MkdirTemp(s.dir, pkiStagingDirPattern)
	if err != nil {
		return nil, directoryError(s.dir, err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := os.CopyFS(filepath.Join(dir, pkiDir), regular{os.DirFS(filepath.Join(s.dir, pkiDir))}); err != nil {
		return nil, fmt.Errorf("copy keys and certificates: %w", err)
	}
	staged := materialIn(dir)
	s.here.mu.RLock()
	staged.certificates.names = s.here.certificates.names
	s.here.mu.RUnlock()
	if err := staged.load(now); err != nil {
		return nil, err
	}
	if err := staged.workloadIdentity.read(Layout); err != nil {
		return nil, err
	}
	if err := step(staged); err != nil {
		return nil, err
	}

	return sharedFiles(dir)
}

// regular leaves out what a write has not finished.
type regular struct{ fs.FS }

// ReadDir implements fs.ReadDirFS.
func (r regular) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(r.FS, name)

	return slices.DeleteFunc(entries, func(e fs.DirEntry) bool {
		return !e.Type().IsRegular() && e.Name() != "." || strings.HasPrefix(e.Name(), ".tmp-")
	}), err
}

// apply writes the files of a generation in place, for a garden that runs: who watches them sees each change. What the keys belong to is
// written before the keys.
func (s *Sharing) apply(to Generation, files map[string][]byte, now time.Time) error {
	s.here.mu.Lock()
	defer s.here.mu.Unlock()
	is, err := readHeld(s.dir)
	if err != nil {
		return err
	}
	before, err := sharedFiles(s.dir)
	if err != nil {
		return err
	}
	if err := writeHeld(s.dir, held{Generation: is.Generation, Next: &to}); err != nil {
		return err
	}
	pki := filepath.Join(s.dir, pkiDir)
	for _, name := range slices.SortedFunc(maps.Keys(files), keysLast) {
		if bytes.Equal(before[name], files[name]) {
			continue
		}
		if err := writeFile(filepath.Join(pki, name), files[name]); err != nil {
			return err
		}
	}
	for name := range before {
		if _, stays := files[name]; stays {
			continue
		}
		if err := os.Remove(filepath.Join(pki, name)); err != nil {
			return fmt.Errorf("take up keys: %w", err)
		}
	}
	if err := errors.Join(syncDir(pki), s.here.reread(now)); err != nil {
		return err
	}

	return writeHeld(s.dir, held{Generation: to})
}

// keysLast orders files for apply.
func keysLast(a, b string) int {
	isKey := func(name string) bool { return strings.HasSuffix(name, ".key") }
	switch {
	case isKey(a) == isKey(b):
		return strings.Compare(a, b)
	case isKey(a):
		return 1
	default:
		return -1
	}
}
