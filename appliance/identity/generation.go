// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// generationFile says which generation of the keys is in the directory. It is of this directory alone.
const generationFile = "generation.json"

// Generation identifies a state of the keys and authorities that several servers of a garden have to have alike.
type Generation struct {
	// Number grows with each change; 0 says that the keys were never shared.
	Number int64 `json:"generation"`
	// Digest identifies the files.
	Digest string `json:"digest"`
}

// held is what generationFile contains.
type held struct {
	Generation

	// Next is a generation of which some of the files may be there already, because they are being written.
	Next *Generation `json:"next,omitempty"`
}

// last is the newest generation of which something is there.
func (h held) last() Generation {
	if h.Next != nil && h.Next.Number > h.Number {
		return *h.Next
	}

	return h.Generation
}

// ownFiles are those that each server makes for itself, or that say something about its directory.
func ownFiles() []string {
	return []string{servingFile, adminFile, frontProxyFile, clientSignerFile, domainsFile, generationFile}
}

// sharedNames are the names of the files that all servers have alike. A file of another name, such as the copy that an editor leaves, is
// no key.
func sharedNames() []string {
	names := []string{
		serviceAccountFile, formerKeyFile, workloadIdentityFile, formerWorkloadFile, encryptionFile, encryptionRotationFile, authorityRotationFile,
		ownerFile, sealingFile,
	}
	for _, name := range authorities() {
		names = append(names, name+".crt", name+".key", name+nextSuffix)
	}

	return names
}

// sharedFiles returns the keys and authorities in a directory by the names of their files.
func sharedFiles(dir string) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, name := range sharedNames() {
		data, err := os.ReadFile(filepath.Join(dir, pkiDir, name)) //nolint:gosec // The path is the operator's own.
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read keys and certificates: %w", err)
		}
		files[name] = data
	}

	return files, nil
}

// digestOf identifies files by their names and contents, some of which are random keys: so it tells nothing about them.
func digestOf(files map[string][]byte) string {
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		for _, part := range [][]byte{[]byte(name), files[name]} {
			var length [8]byte
			binary.BigEndian.PutUint64(length[:], uint64(len(part)))
			sum.Write(length[:])
			sum.Write(part)
		}
	}

	return hex.EncodeToString(sum.Sum(nil))
}

// readHeld returns which generation is in a directory; that of keys that were never shared is zero.
func readHeld(dir string) (held, error) {
	var is held
	path := filepath.Join(dir, pkiDir, generationFile)
	data, err := os.ReadFile(path) //nolint:gosec // The path is the operator's own.
	if errors.Is(err, fs.ErrNotExist) {
		return is, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &is)
	}
	if err == nil && (is.Number < 0 || is.Digest == "" && is.Number > 0) {
		err = errors.New("it does not name a generation")
	}
	if err != nil {
		return held{}, &CorruptError{File: path, Err: withoutPath(err), Remedy: remedySealing}
	}

	return is, nil
}

func writeHeld(dir string, is held) error { return writeNote(filepath.Join(dir, pkiDir), is) }

func writeNote(pki string, is held) error {
	data, err := json.Marshal(is)
	if err != nil {
		return fmt.Errorf("encode generation: %w", err)
	}

	return writeFile(filepath.Join(pki, generationFile), append(data, '\n'))
}

// Held returns which generation of the keys a data directory has.
func Held(dir string) (Generation, error) {
	is, err := readHeld(dir)

	return is.Generation, err
}

// HasGeneration reports whether the keys in a data directory are those of a generation, which is zero if none was published.
func HasGeneration(dir string, published Generation) (bool, error) {
	is, err := readHeld(dir)
	if err != nil || is.Generation != published || is.Next != nil {
		return false, err
	}
	files, err := sharedFiles(dir)

	return published.Number == 0 || digestOf(files) == published.Digest, err
}
