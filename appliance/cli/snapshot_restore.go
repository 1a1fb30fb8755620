// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/terrarium-garden/terrarium/appliance/identity"
	"github.com/terrarium-garden/terrarium/storage/backup"
)

type snapshotRestoreOptions struct {
	env      Environment
	files    snapshotFiles
	output   outputFlag
	dataDir  string
	force    bool
	time     string
	revision int64

	what string
	at   time.Time
}

func newSnapshotRestoreCommand(env Environment) *cobra.Command {
	o := &snapshotRestoreOptions{env: env}
	cmd := &cobra.Command{
		Use:   "restore [FILE|NAME] --data-dir DIRECTORY",
		Short: "Make a data directory from a snapshot, on this or another machine",
		Long: `Makes the data directory of a garden from a snapshot and the increments after it, checks it, and only then moves it into
place. Without FILE or NAME, the newest state is restored; with one of them, the state of that snapshot. Start the server on the
directory afterwards: gardenlets come back by themselves once they reach it.

The directory must be missing or empty. With --force, what is there is moved aside, to a directory beside it. A server must
not run on it.`,
		Example: `  # The newest state, from a folder of snapshots
  terrarium snapshot restore --from /mnt/backup --key snapshot.key --data-dir /var/lib/terrarium

  # The state of yesterday noon
  terrarium snapshot restore --from /mnt/backup --key snapshot.key --data-dir /var/lib/terrarium --to-time 2026-11-21T12:00:00Z

  # One file
  terrarium snapshot restore snapshot-20261122-120000-4711-42.tsnap --key snapshot.key --data-dir /srv/garden`,
		Args: atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				o.what = args[0]
			}
			if err := usage(cmd, o.validate()...); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&o.dataDir, "data-dir", "", "data directory to make; required")
	fs.BoolVar(&o.force, "force", false, "move what is in the data directory aside")
	fs.StringVar(&o.time, "to-time", "", "restore the last saved state from before that time, such as 2026-11-22T12:00:00Z")
	fs.Int64Var(&o.revision, "to-revision", 0, "restore the state of the objects at that revision")
	o.files.addTo(fs)
	o.output.addTo(fs, "", formatJSON, formatYAML)
	return cmd
}

func (o *snapshotRestoreOptions) validate() []error {
	errs := []error{o.output.validate()}
	if o.dataDir == "" {
		errs = append(errs, errors.New("--data-dir: required"))
	}
	var err error
	if o.time != "" {
		if o.at, err = time.Parse(time.RFC3339, o.time); err != nil {
			errs = append(errs, fmt.Errorf("--to-time: %q is no time such as 2026-11-22T12:00:00Z", o.time))
		}
	}
	if o.revision < 0 {
		errs = append(errs, errors.New("--to-revision: must not be negative"))
	}
	wanted := 0
	for _, given := range []bool{o.what != "", o.time != "", o.revision > 0} {
		if given {
			wanted++
		}
	}
	if isFile(o.what) && o.what != "" {
		errs = append(errs, o.files.unused()...)
	}
	if wanted > 1 {
		errs = append(errs, errors.New("only one of FILE or NAME, --to-time and --to-revision can be given"))
	}
	return errs
}

func (o *snapshotRestoreOptions) run(ctx context.Context) error {
	o.files.dataDir = o.dataDir
	keys, err := o.files.keys()
	if err != nil {
		return err
	}
	r := backup.Restore{
		DataDir: o.dataDir, Force: o.force, Identities: keys.Identities, Now: o.env.Clock.Now(),
		Want: backup.Target{Time: o.at, Revision: o.revision},
		Lock: func(dir string) (func() error, error) {
			lock, err := identity.LockDirectory(dir)
			if err != nil {
				return nil, err
			}
			return lock.Release, nil
		},
	}
	if isFile(o.what) && o.what != "" {
		r.File = o.what
	} else {
		r.Want.Name = o.what
		if r.Store, err = o.files.store(); err != nil {
			return err
		}
	}
	done, err := r.Run(ctx)
	if errors.Is(err, backup.ErrNotFound) && o.at.IsZero() && o.revision == 0 {
		return placeHint(fmt.Errorf("restore: %w", err))
	}
	if err != nil {
		return snapshotHint(fmt.Errorf("restore: %w", err))
	}
	err = o.output.write(o.env.Out, done, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "Restored the state of %s into %s: %d objects and %d events, revision %d, from a snapshot and %d increments.\n",
			done.Until.Format(time.RFC3339), o.dataDir, done.Objects, done.Events, done.Revision, done.Increments)
		if done.Aside != "" {
			o.env.tell("What was there before is in %s now.\n", done.Aside)
		}
		return err
	})
	o.env.tell("%s", restoreWarning(done))
	return err
}

// restoreWarning says what to do about access that was taken away after the restored state, and is there again.
func restoreWarning(done backup.Restored) string {
	if !done.Earlier {
		return ""
	}
	return `Warning: access that was taken away after this state is there again, also that of revoked seeds and deleted join tokens.
Start the server where gardenlets cannot reach it, look at "terrarium seed revoked" and "terrarium token list", and repeat each
"terrarium seed revoke" and "terrarium token delete" that is missing. Only then let gardenlets reach it.
`
}
