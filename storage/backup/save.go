// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/terrarium-garden/terrarium/storage/log"
)

// Source is what a garden has to keep.
type Source struct {
	// Objects and Events are the two databases.
	Objects, Events *log.Log
	// Timeline writes a copy of the timeline; nil if there is none.
	Timeline func(io.Writer) error
	// Files returns the files of the data directory that cannot be made again, by their paths in it.
	Files func() (map[string][]byte, error)
	// Garden is the cluster identity; empty while it is not known.
	Garden func() string
	// Version is that of the program whose state it is.
	Version string
	// Now tells the time.
	Now func() time.Time
}

// ErrStarting says that the server is still starting.
var ErrStarting = errors.New("the garden is starting: its identity is not known yet, try again in a moment")

// hold keeps in the databases what comes after two revisions, and their own records, by which the history is known.
func (s *Source) hold(objects, events int64) {
	s.Objects.Hold(objects - 1)
	s.Events.Hold(events - 1)
}

func (s *Source) release() {
	s.Objects.Release()
	s.Events.Release()
}

// reading is the state of both databases.
type reading struct {
	source          *Source
	manifest        Manifest
	objects, events *log.Export
}

// read opens both databases at what is committed now.
func (s *Source) read(ctx context.Context, kind Kind) (*reading, error) {
	garden := s.Garden()
	if garden == "" {
		return nil, ErrStarting
	}
	// What is answered before the time is committed before the transactions begin.
	r := &reading{source: s, manifest: Manifest{Kind: kind, Version: s.Version, Garden: garden, Time: s.Now().UTC().Truncate(time.Second)}}
	var err error
	if r.objects, err = s.Objects.Export(ctx); err != nil {
		return nil, fmt.Errorf("read objects: %w", err)
	}
	if r.events, err = s.Events.Export(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("read events: %w", err), r.objects.Close())
	}
	if err := r.end(ctx); err != nil {
		return nil, errors.Join(err, r.close())
	}

	return r, nil
}

// end notes where the state ends.
func (r *reading) end(ctx context.Context) (err error) {
	r.manifest.Objects.To, r.manifest.Events.To = r.objects.Revision(), r.events.Revision()
	if r.manifest.Objects.ToSum, err = r.objects.Sum(ctx, r.objects.Revision()); err != nil {
		return err
	}
	r.manifest.Events.ToSum, err = r.events.Sum(ctx, r.events.Revision())

	return err
}

// follow notes where an increment begins. The error wraps ErrOtherHistory if the databases never were in the state in which the file before
// it ends.
func (r *reading) follow(ctx context.Context, last Entry) error {
	for _, of := range []struct {
		from *log.Export
		span *Span
		last Span
	}{{r.objects, &r.manifest.Objects, last.Objects}, {r.events, &r.manifest.Events, last.Events}} {
		sum, err := of.from.Sum(ctx, of.last.To)
		if err != nil {
			return err
		}
		if of.last.ToSum != 0 && sum != of.last.ToSum {
			return ErrOtherHistory
		}
		of.span.From, of.span.FromSum = of.last.To, sum
	}

	return nil
}

func (r *reading) close() error { return errors.Join(r.objects.Close(), r.events.Close()) }

// full writes the parts of a snapshot.
func (r *reading) full(ctx context.Context, to *partWriter) (Manifest, error) {
	// The keys come after the transactions have begun: those that encrypt what they see exist by then.
	files, err := r.source.Files()
	if err != nil {
		return Manifest{}, fmt.Errorf("read identity: %w", err)
	}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		err := to.part(partFile+path, func(w io.Writer) error {
			_, err := w.Write(files[path])

			return err
		})
		if err != nil {
			return Manifest{}, err
		}
	}
	state := func(from *log.Export, each func(*log.Record) error) error { return from.State(ctx, each) }
	if err := r.databases(to, state, state); err != nil {
		return Manifest{}, err
	}
	if r.source.Timeline != nil {
		if err := to.part(partTimeline, r.source.Timeline); err != nil {
			return Manifest{}, err
		}
	}

	return r.manifest, nil
}

// increment writes the parts of an increment.
func (r *reading) increment(ctx context.Context, to *partWriter) (Manifest, error) {
	since := func(after int64) func(*log.Export, func(*log.Record) error) error {
		return func(from *log.Export, each func(*log.Record) error) error { return from.Since(ctx, after, each) }
	}

	return r.manifest, r.databases(to, since(r.manifest.Objects.From), since(r.manifest.Events.From))
}

// databases writes records of both databases.
func (r *reading) databases(to *partWriter, objects, events func(*log.Export, func(*log.Record) error) error) error {
	for _, of := range []struct {
		name string
		from *log.Export
		read func(*log.Export, func(*log.Record) error) error
		span *Span
	}{
		{partObjects, r.objects, objects, &r.manifest.Objects},
		{partEvents, r.events, events, &r.manifest.Events},
	} {
		err := to.part(of.name, func(w io.Writer) error {
			records := &recordWriter{to: w}
			err := of.read(of.from, records.write)
			of.span.Records = records.count

			return err
		})
		if err != nil {
			return err
		}
	}

	return nil
}

// save writes a snapshot to a store.
func (s *Source) save(ctx context.Context, to Store, keys Keys) (Entry, error) {
	r, err := s.read(ctx, Full)
	if err != nil {
		return Entry{}, err
	}

	return r.put(ctx, to, keys, r.full)
}

// ship writes what came after the given file to a store. It reports false if there was nothing.
func (s *Source) ship(ctx context.Context, to Store, keys Keys, last Entry) (Entry, bool, error) {
	if s.Objects.Revision() == last.Objects.To && s.Events.Revision() == last.Events.To {
		return last, false, nil
	}
	r, err := s.read(ctx, Increment)
	if err != nil {
		return Entry{}, false, err
	}
	if err := r.follow(ctx, last); err != nil {
		return Entry{}, false, errors.Join(err, r.close())
	}
	made, err := r.put(ctx, to, keys, r.increment)

	return made, err == nil, err
}

// put writes a file and closes the reading.
func (r *reading) put(
	ctx context.Context, to Store, keys Keys, fill func(context.Context, *partWriter) (Manifest, error),
) (made Entry, err error) {
	defer func() { err = errors.Join(err, r.close()) }()
	name := nameOf(r.manifest)
	size := &counter{}
	err = to.Put(ctx, name, func(w io.Writer) error {
		size.to = w
		_, err := seal(size, keys.Recipients, func(parts *partWriter) (Manifest, error) { return fill(ctx, parts) })

		// What the store does with it may take long, and needs the databases no more.
		return errors.Join(err, r.close())
	})
	made = Entry{
		Name: name, Kind: r.manifest.Kind, Time: r.manifest.Time, Objects: r.manifest.Objects, Events: r.manifest.Events, Bytes: size.bytes,
	}

	return made, err
}
