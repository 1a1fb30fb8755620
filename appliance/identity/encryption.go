// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"sigs.k8s.io/yaml"
)

const (
	encryptionFile       = "encryption.yaml"
	encryptionAPIVersion = "apiserver.config.k8s.io/v1"
	encryptionKind       = "EncryptionConfiguration"
	encryptionKeySize    = 32
)

const (
	internalSecrets = "internalsecrets.core.gardener.cloud"
	shootStates     = "shootstates.core.gardener.cloud"
)

// EncryptedResources are stored encrypted, because they contain keys. The first two always were; each further one is added to the
// configuration of a garden that is older, beside the one before it.
func EncryptedResources() []string {
	return []string{"secrets", internalSecrets, shootStates}
}

// Encryption is how the API server encrypts what it stores, and the change of the key for it.
type Encryption struct {
	// File is the API server's EncryptionConfiguration for Secrets and InternalSecrets.
	File string

	// pki is the directory of keys.
	pki string
}

func newEncryption(pki string) *Encryption {
	return &Encryption{File: filepath.Join(pki, encryptionFile), pki: pki}
}

// Resources returns what is stored encrypted, and with which provider.
func (e *Encryption) Resources() (resources []string, provider string, err error) {
	data, err := readPrivate(e.File)
	if err != nil {
		return nil, "", fmt.Errorf("read encryption configuration: %w", withoutPath(err))
	}
	c, err := parseEncryption(data)
	if err != nil {
		return nil, "", fmt.Errorf("read encryption configuration: %w", err)
	}
	for _, rule := range c.Resources {
		if len(rule.Providers) == 0 || rule.Providers[0].Identity != nil {
			continue
		}
		resources = append(resources, rule.Resources...)
		if slices.Contains(rule.Resources, "secrets") {
			provider = rule.Providers[0].name()
		}
	}
	slices.Sort(resources)

	return slices.Compact(resources), provider, nil
}

// The types below are the part of the API server's encryption configuration for keys in the file itself. They are copied
// because only the packages of the API server may import its types.
type encryptionConfiguration struct {
	APIVersion string           `json:"apiVersion"`
	Kind       string           `json:"kind"`
	Resources  []encryptionRule `json:"resources"`
}

type encryptionRule struct {
	Resources []string             `json:"resources"`
	Providers []encryptionProvider `json:"providers"`
}

type encryptionProvider struct {
	Secretbox *encryptionKeys `json:"secretbox,omitempty"`
	AESGCM    *encryptionKeys `json:"aesgcm,omitempty"`
	AESCBC    *encryptionKeys `json:"aescbc,omitempty"`
	KMS       map[string]any  `json:"kms,omitempty"`
	Identity  *struct{}       `json:"identity,omitempty"`
}

type encryptionKeys struct {
	Keys []encryptionKey `json:"keys"`
}

type encryptionKey struct {
	Name   string `json:"name"`
	Secret string `json:"secret"`
}

// makeEncryption writes a configuration with one new key to dir. It has no identity provider, so objects that are not encrypted
// cannot be read.
func makeEncryption(dir string, now time.Time) error {
	key, err := newEncryptionKey("key-" + now.UTC().Format("20060102150405"))
	if err != nil {
		return err
	}
	data, err := yaml.Marshal(encryptionConfiguration{
		APIVersion: encryptionAPIVersion,
		Kind:       encryptionKind,
		Resources: []encryptionRule{{
			Resources: EncryptedResources(),
			Providers: []encryptionProvider{{Secretbox: &encryptionKeys{Keys: []encryptionKey{key}}}},
		}},
	})
	if err != nil {
		return fmt.Errorf("encode encryption configuration: %w", err)
	}
	return writeFile(filepath.Join(dir, encryptionFile), data)
}

func newEncryptionKey(name string) (encryptionKey, error) {
	key := make([]byte, encryptionKeySize)
	if _, err := rand.Read(key); err != nil {
		return encryptionKey{}, fmt.Errorf("make encryption key: %w", err)
	}

	return encryptionKey{Name: name, Secret: base64.StdEncoding.EncodeToString(key)}, nil
}

// check returns an error if Secrets would be lost or stored unencrypted with the file. Kinds of objects that are newer than it may be
// missing: Grow and Growth add them. The file stays as it is, because it is one of the keys that servers share.
func (e *Encryption) check() error {
	corrupt := func(err error) error { return &CorruptError{File: e.File, Err: err, Remedy: remedyRestore} }
	data, err := readPrivate(e.File)
	if err != nil {
		return corrupt(withoutPath(err))
	}
	c, err := parseEncryption(data)
	if err != nil {
		return corrupt(err)
	}
	c.coverAll(EncryptedResources())
	for _, resource := range EncryptedResources() {
		if err := c.check(resource); err != nil {
			return corrupt(err)
		}
	}

	return nil
}

func parseEncryption(data []byte) (encryptionConfiguration, error) {
	var c encryptionConfiguration
	if err := yaml.UnmarshalStrict(data, &c); err != nil {
		// The error of the parser may quote the file, which contains keys.
		return c, fmt.Errorf("it is not a %s in YAML", encryptionKind)
	}
	if c.APIVersion != encryptionAPIVersion || c.Kind != encryptionKind {
		return c, fmt.Errorf("it is not a %s of %s", encryptionKind, encryptionAPIVersion)
	}

	return c, nil
}

// keyNames returns the names of the keys for Secrets in the order in which they are tried. The first one writes.
func (c encryptionConfiguration) keyNames() []string {
	var names []string
	for _, rule := range c.Resources {
		if !slices.Contains(rule.Resources, "secrets") {
			continue
		}
		for _, p := range rule.Providers {
			if keys := p.keys(); keys != nil {
				for _, key := range keys.Keys {
					names = append(names, key.Name)
				}
			}
		}

		break
	}

	return names
}

// coverAll adds the resources that are newer than the configuration, and reports whether there were any.
func (c encryptionConfiguration) coverAll(resources []string) bool {
	const always = 2
	grown := false
	for i := always; i < len(resources); i++ {
		grown = c.cover(resources[i], resources[i-1]) || grown
	}

	return grown
}

// cover adds a resource that no rule names to the rule of another one, and reports whether it did. It is for gardens that are
// older than the resource: they keep their keys and have no unencrypted objects of it.
func (c encryptionConfiguration) cover(resource, beside string) bool {
	for _, rule := range c.Resources {
		if slices.Contains(rule.Resources, resource) {
			return false
		}
	}
	for i := range c.Resources {
		if rule := &c.Resources[i]; slices.Contains(rule.Resources, beside) {
			rule.Resources = append(rule.Resources, resource)
			return true
		}
	}
	return false
}

// check returns an error if resource would not be encrypted with a valid key. The first rule that names a resource applies, and
// the first provider of a rule writes.
func (c encryptionConfiguration) check(resource string) error {
	for i, rule := range c.Resources {
		if !slices.Contains(rule.Resources, resource) {
			continue
		}
		if len(rule.Providers) == 0 || rule.Providers[0].Identity != nil {
			return fmt.Errorf("resources[%d].providers[0] does not encrypt %s", i, resource)
		}
		for j, p := range rule.Providers {
			if err := p.check(); err != nil {
				return fmt.Errorf("resources[%d].providers[%d]: %w", i, j, err)
			}
		}
		return nil
	}
	return fmt.Errorf("it does not have a rule for %s", resource)
}

func (p encryptionProvider) check() error {
	if p.KMS != nil || p.Identity != nil {
		return nil
	}
	for _, known := range []struct {
		keys  *encryptionKeys
		sizes []int
	}{
		{keys: p.Secretbox, sizes: []int{32}},
		{keys: p.AESGCM, sizes: []int{16, 24, 32}},
		{keys: p.AESCBC, sizes: []int{16, 24, 32}},
	} {
		if known.keys != nil {
			return known.keys.check(known.sizes)
		}
	}
	return errors.New("it does not name a provider")
}

func (k encryptionKeys) check(sizes []int) error {
	if len(k.Keys) == 0 {
		return errors.New("it does not have keys")
	}
	for i, key := range k.Keys {
		secret, err := base64.StdEncoding.DecodeString(key.Secret)
		if err != nil {
			return fmt.Errorf("keys[%d].secret is not base64", i)
		}
		if !slices.Contains(sizes, len(secret)) {
			return fmt.Errorf("keys[%d].secret has %d bytes, which is not a valid length for the provider", i, len(secret))
		}
	}
	return nil
}

// name is the name of the provider in the configuration.
func (p encryptionProvider) name() string {
	switch {
	case p.Secretbox != nil:
		return "secretbox"
	case p.AESGCM != nil:
		return "aesgcm"
	case p.AESCBC != nil:
		return "aescbc"
	case p.KMS != nil:
		return "kms"
	default:
		return "identity"
	}
}
