// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"k8s.io/utils/clock"

	"github.com/terrarium-garden/terrarium/storage/log"
)

// The databases of a data directory.
const (
	objectsFile = "objects.db"
	eventsFile  = "events.db"
)

// StageSuffix is what the name of a directory of databases has until the databases are complete.
const StageSuffix = ".migrating"

// files are the databases of a data directory.
type files struct {
	logs []*log.Log
	// newest is the newest revision when they were opened. Later ones are only those of Events that end.
	newest int64
}

func openFiles(ctx context.Context, dir string) (*files, error) {
	f := &files{}
	for _, name := range []string{objectsFile, eventsFile} {
		path := filepath.Join(dir, name)
		if _, err := os.Stat(path); err != nil {
			return nil, errors.Join(fmt.Errorf("look for database: %w", err), f.close())
		}
		l, err := log.Open(ctx, log.NewConfig(path))
		if err != nil {
			return nil, errors.Join(err, f.close())
		}
		f.logs = append(f.logs, l)
		f.newest = max(f.newest, l.Revision())
	}

	return f, nil
}

func (f *files) revision(context.Context) (int64, error) { return f.newest, nil }

func (f *files) read(ctx context.Context, each func(record) error) error {
	for _, l := range f.logs {
		if err := readLog(ctx, l, each); err != nil {
			return err
		}
	}

	return nil
}

func readLog(ctx context.Context, l *log.Log, each func(record) error) (err error) {
	state, err := l.Export(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, state.Close()) }()
	now := clock.RealClock{}.Now().Unix()

	return state.State(ctx, func(r *log.Record) error {
		is := record{key: r.Key, value: r.Value, lease: r.Lease}
		if r.Expires > 0 {
			is.left = max(r.Expires-now, 1)
		}

		return each(is)
	})
}

func (f *files) close() error {
	var errs []error
	for _, l := range f.logs {
		errs = append(errs, l.Close())
	}

	return errors.Join(errs...)
}

// newDatabases writes the databases of a data directory. They are in a directory of their own until they are complete.
type newDatabases struct {
	dir, stage string
	newest     int64

	objects, events *log.Rebuild
}

// newFiles refuses a directory with databases. What an interrupted run has left is only ever in the stage, and is removed.
func newFiles(dir string) (*newDatabases, error) {
	f := &newDatabases{dir: dir, stage: dir + StageSuffix}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("look for databases: %w", err)
	}
	if len(entries) > 0 {
		return nil, fmt.Errorf("%w: %q has databases; move the directory away, such as to %q", ErrNotEmpty, dir, dir+".old")
	}
	if err := os.RemoveAll(f.stage); err != nil {
		return nil, fmt.Errorf("remove what an interrupted run has left: %w", err)
	}

	return f, nil
}

func (f *newDatabases) begin(ctx context.Context, above int64) (err error) {
	if err := os.MkdirAll(f.stage, 0o700); err != nil {
		return fmt.Errorf("make directory of the databases: %w", err)
	}
	f.newest = above
	if f.objects, err = log.NewRebuild(ctx, filepath.Join(f.stage, objectsFile)); err != nil {
		return err
	}
	f.events, err = log.NewRebuild(ctx, filepath.Join(f.stage, eventsFile))

	return err
}

func (f *newDatabases) write(ctx context.Context, r record) error {
	f.newest++
	into := f.objects
	if isEvent(r.key) {
		into = f.events
	}
	is := &log.Record{Revision: f.newest, Created: f.newest, Key: r.key, Value: r.value, Lease: r.lease}
	if r.lease > 0 {
		is.Expires = clock.RealClock{}.Now().Unix() + r.left
	}

	return into.Apply(ctx, is)
}

func (f *newDatabases) finish(ctx context.Context, check func(source) error) (int64, error) {
	for _, part := range []*log.Rebuild{f.objects, f.events} {
		if _, err := part.Finish(ctx, f.newest); err != nil {
			return 0, err
		}
	}
	written, err := openFiles(ctx, f.stage)
	if err != nil {
		return 0, err
	}
	if err := errors.Join(check(written), written.close()); err != nil {
		return 0, err
	}
	// After the rename the databases belong to the garden, so their names have to be on the disk before it.
	if err := syncDirectory(f.stage); err != nil {
		return 0, err
	}
	if err := os.Remove(f.dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("put databases into place: %w", err)
	}
	if err := os.Rename(f.stage, f.dir); err != nil {
		return 0, fmt.Errorf("put databases into place: %w", err)
	}

	return f.newest, syncDirectory(filepath.Dir(f.dir))
}

// syncDirectory makes last what was created and renamed in a directory.
func syncDirectory(dir string) error {
	d, err := os.Open(dir) //nolint:gosec // The path is the operator's own.
	if err != nil {
		return fmt.Errorf("sync directory: %w", err)
	}

	return errors.Join(d.Sync(), d.Close())
}

func (f *newDatabases) abandon() error {
	var errs []error
	for _, part := range []*log.Rebuild{f.objects, f.events} {
		if part != nil {
			errs = append(errs, part.Abandon())
		}
	}

	return errors.Join(append(errs, os.RemoveAll(f.stage))...)
}
