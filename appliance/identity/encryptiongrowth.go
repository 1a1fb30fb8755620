// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"bytes"
	"errors"
	"fmt"
	"maps"

	"sigs.k8s.io/yaml"
)

// errPlain says that the API server would store what has to be encrypted as it is.
var errPlain = errors.New("a kind of objects that this version encrypts is not in pki/" + encryptionFile)

// Grow adds the kinds of objects that this version encrypts, and the one before did not, to the configuration of a garden whose keys no
// other server uses. It is called before there is an API server.
func (s *Sharing) Grow() error { return s.grow(EncryptedResources()) }

func (s *Sharing) grow(resources []string) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	s.here.mu.Lock()
	defer s.here.mu.Unlock()

	return s.here.encryption.grow(resources)
}

// grow adds to the file what it lacks of the resources.
func (e *Encryption) grow(resources []string) error {
	data, err := readPrivate(e.File)
	if err != nil {
		return &CorruptError{File: e.File, Err: withoutPath(err), Remedy: remedyRestore}
	}
	grown, err := grownEncryption(data, resources)
	if err != nil || bytes.Equal(grown, data) {
		return err
	}

	return writeFile(e.File, grown)
}

// Growth returns the published keys as the generation after the last one, with the kinds of objects that this version encrypts, and the one
// that has led before did not; nil if there are none. Nothing else differs, and it is not in use here: the server that leads publishes it
// and takes it up, before it has an API server. So all servers go on with the same keys, whichever of them is upgraded first.
func (s *Sharing) Growth(published Generation) (*Sealed, error) {
	return s.growth(published, EncryptedResources())
}

func (s *Sharing) growth(published Generation, resources []string) (*Sealed, error) {
	s.changing.Lock()
	defer s.changing.Unlock()
	is, err := readHeld(s.dir)
	if err != nil {
		return nil, err
	}
	files, err := sharedFiles(s.dir)
	if err != nil {
		return nil, err
	}
	if is.Generation != published || is.Next != nil || digestOf(files) != published.Digest {
		return nil, unpublished(s.dir, published)
	}
	data, err := grownEncryption(files[encryptionFile], resources)
	if err != nil || bytes.Equal(data, files[encryptionFile]) {
		return nil, err
	}
	after := maps.Clone(files)
	after[encryptionFile] = data

	return sealNext(s.dir, published, after)
}

// EncryptsAll returns an error if something would be stored as it is that this version encrypts.
func (e *Encryption) EncryptsAll() error {
	c, err := readEncryption(e.File)
	if err != nil {
		return err
	}
	for _, resource := range EncryptedResources() {
		if err := c.check(resource); err != nil {
			return fmt.Errorf("%w of the data directory: %w", errPlain, err)
		}
	}

	return nil
}

// grownEncryption returns a configuration with rules for all resources. If it has them, it is returned as it is.
func grownEncryption(data []byte, resources []string) ([]byte, error) {
	c, err := parseEncryption(data)
	if err != nil {
		return nil, fmt.Errorf("read encryption configuration: %w", err)
	}
	if !c.coverAll(resources) {
		return data, nil
	}
	for _, resource := range resources {
		if err := c.check(resource); err != nil {
			return nil, fmt.Errorf("grow encryption configuration: %w", err)
		}
	}
	if data, err = yaml.Marshal(c); err != nil {
		return nil, fmt.Errorf("encode encryption configuration: %w", err)
	}

	return data, nil
}
