// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

const (
	// ownerFile has the identifier under which the garden owns an external datastore. It is one of the keys and certificates, so that
	// all servers of a garden have the same.
	ownerFile = "datastore-owner"
	// placeFile says that the objects of the garden are not in this directory.
	placeFile = "datastore"

	ownerBytes = 16
)

// DatastoreOwner returns the identifier under which the garden of a data directory owns an external datastore, and creates it if
// there is none.
func DatastoreOwner(dir string) (string, error) {
	path := filepath.Join(dir, pkiDir, ownerFile)
	data, err := os.ReadFile(path) //nolint:gosec // The path is the operator's own.
	if err == nil {
		owner := string(bytes.TrimSpace(data))
		if raw, err := hex.DecodeString(owner); err != nil || len(raw) != ownerBytes {
			return "", &CorruptError{File: path, Err: errors.New("it does not contain an identifier"), Remedy: remedyRestore}
		}

		return owner, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read owner of the datastore: %w", err)
	}
	raw := make([]byte, ownerBytes)
	rand.Read(raw) // It never fails.
	owner := hex.EncodeToString(raw)

	return owner, writeFile(path, []byte(owner+"\n"))
}

// DatastorePlace returns where the objects of the garden of a data directory are, if that is not in the directory; otherwise nothing.
func DatastorePlace(dir string) (string, error) {
	data, err := os.ReadFile(filepath.Join(dir, placeFile)) //nolint:gosec // The path is the operator's own.
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read place of the datastore: %w", err)
	}
	var is place
	if err := json.Unmarshal(data, &is); err != nil || is.Place == "" {
		return "", &CorruptError{File: filepath.Join(dir, placeFile), Err: errors.New("it does not contain a place"), Remedy: remedyRestore}
	}

	return is.Place, nil
}

// SetDatastorePlace records where the objects of the garden are; nothing means that they are in the directory.
func SetDatastorePlace(dir, where string) error {
	path := filepath.Join(dir, placeFile)
	if where == "" {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove place of the datastore: %w", err)
		}

		return syncDir(dir)
	}
	if is, err := DatastorePlace(dir); err == nil && is == where {
		return nil
	}
	data, err := json.Marshal(place{Place: where})
	if err != nil {
		return fmt.Errorf("encode place of the datastore: %w", err)
	}

	return writeFile(path, append(data, '\n'))
}

// place is what the file of that name contains.
type place struct {
	Place string `json:"place"`
}
