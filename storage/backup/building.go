// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"filippo.io/age"

	"github.com/terrarium-garden/terrarium/storage/local/timeline"
	"github.com/terrarium-garden/terrarium/storage/log"
)

// building is a data directory that is being made.
type building struct {
	dir             string
	identities      []age.Identity
	want            Target
	newest          Entry
	now             time.Time
	objects, events *log.Rebuild
	// last says where the last file ends.
	last     Manifest
	timeline bool
}

// run fills the directory and checks it.
func (b *building) run(ctx context.Context, base opener, then []opener) (done Restored, err error) {
	for _, of := range []struct {
		file string
		into **log.Rebuild
	}{{"objects.db", &b.objects}, {"events.db", &b.events}} {
		path := filepath.Join(b.dir, "db", of.file)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return done, fmt.Errorf("make directory of databases: %w", err)
		}
		if *of.into, err = log.NewRebuild(ctx, path); err != nil {
			return done, err
		}
		defer func() { err = errors.Join(err, (*of.into).Abandon()) }()
	}
	if done.Snapshot, err = b.full(ctx, base); err != nil {
		return done, fmt.Errorf("snapshot %q: %w", base.name, err)
	}
	done.Until = done.Snapshot.Time
	for _, next := range then {
		reached := b.objects.Newest()
		is, err := b.increment(ctx, next, done.Snapshot.Garden)
		if err != nil {
			return done, fmt.Errorf("increment %q: %w; the last state before it is that of revision %d", next.name, err, reached)
		}
		if b.whole(is) {
			done.Until = is.Time
		}
		done.Increments++
	}

	return b.finish(ctx, done)
}

// full reads a snapshot.
func (b *building) full(ctx context.Context, from opener) (is Manifest, err error) {
	f, err := from.open()
	if err != nil {
		return is, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if is, err = ReadManifest(f); err != nil {
		return is, err
	}
	if is.Kind != Full {
		return is, errors.New("it is an increment: restore from the folder that holds it")
	}
	if err := from.check(is); err != nil {
		return is, err
	}
	is, err = scan(f, b.identities, sink{
		object:   func(r *log.Record) error { return b.objects.Apply(ctx, r) },
		event:    func(r *log.Record) error { return b.events.Apply(ctx, r) },
		file:     b.file,
		timeline: b.history,
	})
	if err != nil {
		return is, err
	}
	// It may have been replaced in the meantime.
	if err := from.check(is); err != nil {
		return is, err
	}
	b.objects.Reached(is.Objects.To)
	b.events.Reached(is.Events.To)
	b.last = is

	return is, nil
}

// whole reports whether all of an increment is wanted.
func (b *building) whole(is Manifest) bool {
	return b.want.Revision == 0 || is.Objects.To <= b.want.Revision
}

// increment adds the writes of an increment. Those that are there already are left out.
func (b *building) increment(ctx context.Context, from opener, garden string) (is Manifest, err error) {
	f, err := from.open()
	if err != nil {
		return is, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	objects, events := b.objects.Newest(), b.events.Newest()
	after := func(into *log.Rebuild, last Span, most int64) func(*log.Record) error {
		known := into.Newest()

		return func(r *log.Record) error {
			if last.differs(r) {
				return ErrOtherHistory
			}
			if r.Revision <= known || most > 0 && r.Revision > most {
				return nil
			}

			return into.Apply(ctx, r)
		}
	}
	is, err = scan(f, b.identities, sink{
		object: after(b.objects, b.last.Objects, b.want.Revision), event: after(b.events, b.last.Events, 0),
	})
	if err != nil {
		return is, err
	}
	if err := from.check(is); err != nil {
		return is, err
	}
	switch {
	case is.Objects.From > objects || is.Events.From > events:
		return is, fmt.Errorf("%w before it: it goes on from revision %d", ErrGap, is.Objects.From)
	case is.Garden != garden:
		return is, fmt.Errorf("it is of another garden, %q", is.Garden)
	case is.Kind != Increment:
		return is, fmt.Errorf("%w: it is no increment", ErrDamaged)
	case !is.Objects.follows(b.last.Objects) || !is.Events.follows(b.last.Events):
		return is, ErrOtherHistory
	case b.want.Revision > 0:
		b.objects.Reached(min(is.Objects.To, b.want.Revision))
	default:
		b.objects.Reached(is.Objects.To)
	}
	b.events.Reached(is.Events.To)
	b.last = is

	return is, nil
}

// file writes a file of the data directory. What is in a snapshot is not trusted to stay inside of it.
func (b *building) file(path string, content io.Reader) error {
	if !filepath.IsLocal(path) || strings.HasPrefix(path, "db/") || strings.HasPrefix(path, "local/") {
		return fmt.Errorf("%w: it has a file %q", ErrDamaged, path)
	}

	return writeNew(filepath.Join(b.dir, filepath.FromSlash(path)), content)
}

// history writes the timeline.
func (b *building) history(content io.Reader) error {
	b.timeline = true

	return writeNew(filepath.Join(b.dir, "local", timeline.FileName), content)
}

func writeNew(path string, content io.Reader) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("make directory: %w", err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // It is in the staging directory.
	if err != nil {
		return fmt.Errorf("write file: %w", err)
	}
	_, err = io.Copy(f, content)

	return errors.Join(err, f.Close())
}

// finish closes the databases and checks what was made.
func (b *building) finish(ctx context.Context, done Restored) (Restored, error) {
	done.Revision = b.objects.Newest()
	done.Next = beyond(max(done.Revision, b.newest.Objects.To), b.now)
	var err error
	if done.Objects, err = b.objects.Finish(ctx, done.Next); err != nil {
		return done, err
	}
	if done.Events, err = b.events.Finish(ctx, beyond(max(b.events.Newest(), b.newest.Events.To), b.now)); err != nil {
		return done, err
	}
	if done.Increments == 0 && (done.Objects != done.Snapshot.Objects.Records || done.Events != done.Snapshot.Events.Records) {
		return done, fmt.Errorf("%w: %d objects and %d events were restored instead of %d and %d", ErrDamaged,
			done.Objects, done.Events, done.Snapshot.Objects.Records, done.Snapshot.Events.Records)
	}
	if !b.timeline {
		return done, nil
	}

	return done, timeline.Advance(filepath.Join(b.dir, "local"), jump)
}
