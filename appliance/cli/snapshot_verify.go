// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/terrarium-garden/terrarium/appliance/options"
	"github.com/terrarium-garden/terrarium/storage/backup"
)

type snapshotVerifyOptions struct {
	env    Environment
	files  snapshotFiles
	output outputFlag
	what   string
}

func newSnapshotVerifyCommand(env Environment) *cobra.Command {
	o := &snapshotVerifyOptions{env: env}
	cmd := &cobra.Command{
		Use:   "verify FILE|NAME",
		Short: "Read a snapshot to its end, and check everything in it",
		Long: `Decrypts a snapshot, and checks its parts, their checksums, each record and the number of records. Nothing is written. The
command needs the key, and no server.`,
		Example: `  terrarium snapshot verify /mnt/backup/snapshot-20261122-120000-4711-42.tsnap --key snapshot.key
  terrarium snapshot verify snapshot-20261122-120000-4711-42`,
		Args: exactly("FILE|NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.what = args[0]
			errs := []error{o.output.validate()}
			if isFile(o.what) {
				errs = append(errs, o.files.unused()...)
			}
			if err := usage(cmd, errs...); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
	}
	o.files.addTo(cmd.Flags())
	cmd.Flags().StringVar(&o.files.dataDir, "data-dir", "", "data directory of the server whose snapshots are read (default "+options.DefaultDataDir+")")
	o.output.addTo(cmd.Flags(), "", formatJSON, formatYAML)
	return cmd
}

func (o *snapshotVerifyOptions) run(ctx context.Context) (err error) {
	f, err := o.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	keys, err := o.files.keys()
	if err != nil {
		return err
	}
	is, err := verify(ctx, f, keys)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err == nil && !isFile(o.what) {
		err = is.CheckName(o.what)
	}
	if err != nil {
		return snapshotHint(fmt.Errorf("verify snapshot %q: %w", o.what, err))
	}
	return o.output.write(o.env.Out, is, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "The %s is complete and can be read: %d objects, %d events, revision %d, taken at %s by version %s of garden %s.\n",
			is.Kind, is.Objects.Records, is.Events.Records, is.Objects.To, is.Time.Format("2006-01-02T15:04:05Z07:00"), is.Version, is.Garden)
		return err
	})
}

func (o *snapshotVerifyOptions) open(ctx context.Context) (backup.File, error) {
	if isFile(o.what) {
		return backup.OpenFile(o.what)
	}
	store, err := o.files.store()
	if err != nil {
		return nil, err
	}
	f, err := store.Open(ctx, o.what)
	if errors.Is(err, backup.ErrNotFound) {
		return nil, placeHint(fmt.Errorf("look in %s: %w", store, err))
	}
	return f, err
}

// verify reads a file to its end, or until ctx ends: to read a large one takes minutes. The error says nothing of the file then.
func verify(ctx context.Context, f backup.File, keys backup.Keys) (backup.Manifest, error) {
	return backup.Verify(interruptible{File: f, ended: ctx.Err}, keys.Identities)
}

// interruptible is a file whose reads can be ended.
type interruptible struct {
	backup.File

	// ended returns why no more is read, or nil.
	ended func() error
}

// ReadAt implements io.ReaderAt.
func (f interruptible) ReadAt(p []byte, offset int64) (int, error) {
	if err := f.ended(); err != nil {
		return 0, err
	}
	return f.File.ReadAt(p, offset)
}
