// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// keepAside keeps a copy of keys that others are about to replace, and that may be needed to read what is stored.
func keepAside(dir string, files map[string][]byte, now time.Time) error {
	staging, err := makeStaging(dir)
	if err != nil {
		return err
	}
	for name, data := range files {
		if err := writeFile(filepath.Join(staging, name), data); err != nil {
			return errors.Join(err, os.RemoveAll(staging))
		}
	}
	if err := os.Rename(staging, asidePath(dir, now)); err != nil {
		return errors.Join(fmt.Errorf("keep a copy of former keys: %w", err), os.RemoveAll(staging))
	}

	return syncDir(dir)
}

func asidePath(dir string, now time.Time) string {
	return filepath.Join(dir, pkiDir+".before-"+now.UTC().Format("20060102-150405"))
}

// losesKey reports whether objects may be stored with a key that is in the files before and not in those after, beside the one that the
// last step of a rotation removes.
func losesKey(before, after map[string][]byte) bool {
	was, err := parseEncryption(before[encryptionFile])
	if err != nil {
		return true
	}
	is, err := parseEncryption(after[encryptionFile])
	if err != nil {
		return true
	}
	has, inFile := is.secrets()
	had, wasInFile := was.secrets()
	if !inFile || !wasInFile {
		return string(before[encryptionFile]) != string(after[encryptionFile])
	}
	var r EncryptionRotation
	if data, ok := before[encryptionRotationFile]; ok && json.Unmarshal(data, &r) == nil && r.Rewritten != nil {
		// All objects are written with the new key.
		had = slices.DeleteFunc(had, func(k encryptionKey) bool { return k.Name != r.Key })
	}

	return slices.ContainsFunc(had, func(k encryptionKey) bool { return !slices.Contains(has, k) })
}

// secrets returns all keys, and whether they are all in the file.
func (c encryptionConfiguration) secrets() (all []encryptionKey, inFile bool) {
	inFile = true
	for _, rule := range c.Resources {
		for _, p := range rule.Providers {
			if keys := p.keys(); keys != nil {
				all = append(all, keys.Keys...)
			} else if p.Identity == nil {
				inFile = false
			}
		}
	}

	return all, inFile
}
