// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

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
	// Data is a data directory that is not that of the service; empty if there is none. It is never removed: somebody has chosen it, and
	// it may be a directory for other things as well.
	Data string
	// Others are services that may use the same program.
	Others []systemd.Service
}

// Paths returns what a purge deletes for good.
func (r Removal) Paths() []string { return append(slices.Clone(r.Purged), r.Service.StateDir) }

// Stays describes a data directory that is not deleted; it is empty if there is none on the machine.
func (r Removal) Stays(m Machine) string {
	if r.Data == "" || !m.exists(r.Data) {
		return ""
	}
	return r.Data + ", the data directory in the configuration"
}

// packagedNote is what is said about the files of a package.
const packagedNote = "the package of this system owns program and unit; remove it with the package manager"

// files returns the files of the service. Program and unit of a package are left to the package manager, and the program is kept while
// another service uses it.
func (r Removal) files(m Machine) []string {
	if m.packaged(r.Service) {
		return nil
	}
	all := []string{r.unit(), r.users()}
	if !slices.ContainsFunc(r.Others, func(s systemd.Service) bool {
		return m.exists(filepath.Join(r.Prefix, "lib/systemd/system", s.Unit))
	}) {
		all = append(all, r.program())
	}
	return all
}

// purgesUser says that the user is removed. One of a package belongs to it, and one that does not exist is as wanted.
func (r Removal) purgesUser(m Machine) bool {
	_, err := m.GroupID(r.Service.User)
	return r.Purge && err == nil && !m.packaged(r.Service)
}

// Remove stops the service and removes it. tell is called with a line for each change.
func Remove(ctx context.Context, m Machine, r Removal, tell func(line string)) error {
	packaged := m.packaged(r.Service)
	installed := packaged || m.exists(r.unit())
	if installed {
		if err := m.run(ctx, []string{systemctl, "disable", "--now", r.Service.Unit}); err != nil {
			return err
		}
		tell("stopped " + r.Service.Unit)
	}
	if packaged {
		tell(packagedNote)
	}
	if err := m.remove(tell, r.files(m)...); err != nil {
		return err
	}
	if installed {
		if err := m.run(ctx, []string{systemctl, "daemon-reload"}); err != nil {
			return err
		}
	}
	return r.removeData(ctx, m, tell)
}

// removeData removes data, configuration and user if that is wanted, and tells what stays.
func (r Removal) removeData(ctx context.Context, m Machine, tell func(line string)) error {
	kept := r.Paths()
	if r.Purge {
		kept = nil
		if err := m.remove(tell, r.Paths()...); err != nil {
			return err
		}
	}
	for _, path := range kept {
		if m.exists(path) {
			tell("kept " + path)
		}
	}
	if stays := r.Stays(m); stays != "" {
		tell("kept " + stays)
	}
	if !r.purgesUser(m) {
		return nil
	}
	tell("removed user " + r.Service.User)
	return m.run(ctx, []string{"userdel", r.Service.User})
}

// Print writes what Remove would do, without doing it.
func (r Removal) Print(w io.Writer, m Machine) error {
	var b strings.Builder
	line := func(form, path string) {
		if m.exists(path) {
			fmt.Fprintf(&b, form+"\n", path)
		}
	}
	packaged := m.packaged(r.Service)
	installed := packaged || m.exists(r.unit())
	if installed {
		fmt.Fprintf(&b, "$ %s disable --now %s\n", systemctl, r.Service.Unit)
	}
	if packaged {
		fmt.Fprintln(&b, packagedNote)
	}
	for _, path := range r.files(m) {
		line("remove %s", path)
	}
	if installed {
		fmt.Fprintf(&b, "$ %s daemon-reload\n", systemctl)
	}
	for _, path := range r.Paths() {
		if r.Purge {
			line("delete %s for good", path)
		} else {
			line("keep %s", path)
		}
	}
	if stays := r.Stays(m); stays != "" {
		fmt.Fprintf(&b, "keep %s\n", stays)
	}
	if r.purgesUser(m) {
		fmt.Fprintf(&b, "$ userdel %s\n", r.Service.User)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
