// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// formerDir is where the directory of keys is for the moment in which another one comes into its place.
const formerDir = pkiDir + ".former"

// TakeUp takes up keys that another server has published, and reports whether there was anything to do. With running, it changes file by
// file, for who watches them; otherwise all of them in one step. What cannot be opened is ErrSealed, and what is not newer than the keys here
// is refused: a program that can write to the datastore must not bring back keys that were given up. Keys here that no rotation has made are
// ErrUnpublished, and former ones are kept beside the directory if objects may be stored with them.
func (s *Sharing) TakeUp(from Sealed, running bool, now time.Time) (bool, error) {
	s.changing.Lock()
	defer s.changing.Unlock()
	is, err := readHeld(s.dir)
	if err != nil {
		return false, err
	}
	before, err := sharedFiles(s.dir)
	if err != nil {
		return false, err
	}
	here := digestOf(before)
	if done, err := mayTakeUp(s.dir, is, here, from.Generation); done || err != nil {
		if err == nil && s.unread {
			return true, s.read(now)
		}

		return false, err
	}
	files, err := unseal(s.dir, from.Generation, from.Content)
	if err != nil {
		return false, err
	}
	if err := knownNames(files); err != nil {
		return false, fmt.Errorf("generation %d of the keys in the datastore: %w", from.Number, err)
	}
	if here == from.Digest && is.Next == nil && !s.unread {
		return true, errors.Join(writeHeld(s.dir, held{Generation: from.Generation}), endPublication(s.dir))
	}
	// Without a note, they came from a bundle. While they are written, they are known to be in between.
	if is.Number > 0 && is.Next == nil && here != is.Digest {
		return false, unpublished(s.dir, from.Generation)
	}
	if is.Number == 0 && here != from.Digest || losesKey(before, files) {
		if err := keepAside(s.dir, before, now); err != nil {
			return false, err
		}
	}
	if running {
		return true, errors.Join(s.apply(from.Generation, files, now), endPublication(s.dir))
	}

	s.unread = true
	if err := s.exchange(from.Generation, files, now); err != nil {
		return false, err
	}

	return true, errors.Join(endPublication(s.dir), s.read(now))
}

// knownNames refuses files that are none of the keys and authorities.
func knownNames(files map[string][]byte) error {
	for name := range files {
		if !slices.Contains(sharedNames(), name) {
			return fmt.Errorf("it has a file %q, which this version does not know; upgrade this server", name)
		}
	}

	return nil
}

// mayTakeUp returns why a generation must not be taken up, and whether there is nothing to take up.
func mayTakeUp(dir string, is held, here string, from Generation) (done bool, err error) {
	allowed, err := publicationAllowed(dir, here)
	if err != nil {
		return false, err
	}
	switch {
	case allowed && from.Number <= is.Number:
		return true, nil // The ones here become those of all.
	case from.Number < is.Number:
		return false, fmt.Errorf("%w: %d there, %d in %q; %s", ErrOlderGeneration, from.Number, is.Number, filepath.Join(dir, pkiDir), waysOut)
	case from.Number == is.Number && from.Digest != is.Digest:
		return false, fmt.Errorf("%w: generation %d there is not the one in %q, so it was changed twice; %s", ErrOlderGeneration, is.Number, filepath.Join(dir, pkiDir), waysOut)
	case from == is.Generation && is.Next == nil && here != from.Digest:
		return false, unpublished(dir, from)
	default:
		return from == is.Generation && is.Next == nil, nil
	}
}

// waysOut are what an operator can do about a datastore that has lost its last writes.
const waysOut = "if the datastore was restored from a backup, stop all servers, and either go on with the keys of the server that has the newest ones, unless an encryption key was given up since that backup: " +
	"run \"terrarium bundle publish\" on it, and start it first; or take the older ones: run \"terrarium bundle export\" on a server that has them, and \"terrarium bundle import --force\" here"

// unpublished is the error about keys that were changed beside the rotations.
func unpublished(dir string, from Generation) error {
	return fmt.Errorf("%w, which has generation %d; if the keys in %q are the right ones, stop all servers, run \"terrarium bundle publish\" here, and start this one first; "+
		"otherwise run \"terrarium bundle export\" on another server, and \"terrarium bundle import --force\" here, which keeps a copy", ErrUnpublished, from.Number, filepath.Join(dir, pkiDir))
}

// exchange puts a directory with the files of a generation in place of the one with keys.
func (s *Sharing) exchange(to Generation, files map[string][]byte, now time.Time) error {
	s.here.mu.Lock()
	defer s.here.mu.Unlock()
	staging, err := makeStaging(s.dir)
	if err != nil {
		return err
	}
	if err := fillExchange(s.dir, staging, to, files, now); err != nil {
		return errors.Join(err, os.RemoveAll(staging))
	}
	pki, former := filepath.Join(s.dir, pkiDir), filepath.Join(s.dir, formerDir)
	if err := os.Rename(pki, former); err != nil {
		return errors.Join(fmt.Errorf("move keys and certificates aside: %w", err), os.RemoveAll(staging))
	}
	if err := os.Rename(staging, pki); err != nil {
		return errors.Join(fmt.Errorf("put keys and certificates into place: %w", err), os.Rename(former, pki), os.RemoveAll(staging))
	}
	if err := syncDir(s.dir); err != nil {
		return err
	}
	if err := os.RemoveAll(former); err != nil {
		return fmt.Errorf("remove former keys: %w", err)
	}

	return syncDir(s.dir)
}

// read reads what is in the directory, and does not forget that it has to.
func (s *Sharing) read(now time.Time) error {
	s.here.mu.Lock()
	defer s.here.mu.Unlock()
	s.unread = true
	if err := s.here.reread(now); err != nil {
		return err
	}
	s.unread = false

	return nil
}

// fillExchange writes the files of a generation, and those of this directory alone, and reads them as a start does.
func fillExchange(dir, staging string, to Generation, files map[string][]byte, now time.Time) error {
	for name, data := range files {
		if err := writeFile(filepath.Join(staging, name), data); err != nil {
			return err
		}
	}
	for _, name := range ownFiles() {
		data, err := os.ReadFile(filepath.Join(dir, pkiDir, name)) //nolint:gosec // The path is the operator's own.
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
		return placeless(err)
	}
	if _, err := loadWorkloadIdentityKeys(staging, Layout); err != nil {
		return placeless(err)
	}

	return writeNote(staging, held{Generation: to})
}

// placeless leaves out of an error where a file is that is only there to be tried: it would be another one each time.
func placeless(err error) error {
	if c, ok := errors.AsType[*CorruptError](err); ok {
		return fmt.Errorf("the keys in the datastore cannot be used: %s: %w", filepath.Base(c.File), c.Err)
	}

	return err
}

// restoreFormer undoes an exchange that was interrupted in the middle. What it was about is taken up again.
func restoreFormer(dir string) error {
	pki, former := filepath.Join(dir, pkiDir), filepath.Join(dir, formerDir)
	if _, err := os.Lstat(former); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if _, err := os.Lstat(pki); err == nil {
		if err := os.RemoveAll(former); err != nil {
			return fmt.Errorf("remove former keys: %w", err)
		}

		return nil
	}
	if err := os.Rename(former, pki); err != nil {
		return fmt.Errorf("put keys and certificates back: %w", err)
	}

	return syncDir(dir)
}
