// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// formerDir is where the directory of keys is for the moment in which another one comes into its place.
const formerDir = pkiDir + ".former"

// TakeUp takes up keys that another server has published, and reports whether there was anything to do. With running, it changes file by
// file, for who watches them; otherwise all of them in one step. What cannot be opened is ErrSealed, and what is older than the keys here
// is refused: whoever can write to the datastore must not bring back keys that were given up.
func (g *Garden) TakeUp(from Sealed, running bool, now time.Time) (bool, error) {
	g.changing.Lock()
	defer g.changing.Unlock()
	is, err := readHeld(g.Dir)
	if err != nil {
		return false, err
	}
	switch {
	case is.Generation == from.Generation && is.Next == nil && !g.unread:
		return false, nil
	case is.Generation == from.Generation && is.Next == nil:
		return true, g.read(now)
	case from.Number < is.Number:
		return false, fmt.Errorf("%w: %d there, %d in %q; if the datastore was restored from a backup, run \"terrarium bundle import --force\" with the bundle of that time here",
			ErrOlderGeneration, from.Number, is.Number, filepath.Join(g.Dir, pkiDir))
	}
	files, err := unseal(g.Dir, from.Generation, from.Content)
	if err != nil {
		return false, err
	}
	before, err := sharedFiles(g.Dir)
	if err != nil {
		return false, err
	}
	here := digestOf(before)
	if here == from.Digest && is.Next == nil && !g.unread {
		return true, writeHeld(g.Dir, held{Generation: from.Generation})
	}
	// Without a note, they came from a bundle. While they are written, they are known to be in between.
	if is.Number > 0 && is.Next == nil && here != is.Digest {
		return false, fmt.Errorf("%w, which has generation %d; keep a copy of %q, and run \"terrarium bundle import --force\" with a bundle of another server here, "+
			"or, if it is these keys that are the right ones, with a bundle of this server on the others", ErrUnpublished, from.Number, filepath.Join(g.Dir, pkiDir))
	}
	if running {
		return true, g.apply(from.Generation, files, now)
	}

	g.unread = true
	if err := g.exchange(from.Generation, files, now); err != nil {
		return false, err
	}

	return true, g.read(now)
}

// asideDir is where keys are kept that a bundle had brought, and that were none of those that are published.
const asideDir = pkiDir + ".before-taken-up"

// setAside removes a directory of keys that were published. Others it keeps, in place of earlier ones.
func setAside(former, aside string) error {
	_, err := os.Lstat(filepath.Join(former, generationFile))
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.RemoveAll(aside); err == nil {
			err = os.Rename(former, aside)
		}
	} else if err == nil {
		err = os.RemoveAll(former)
	}
	if err != nil {
		return fmt.Errorf("remove former keys: %w", err)
	}

	return nil
}

// exchange puts a directory with the files of a generation in place of the one with keys.
func (g *Garden) exchange(to Generation, files map[string][]byte, now time.Time) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	staging, err := os.MkdirTemp(g.Dir, pkiStagingDirPattern)
	if err != nil {
		return directoryError(g.Dir, err)
	}
	if err := g.fillExchange(staging, to, files, now); err != nil {
		return errors.Join(err, os.RemoveAll(staging))
	}
	pki, former := filepath.Join(g.Dir, pkiDir), filepath.Join(g.Dir, formerDir)
	if err := os.Rename(pki, former); err != nil {
		return errors.Join(fmt.Errorf("move keys and certificates aside: %w", err), os.RemoveAll(staging))
	}
	if err := os.Rename(staging, pki); err != nil {
		return errors.Join(fmt.Errorf("put keys and certificates into place: %w", err), os.Rename(former, pki), os.RemoveAll(staging))
	}
	if err := syncDir(g.Dir); err != nil {
		return err
	}
	if err := setAside(former, filepath.Join(g.Dir, asideDir)); err != nil {
		return err
	}

	return syncDir(g.Dir)
}

// read reads what is in the directory, and does not forget that it has to.
func (g *Garden) read(now time.Time) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.unread = true
	if err := g.reread(now); err != nil {
		return err
	}
	g.unread = false

	return nil
}

// fillExchange writes the files of a generation, and those of this directory alone, and reads them as a start does.
func (g *Garden) fillExchange(staging string, to Generation, files map[string][]byte, now time.Time) error {
	for name, data := range files {
		if filepath.Base(name) != name || name == "." || name == ".." {
			return fmt.Errorf("generation %d of the keys in the datastore: %w", to.Number, errNotKeys)
		}
		if err := writeFile(filepath.Join(staging, name), data); err != nil {
			return err
		}
	}
	for _, name := range ownFiles() {
		data, err := os.ReadFile(filepath.Join(g.Dir, pkiDir, name)) //nolint:gosec // The path is the operator's own.
		if errors.Is(err, fs.ErrNotExist) || name == generationFile {
			continue
		}
		if err == nil {
			err = writeFile(filepath.Join(staging, name), data)
		}
		if err != nil {
			return fmt.Errorf("keep own certificates: %w", err)
		}
	}
	if err := tryIdentity(staging, now); err != nil {
		return err
	}
	if _, err := loadWorkloadIdentityKeys(staging, Layout); err != nil {
		return err
	}

	return writeNote(staging, held{Generation: to})
}

// restoreFormer undoes an exchange that was interrupted in the middle. What it was about is taken up again.
func restoreFormer(dir string) error {
	pki, former := filepath.Join(dir, pkiDir), filepath.Join(dir, formerDir)
	if _, err := os.Lstat(former); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if _, err := os.Lstat(pki); err == nil {
		return setAside(former, filepath.Join(dir, asideDir))
	}
	if err := os.Rename(former, pki); err != nil {
		return fmt.Errorf("put keys and certificates back: %w", err)
	}

	return syncDir(dir)
}
