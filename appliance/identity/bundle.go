// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/utils/clock"
)

// ErrIdentityExists says that a data directory has an identity already.
var ErrIdentityExists = errors.New("the data directory has keys and certificates already")

// Shared returns the files that all servers of a garden share, by their paths: its authorities and keys, and what marks a datastore as its
// own. dir must be locked by the caller, or not be in use by a server that changes them.
func Shared(dir string) (map[string][]byte, error) {
	version, err := readLayout(dir)
	if err != nil {
		return nil, err
	}
	if version == 0 {
		return nil, fmt.Errorf("%q is not the data directory of a garden: %w", dir, fs.ErrNotExist)
	}
	if _, err := DatastoreOwner(dir); err != nil {
		return nil, err
	}
	is, err := sharedGeneration(dir)
	if err != nil {
		return nil, err
	}
	files, err := Portable(dir)
	if err != nil || is.Number == 0 {
		return files, err
	}
	keys := map[string][]byte{}
	for _, name := range sharedNames() {
		if data, ok := files[path.Join(pkiDir, name)]; ok {
			keys[name] = data
		}
	}
	if digestOf(keys) != is.Digest {
		return nil, ErrChanging
	}
	note, err := json.Marshal(held{Generation: is})
	if err != nil {
		return nil, fmt.Errorf("encode generation: %w", err)
	}
	files[path.Join(pkiDir, generationFile)] = append(note, '\n')

	return files, nil
}

// ErrChanging says that a server changes keys at this moment.
var ErrChanging = errors.New("the keys are being changed at this moment; try again")

// sharedGeneration returns which generation the keys of a directory are, for who gets them in a bundle: so that no older one is passed off
// on it later. It makes the key that seals them if there cannot be one yet.
func sharedGeneration(dir string) (Generation, error) {
	is, err := readHeld(dir)
	if err != nil {
		return Generation{}, err
	}
	place, err := DatastorePlace(dir)
	if err != nil {
		return Generation{}, err
	}
	if is.Number == 0 || place == "" {
		if _, err := sealingKey(dir); err != nil {
			return Generation{}, err
		}
	}
	files, err := sharedFiles(dir)
	if err != nil {
		return Generation{}, err
	}
	here := digestOf(files)
	switch {
	case is.Number == 0:
		return Generation{}, nil
	case place == "":
		// Its rotations were not counted, and what it publishes next comes after this number.
		return Generation{Number: is.Number, Digest: here}, nil
	case is.Next != nil:
		return Generation{}, ErrChanging
	case here != is.Digest:
		return Generation{}, fmt.Errorf("%w: run \"terrarium bundle publish\" here, and start this server, before others get its keys", ErrUnpublished)
	default:
		return is.Generation, nil
	}
}

// Adopt puts the files of Shared into a data directory that has no identity. With replace, those that are there are moved aside, and the
// path to which is returned. The caller has locked the directory.
func Adopt(dir string, files map[string][]byte, replace bool, clk clock.PassiveClock) (aside string, err error) {
	pki := filepath.Join(dir, pkiDir)
	if _, err := os.Lstat(pki); err == nil && !replace {
		return "", fmt.Errorf("%w: %q", ErrIdentityExists, pki)
	} else if err == nil {
		aside = pki + ".before-" + clk.Now().UTC().Format("20060102-150405")
	}
	staging, err := makeStaging(dir)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(staging)) }()
	if err := fillStaging(staging, files); err != nil {
		return "", err
	}
	if err := tryIdentity(staging, clk.Now()); err != nil {
		return "", err
	}
	if aside != "" {
		if err := os.Rename(pki, aside); err != nil {
			return "", fmt.Errorf("move keys and certificates aside: %w", err)
		}
	}
	if err := os.Rename(staging, pki); err != nil {
		return aside, fmt.Errorf("put keys and certificates into place: %w", err)
	}

	return aside, errors.Join(
		writeFile(filepath.Join(dir, layoutFile), files[layoutFile]), writeUse(dir, files[useFile]), endPublication(dir), syncDir(dir))
}

// writeUse writes which version has used the keys, unless the directory says so itself. A directory without the file counts as one of
// the first version, which a much later one refuses.
func writeUse(dir string, data []byte) error {
	file := filepath.Join(dir, useFile)
	if _, err := os.Stat(file); err == nil || data == nil {
		return nil
	}

	return writeFile(file, data)
}

// fillStaging writes the files of the directory of keys. Any other path is refused: a bundle must not reach out of its place.
func fillStaging(staging string, files map[string][]byte) error {
	if len(files[layoutFile]) == 0 {
		return errors.New("the bundle has no layout")
	}
	for name, data := range files {
		if name == layoutFile || name == useFile {
			continue
		}
		base := path.Base(name)
		if name != path.Join(pkiDir, base) || base == "." || base == ".." || strings.ContainsAny(base, `/\`) {
			return fmt.Errorf("the bundle has a file %q, which is none of the keys and certificates", name)
		}
		if err := writeFile(filepath.Join(staging, base), data); err != nil {
			return err
		}
	}

	return nil
}

// tryIdentity reads keys and authorities as a start does.
func tryIdentity(staging string, now time.Time) error {
	parent, err := os.MkdirTemp(filepath.Dir(staging), pkiStagingDirPattern)
	if err != nil {
		return directoryError(filepath.Dir(staging), err)
	}
	link := filepath.Join(parent, pkiDir)
	if err := os.Symlink(staging, link); err != nil {
		return errors.Join(fmt.Errorf("check keys and certificates: %w", err), os.RemoveAll(parent))
	}
	err = materialIn(parent).load(now)

	return errors.Join(err, os.Remove(link), os.RemoveAll(parent))
}
