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

// publicationFile allows that keys become those of all servers that no rotation has made. It is beside the directory of keys, and names
// their digest: other keys that come there later are not meant.
const publicationFile = "publish-keys.json"

// ErrHalfWritten says that a directory has some files of one generation and some of another.
var ErrHalfWritten = errors.New("the keys in this data directory are half written")

type publication struct {
	Digest string `json:"digest"`
}

// AllowPublication has the server of a data directory publish the keys in it, as they are, when it takes the lead next: for all servers
// that share the datastore. Nothing but a rotation does so otherwise. The caller has locked the directory.
func AllowPublication(dir string) error {
	is, err := readHeld(dir)
	if err != nil {
		return err
	}
	if _, err := sealingKey(dir); err != nil {
		return err
	}
	files, err := sharedFiles(dir)
	if err != nil {
		return err
	}
	here := digestOf(files)
	if is.Next != nil && here != is.Digest && here != is.Next.Digest {
		return fmt.Errorf("%w: start this server once, with the datastore, so that it takes them up as a whole, or %s", ErrHalfWritten, remedySealing)
	}
	data, err := json.Marshal(publication{Digest: here})
	if err != nil {
		return fmt.Errorf("encode digest of the keys: %w", err)
	}

	return writeFile(filepath.Join(dir, publicationFile), append(data, '\n'))
}

// publicationAllowed reports whether keys of a digest may be published that no rotation has made.
func publicationAllowed(dir, digest string) (bool, error) {
	path := filepath.Join(dir, publicationFile)
	data, err := os.ReadFile(path) //nolint:gosec // The path is the operator's own.
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	var is publication
	if err == nil {
		err = json.Unmarshal(data, &is)
	}
	if err != nil {
		return false, &CorruptError{File: path, Err: withoutPath(err), Remedy: "remove the file"}
	}

	return is.Digest == digest, nil
}

// endPublication takes the permission back, which is for once.
func endPublication(dir string) error {
	err := os.Remove(filepath.Join(dir, publicationFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("end publication of keys: %w", err)
	}

	return syncDir(dir)
}
