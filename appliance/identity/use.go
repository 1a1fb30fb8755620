// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// useFile says which program has used a data directory. It is in each snapshot, so that a restored directory says it too.
const useFile = "version.json"

// FirstSchema is the schema of a data directory that does not say which one it has.
const FirstSchema = 1

// Use says which program has last used a data directory.
type Use struct {
	// Schema is the version of the shape of all that is in the directory.
	Schema int `json:"schema"`
	// Version is that of the program; empty if it was one of the first, which did not say.
	Version string `json:"version"`
	// Begun is an upgrade that is not complete, Upgraded the last one that is.
	Begun    *Upgrade `json:"begun,omitempty"`
	Upgraded *Upgrade `json:"upgraded,omitempty"`
}

// Upgrade is the change of a data directory from one version of the program to another.
type Upgrade struct {
	// From and To are the versions of the program; From is empty if it is not known.
	From string `json:"from,omitempty"`
	To   string `json:"to"`
	// Snapshot is the name of the snapshot that was taken before; empty if there is none.
	Snapshot string `json:"snapshot,omitempty"`
}

// ReadUse returns which program has last used a data directory. It reports false if none has.
func ReadUse(dir string) (Use, bool, error) {
	path := filepath.Join(dir, useFile)
	data, err := os.ReadFile(path) //nolint:gosec // the path is the operator's own
	if errors.Is(err, fs.ErrNotExist) {
		layout, err := readLayout(dir)

		return Use{Schema: FirstSchema}, layout > 0, err
	}
	if err != nil {
		return Use{}, false, fmt.Errorf("read version of data directory: %w", err)
	}
	var is Use
	if err := json.Unmarshal(data, &is); err != nil || is.Schema < FirstSchema {
		return Use{}, false, &CorruptError{File: path, Err: errors.New("it does not say which version has used the directory"), Remedy: remedyRestore}
	}

	return is, true, nil
}

// WriteUse replaces what a data directory says of the program that uses it, in one step.
func WriteUse(dir string, is Use) error {
	data, err := json.MarshalIndent(is, "", "  ")
	if err != nil {
		return fmt.Errorf("encode version of data directory: %w", err)
	}

	return writeFile(filepath.Join(dir, useFile), append(data, '\n'))
}
