// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
)

const (
	// sealingFile has the key with which the servers of a garden give each other new keys by way of the datastore. It travels in the
	// bundle, and never in the datastore in another form than sealed by itself.
	sealingFile  = "bundle.key"
	sealingBytes = 32
)

// ErrSealed says that the keys in the datastore are sealed with another key than that of this data directory.
var ErrSealed = errors.New("the keys of the garden in the datastore cannot be opened with pki/" + sealingFile + " of this data directory; " +
	"on a server that has the keys run \"terrarium bundle export\", stop this one, and run \"terrarium bundle import --force\" here")

// sealingKey returns the key of a data directory, and creates it if there is none.
func sealingKey(dir string) ([]byte, error) {
	key, err := readSealingKey(dir)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	key = make([]byte, sealingBytes)
	rand.Read(key) // It never fails.

	return key, writeFile(filepath.Join(dir, pkiDir, sealingFile), []byte(base64.StdEncoding.EncodeToString(key)+"\n"))
}

func readSealingKey(dir string) ([]byte, error) {
	path := filepath.Join(dir, pkiDir, sealingFile)
	data, err := readPrivate(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err != nil {
		return nil, &CorruptError{File: path, Err: withoutPath(err), Remedy: remedySealing}
	}
	key, err := base64.StdEncoding.DecodeString(string(bytes.TrimSpace(data)))
	if err != nil || len(key) != sealingBytes {
		return nil, &CorruptError{File: path, Err: errors.New("it does not contain a key"), Remedy: remedySealing}
	}

	return key, nil
}

// remedySealing is what to do about a file that only serves to get the keys of other servers.
const remedySealing = "take the keys of another server: terrarium bundle export there, and terrarium bundle import --force here"

// sealer encrypts with a key. The nonce is random, which is enough for the few values that are ever sealed.
func sealer(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("use key of the bundle: %w", err)
	}
	with, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, fmt.Errorf("use key of the bundle: %w", err)
	}

	return with, nil
}

// bound is what a sealed value is bound to: the garden, and its generation. So an old one cannot be passed off as a newer one.
func bound(dir string, is Generation) ([]byte, error) {
	owner, err := DatastoreOwner(dir)
	if err != nil {
		return nil, err
	}

	return fmt.Appendf(nil, "terrarium keys\n%s\n%d\n%s", owner, is.Number, is.Digest), nil
}

// seal encrypts files for the servers that have the key of a data directory.
func seal(dir string, is Generation, files map[string][]byte) ([]byte, error) {
	key, err := sealingKey(dir)
	if err != nil {
		return nil, err
	}
	with, err := sealer(key)
	if err != nil {
		return nil, err
	}
	to, err := bound(dir, is)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(files)
	if err != nil {
		return nil, fmt.Errorf("encode keys: %w", err)
	}

	return with.Seal(nil, nil, text, to), nil //nolint:gosec // It makes a random nonce itself.
}

// unseal decrypts what seal has encrypted. The error wraps ErrSealed if it was with another key.
func unseal(dir string, is Generation, sealed []byte) (map[string][]byte, error) {
	key, err := readSealingKey(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrSealed
	}
	if err != nil {
		return nil, err
	}
	with, err := sealer(key)
	if err != nil {
		return nil, err
	}
	to, err := bound(dir, is)
	if err != nil {
		return nil, err
	}
	text, err := with.Open(nil, nil, sealed, to)
	if err != nil {
		return nil, ErrSealed
	}
	var files map[string][]byte
	if err := json.Unmarshal(text, &files); err != nil || digestOf(files) != is.Digest {
		// The error of the decoder could quote keys.
		return nil, fmt.Errorf("generation %d of the keys in the datastore: %w", is.Number, errNotKeys)
	}

	return files, nil
}

var errNotKeys = errors.New("it does not contain keys")
