// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/terrarium-garden/terrarium/packaging/systemd"
)

// Removal says what to remove.
type Removal struct {
	// Options are those with which the service was installed.
	Options

	// Purge also removes the data, the configuration and the user.
	Purge bool
	// Purged are the files that Purge removes beside the data.
	Purged []string
}

// Paths returns what a purge deletes for good.
func (r Removal) Paths() []string { return append(slices.Clone(r.Purged), r.Service.StateDir) }

// Remove stops the service and removes it. Program and unit of a package are left to the package manager, and the program is kept while
// another service uses it.
func Remove(ctx context.Context, m Machine, r Removal, others []systemd.Service, tell func(line string)) error {
	packaged := m.packaged(r.Service)
	installed := packaged || m.exists(r.unit())
	if installed {
		if err := m.run(ctx, []string{systemctl, "disable", "--now", r.Service.Unit}); err != nil {
			return err
		}
		tell("stopped " + r.Service.Unit)
	}
	gone := []string{r.unit(), r.users()}
	if !slices.ContainsFunc(others, func(s systemd.Service) bool {
		return m.exists(filepath.Join(r.Prefix, "lib/systemd/system", s.Unit))
	}) {
		gone = append(gone, r.program())
	}
	if packaged {
		gone = nil
		tell("the package of this system owns program and unit; remove it with the package manager")
	}
	if err := m.remove(tell, gone...); err != nil {
		return err
	}
	if installed {
		if err := m.run(ctx, []string{systemctl, "daemon-reload"}); err != nil {
			return err
		}
	}
	if !r.Purge {
		for _, path := range r.Paths() {
			if m.exists(path) {
				tell("kept " + path)
			}
		}
		return nil
	}
	if err := m.remove(tell, r.Paths()...); err != nil {
		return err
	}
	if _, err := m.GroupID(r.Service.User); err != nil || packaged {
		return nil //nolint:nilerr // A user that does not exist is as wanted.
	}
	tell("removed user " + r.Service.User)
	return m.run(ctx, []string{"userdel", r.Service.User})
}
