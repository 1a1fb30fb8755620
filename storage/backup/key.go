// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"filippo.io/age"
)

// KeyFile is the name of the key in the data directory.
const KeyFile = "snapshot.key"

// Keys are those with which files are written and read.
type Keys struct {
	// Recipients are those who can read what is written.
	Recipients []age.Recipient
	// Identities read; none if this machine can only write.
	Identities []age.Identity
}

// EnsureKey reads the key in the data directory, and makes one if there is none.
func EnsureKey(dir string) (Keys, error) {
	path := filepath.Join(dir, KeyFile)
	text, err := os.ReadFile(path) //nolint:gosec // The path is the operator's own.
	if errors.Is(err, fs.ErrNotExist) {
		made, err := age.GenerateX25519Identity()
		if err != nil {
			return Keys{}, fmt.Errorf("make key of snapshots: %w", err)
		}
		text = fmt.Appendf(nil, "# The key of this garden's snapshots. Keep a copy of this file somewhere else.\n# public key: %s\n%s\n", made.Recipient(), made)
		if err := writeText(path, text); err != nil {
			return Keys{}, fmt.Errorf("write key of snapshots: %w", err)
		}
	} else if err != nil {
		return Keys{}, fmt.Errorf("read key of snapshots: %w", err)
	}

	return parseKey(path, text)
}

// ReadKey reads a file with keys: the one of a data directory, or any identity file of age.
func ReadKey(path string) (Keys, error) {
	text, err := os.ReadFile(path) //nolint:gosec // The path is the operator's own.
	if err != nil {
		return Keys{}, fmt.Errorf("read key of snapshots: %w", err)
	}

	return parseKey(path, text)
}

// parseKey never says what is in the file.
func parseKey(path string, text []byte) (Keys, error) {
	identities, err := age.ParseIdentities(bytes.NewReader(text))
	if err != nil {
		return Keys{}, fmt.Errorf("key of snapshots %q: it is no identity file of age", path)
	}
	k := Keys{Identities: identities}
	for _, i := range identities {
		switch i := i.(type) {
		case *age.X25519Identity:
			k.Recipients = append(k.Recipients, i.Recipient())
		case *age.HybridIdentity:
			k.Recipients = append(k.Recipients, i.Recipient())
		}
	}

	return k, nil
}

// ParseRecipients reads public keys of age.
func ParseRecipients(texts []string) (Keys, error) {
	var k Keys
	for _, text := range texts {
		found, err := age.ParseRecipients(bytes.NewReader([]byte(text)))
		if err != nil || len(found) != 1 {
			return Keys{}, fmt.Errorf("%q is no public key of age, such as age1…", text)
		}
		k.Recipients = append(k.Recipients, found...)
	}

	return k, nil
}
