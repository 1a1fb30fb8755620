// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"sigs.k8s.io/yaml"
)

// encryptionRotationFile says that a rotation goes on. It is written before the first step and removed after the last one; which
// step is next follows from the order of the keys in the configuration.
const encryptionRotationFile = "encryption-rotation.json"

// ErrEncryptionFixed says that the encryption configuration is one that the garden does not change.
var ErrEncryptionFixed = errors.New("the encryption configuration was changed by hand, or its keys are not in the file; change it by hand")

// EncryptionStep is the next step of a rotation of the key with which objects are stored. Each step can be repeated.
type EncryptionStep string

// The steps, in their order.
const (
	// EncryptionAdd is that the new key is made, for reading.
	EncryptionAdd EncryptionStep = "add"
	// EncryptionWrite is that the new key is used for writing, after all have it that may have to read.
	EncryptionWrite EncryptionStep = "write"
	// EncryptionRewrite is that all objects are written with the new key.
	EncryptionRewrite EncryptionStep = "rewrite"
	// EncryptionRemove is that the former keys are removed.
	EncryptionRemove EncryptionStep = "remove"
	// EncryptionEnd is that the rotation is over.
	EncryptionEnd EncryptionStep = "end"
)

// EncryptionRotation is a change of the key with which objects are stored.
type EncryptionRotation struct {
	// Key is the name of the new key.
	Key string `json:"key"`
	// Started is when the rotation was begun.
	Started time.Time `json:"started"`
	// Rewritten is when all objects were written with the new key.
	Rewritten *time.Time `json:"rewritten,omitempty"`

	// Next is the next step.
	Next EncryptionStep `json:"-"`
}

// Fixed returns an error if the garden cannot change the key with which objects are stored.
func (e *Encryption) Fixed() error {
	c, err := readEncryption(e.File)
	if err != nil {
		return err
	}

	return c.rotatable()
}

// Rotation returns the rotation that goes on, or nil.
func (e *Encryption) Rotation() (*EncryptionRotation, error) {
	r, err := e.readRotation()
	if r == nil || err != nil {
		return nil, err
	}
	c, err := readEncryption(e.File)
	if err != nil {
		return nil, err
	}
	names := c.keyNames()
	switch {
	case !slices.Contains(names, r.Key):
		r.Next = EncryptionAdd
	case names[0] != r.Key:
		r.Next = EncryptionWrite
	case len(names) == 1:
		r.Next = EncryptionEnd
	case r.Rewritten == nil:
		r.Next = EncryptionRewrite
	default:
		r.Next = EncryptionRemove
	}

	return r, nil
}

func (e *Encryption) rotationPath() string { return filepath.Join(e.pki, encryptionRotationFile) }

func (e *Encryption) readRotation() (*EncryptionRotation, error) {
	data, err := os.ReadFile(e.rotationPath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // There is none.
	}
	r := &EncryptionRotation{}
	if err == nil {
		err = json.Unmarshal(data, r)
	}
	if err == nil && r.Key == "" {
		err = errors.New("it does not name a key")
	}
	if err != nil {
		return nil, &CorruptError{File: e.rotationPath(), Err: withoutPath(err), Remedy: "remove the file, which has no keys, and start the rotation again"}
	}

	return r, nil
}

func (e *Encryption) writeRotation(r *EncryptionRotation) error {
	data, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encode rotation: %w", err)
	}

	return writeFile(e.rotationPath(), append(data, '\n'))
}

// startRotation records that a rotation goes on, and nothing else.
func (e *Encryption) startRotation(now time.Time) error {
	if r, err := e.readRotation(); err != nil {
		return err
	} else if r != nil {
		return ErrRotating
	}
	c, err := readEncryption(e.File)
	if err != nil {
		return err
	}
	if err := c.rotatable(); err != nil {
		return err
	}
	name := "key-" + now.UTC().Format("20060102150405")
	for slices.Contains(c.keyNames(), name) {
		name += "x"
	}

	return e.writeRotation(&EncryptionRotation{Key: name, Started: now.UTC()})
}

// advanceRotation takes the next step, if it is the given one.
func (e *Encryption) advanceRotation(step EncryptionStep, now time.Time) error {
	r, err := e.Rotation()
	if err != nil {
		return err
	}
	if r == nil || r.Next != step {
		return fmt.Errorf("change the encryption key, step %q: it is not the next one", step)
	}
	switch step {
	case EncryptionAdd:
		return e.changeKeys(func(keys []encryptionKey, made encryptionKey) []encryptionKey { return append(keys, made) }, r.Key)
	case EncryptionWrite:
		return e.changeKeys(func(keys []encryptionKey, _ encryptionKey) []encryptionKey {
			i := slices.IndexFunc(keys, func(k encryptionKey) bool { return k.Name == r.Key })

			return append([]encryptionKey{keys[i]}, slices.Delete(slices.Clone(keys), i, i+1)...)
		}, r.Key)
	case EncryptionRewrite:
		r.Rewritten = new(now.UTC())

		return e.writeRotation(r)
	case EncryptionRemove:
		return e.changeKeys(func(keys []encryptionKey, _ encryptionKey) []encryptionKey { return keys[:1] }, r.Key)
	case EncryptionEnd:
		if err := os.Remove(e.rotationPath()); err != nil {
			return fmt.Errorf("end change of the encryption key: %w", err)
		}

		return syncDir(e.pki)
	default:
		return fmt.Errorf("change the encryption key: unknown step %q", step)
	}
}

// changeKeys changes the keys of the configuration in one step. The function is given a new key as well.
func (e *Encryption) changeKeys(change func(keys []encryptionKey, made encryptionKey) []encryptionKey, name string) error {
	c, err := readEncryption(e.File)
	if err != nil {
		return err
	}
	if err := c.rotatable(); err != nil {
		return err
	}
	made, err := newEncryptionKey(name)
	if err != nil {
		return err
	}
	keys := c.Resources[0].Providers[0].keys()
	keys.Keys = change(keys.Keys, made)
	for _, resource := range EncryptedResources() {
		if err := c.check(resource); err != nil {
			return fmt.Errorf("change the encryption key: %w", err)
		}
	}
	data, err := yaml.Marshal(c)
	if err != nil {
		return fmt.Errorf("encode encryption configuration: %w", err)
	}

	return writeFile(e.File, data)
}

func readEncryption(path string) (encryptionConfiguration, error) {
	data, err := readPrivate(path)
	if err != nil {
		return encryptionConfiguration{}, &CorruptError{File: path, Err: withoutPath(err), Remedy: remedyRestore}
	}
	c, err := parseEncryption(data)
	if err != nil {
		return c, &CorruptError{File: path, Err: err, Remedy: remedyRestore}
	}

	return c, nil
}

// rotatable returns an error unless the configuration has the form that the garden itself writes: one rule for the resources that
// have to be encrypted and no others, and one provider with keys of different names.
func (c encryptionConfiguration) rotatable() error {
	if len(c.Resources) != 1 || len(c.Resources[0].Providers) != 1 || c.Resources[0].Providers[0].keys() == nil {
		return ErrEncryptionFixed
	}
	is, want := slices.Sorted(slices.Values(c.Resources[0].Resources)), slices.Sorted(slices.Values(EncryptedResources()))
	names := c.keyNames()
	slices.Sort(names)
	if !slices.Equal(is, want) || len(names) == 0 || len(slices.Compact(slices.Clone(names))) != len(names) {
		return ErrEncryptionFixed
	}

	return nil
}

// keys returns the keys in the file, or nil if the provider has no keys there.
func (p encryptionProvider) keys() *encryptionKeys {
	for _, keys := range []*encryptionKeys{p.Secretbox, p.AESGCM, p.AESCBC} {
		if keys != nil {
			return keys
		}
	}

	return nil
}
