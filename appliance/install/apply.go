// SPDX-License-Identifier: Apache-2.0

package install

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Apply installs the service. tell is called with a line for each change. It can be repeated: what is there already is not changed, and a
// running service is restarted only with Options.Start and after a change.
func Apply(ctx context.Context, m Machine, o Options, tell func(line string)) error {
	elsewhere := o.Root != ""
	packaged := !elsewhere && m.packaged(o.Service)
	if packaged {
		tell("the package of this system owns program and unit, which are not changed")
	}
	changed := false
	for _, f := range o.files(packaged) {
		wrote, err := m.write(f, filepath.Join(m.Root, o.Root), elsewhere)
		if err != nil {
			return fmt.Errorf("install %s: %w", f.path, err)
		}
		if wrote {
			tell("installed " + f.path)
		} else if f.keep {
			tell("kept " + f.path)
		}
		changed = changed || wrote
		if f.path == o.users() && !elsewhere {
			if err := m.ensureUser(ctx, o.Service, f.path); err != nil {
				return fmt.Errorf("create user %q: %w", o.Service.User, err)
			}
		}
	}
	if elsewhere {
		return nil
	}
	// An earlier run may have written the files and restarted nothing.
	if changed = changed || m.outdated(ctx, o.Service); changed {
		if err := m.run(ctx, []string{systemctl, "daemon-reload"}); err != nil {
			return err
		}
	}
	return m.start(ctx, o, changed, tell)
}

// start starts the service, or restarts it after a change.
func (m Machine) start(ctx context.Context, o Options, changed bool, tell func(line string)) error {
	runs := m.active(ctx, o.Service)
	switch {
	case !o.Start && runs && changed:
		tell("the service still runs as before; restart it with: systemctl restart " + o.Service.Unit)
		return nil
	case !o.Start:
		return nil
	}
	if err := m.run(ctx, []string{systemctl, "enable", o.Service.Unit}); err != nil {
		return err
	}
	verb := "start"
	switch {
	case runs && !changed:
		tell(o.Service.Unit + " runs already")
		return nil
	case runs:
		verb = "restart"
	}
	if err := m.run(ctx, []string{systemctl, verb, o.Service.Unit}); err != nil {
		return fmt.Errorf("%w\nsee: journalctl -u %s", err, o.Service.Unit)
	}
	tell(verb + "ed " + o.Service.Unit)
	return nil
}

// write writes a file, unless it is there already. It reports whether it has changed anything.
func (m Machine) write(f file, root string, elsewhere bool) (bool, error) {
	path := filepath.Join(root, f.path)
	there, err := os.ReadFile(path) //nolint:gosec // A path of the plan.
	exists := err == nil
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	if exists && f.keep {
		return false, nil
	}
	content := f.content
	if f.source != "" {
		if content, err = os.ReadFile(f.source); err != nil {
			return false, err
		}
	}
	if exists && bytes.Equal(there, content) {
		return false, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // The directories of a system are public.
		return false, err
	}
	group := 0
	if f.group != "" && !elsewhere {
		if group, err = m.GroupID(f.group); err != nil {
			return false, err
		}
	}
	return true, replace(path, content, func(fresh string) error {
		if !elsewhere {
			if err := m.Own(fresh, group); err != nil {
				return err
			}
		}
		return os.Chmod(fresh, f.mode)
	})
}

// replace writes a file so that it is complete at every moment, and private until prepare has set its mode.
func replace(path string, content []byte, prepare func(fresh string) error) (err error) {
	fresh, err := os.CreateTemp(filepath.Dir(path), ".terrarium-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(fresh.Name()))
		}
	}()
	_, err = io.Copy(fresh, bytes.NewReader(content))
	if err == nil {
		err = fresh.Sync()
	}
	if err = errors.Join(err, fresh.Close()); err != nil {
		return err
	}
	if err := prepare(fresh.Name()); err != nil {
		return err
	}
	return os.Rename(fresh.Name(), path)
}
