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
func (c *Certificates) SetDomains(names []string, now time.Time) ([]string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	was, wasNames := c.domains, c.names
	if slices.Equal(was, names) {
		return nil, nil
	}
	path := filepath.Join(c.dir, pkiDir, domainsFile)
	if err := writeFile(path, []byte(strings.Join(append(slices.Clone(names), ""), "\n"))); err != nil {
		return nil, err
	}
	c.domains, c.names = names, c.started.with(names).subjectNames()
	renewed, err := c.issue(now, false)
	if err != nil {
		c.domains, c.names = was, wasNames // So that the next call tries again.
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
