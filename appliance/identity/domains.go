// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// domainsFile has names of the serving certificate that are set while the garden runs, one in a line. The start needs them before the
// objects can be read.
const domainsFile = "serving-names"

// SetDomains sets the names of the serving certificate beside those that the garden was started with, also for later starts, and
// renews it if they are new. It returns the names of renewed certificates.
func (g *Garden) SetDomains(names []string, now time.Time) ([]string, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	was, wasNames := g.domains, g.names
	if slices.Equal(was, names) {
		return nil, nil
	}
	path := filepath.Join(g.Dir, pkiDir, domainsFile)
	if err := writeFile(path, []byte(strings.Join(append(slices.Clone(names), ""), "\n"))); err != nil {
		return nil, err
	}
	g.domains, g.names = names, g.started.with(names).subjectNames()
	renewed, err := g.issue(now, false)
	if err != nil {
		g.domains, g.names = was, wasNames // So that the next call tries again.
	}

	return renewed, err
}

// readDomains reads what SetDomains has written.
func readDomains(dir string) ([]string, error) {
	data, err := os.ReadFile(filepath.Join(dir, pkiDir, domainsFile)) //nolint:gosec // The path is the operator's own.
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read names of the serving certificate: %w", err)
	}

	return strings.Fields(string(data)), nil
}

// with returns the names and some further ones.
func (n Names) with(more []string) Names {
	n.External = slices.Concat(n.External, more)

	return n
}

// EncryptedResources returns what is stored encrypted, and with which provider.
func (g *Garden) EncryptedResources() (resources []string, provider string, err error) {
	data, err := readPrivate(g.EncryptionFile)
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
