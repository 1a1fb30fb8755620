// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/terrarium-garden/terrarium/storage/kine"
)

var (
	// ErrNotEmpty says that the target has objects.
	ErrNotEmpty = errors.New("the target is not empty")
	// ErrInterrupted says that the target has a part of a copy.
	ErrInterrupted = errors.New("the target has a part of a copy that was interrupted")
	// ErrChanged says that somebody wrote to the source while it was copied.
	ErrChanged = errors.New("the source has changed meanwhile: a server is running on it")
	// ErrDifferent says that the target does not have what was written to it.
	ErrDifferent = errors.New("the target does not have what the source has")
	// ErrForeign says that the source is not that of the garden.
	ErrForeign = errors.New("the source does not belong to this garden")
)

// Side is a datastore: the databases of a data directory or, with an endpoint, an external one.
type Side struct{ kine.Config }

// String says where it is.
func (s Side) String() string {
	if s.External() {
		return kine.PlaceOf(s.Endpoint).String()
	}

	return fmt.Sprintf("SQLite in %q", s.Dir)
}

// Migration copies a garden.
type Migration struct {
	From, To Side
	// Owner is the identifier of the garden.
	Owner string
	// WithoutEvents leaves Events out.
	WithoutEvents bool
	// StartOver removes from the target what an interrupted run has left there.
	StartOver bool
	// Progress is told what happens.
	Progress func(text string)
}

// Result says what was copied.
type Result struct {
	From string `json:"from"`
	To   string `json:"to"`
	// Objects and Events were copied, LeftOut Events were not.
	Objects int `json:"objects"`
	Events  int `json:"events"`
	LeftOut int `json:"leftOut"`
	// From the resource version FromRevision, the target continues at ToRevision.
	FromRevision int64 `json:"fromRevision"`
	ToRevision   int64 `json:"toRevision"`
}

// record is a key as it is stored.
type record struct {
	key   string
	value []byte
	// lease is the number of seconds after which the key is removed, and left how many of them are left; 0 for never.
	lease, left int64
}

// eventsPrefix is that of the Events, which have a database of their own in a data directory.
const eventsPrefix = "/registry/events/"

// isObject tells objects from the notes of a datastore.
func isObject(key string) bool { return strings.HasPrefix(key, prefix) && key != kine.HealthKey }

func isEvent(key string) bool { return strings.HasPrefix(key, eventsPrefix) }

// source can be read.
type source interface {
	// revision is the newest one.
	revision(ctx context.Context) (int64, error)
	// read calls a function for all records, in any order.
	read(ctx context.Context, each func(record) error) error
	close() error
}

// target can be written.
type target interface {
	// begin raises the revisions above the given one. The target is empty.
	begin(ctx context.Context, above int64) error
	write(ctx context.Context, r record) error
	// finish makes the copy that of the garden. check is called before with what was written.
	finish(ctx context.Context, check func(source) error) (revision int64, err error)
	// abandon leaves what was written.
	abandon() error
}

// Run copies the garden. The caller makes sure that no server uses a data directory.
func (m Migration) Run(ctx context.Context) (done Result, err error) {
	done.From, done.To = m.From.String(), m.To.String()
	if done.From == done.To {
		return done, errors.New("source and target are the same")
	}
	from, err := m.openSource(ctx)
	if err != nil {
		return done, fmt.Errorf("open source, %s: %w", m.From, err)
	}
	defer func() { err = errors.Join(err, from.close()) }()
	if done.FromRevision, err = from.revision(ctx); err != nil {
		return done, fmt.Errorf("read source, %s: %w", m.From, err)
	}
	to, err := m.openTarget(ctx)
	if err != nil {
		return done, fmt.Errorf("open target, %s: %w", m.To, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, to.abandon())
		}
	}()
	if err := to.begin(ctx, done.FromRevision); err != nil {
		return done, fmt.Errorf("prepare target, %s: %w", m.To, err)
	}
	sum, err := m.copy(ctx, from, to, &done)
	if err != nil {
		return done, err
	}
	if now, err := from.revision(ctx); err != nil || now != done.FromRevision {
		return done, errors.Join(ErrChanged, err)
	}
	m.Progress("Comparing the copy with the source.")
	done.ToRevision, err = to.finish(ctx, func(written source) error { return m.compare(ctx, written, sum) })
	if err != nil {
		return done, fmt.Errorf("finish target, %s: %w", m.To, err)
	}

	return done, nil
}

// progressEvery is the number of records between two reports.
const progressEvery = 5000

func (m Migration) copy(ctx context.Context, from source, to target, done *Result) (checksum, error) {
	var sum checksum
	err := from.read(ctx, func(r record) error {
		switch {
		case !isObject(r.key):
			return nil
		case isEvent(r.key) && m.WithoutEvents:
			done.LeftOut++

			return nil
		}
		if err := to.write(ctx, r); err != nil {
			return fmt.Errorf("write %q to %s: %w", r.key, m.To, err)
		}
		sum.add(r)
		if isEvent(r.key) {
			done.Events++
		} else {
			done.Objects++
		}
		if n := done.Objects + done.Events; n%progressEvery == 0 {
			m.Progress(fmt.Sprintf("%d copied.", n))
		}

		return nil
	})

	return sum, err
}

// compare reads the copy. Events may have ended since they were copied.
func (m Migration) compare(ctx context.Context, written source, want checksum) error {
	var got checksum
	err := written.read(ctx, func(r record) error {
		if isObject(r.key) {
			got.add(r)
		}

		return nil
	})
	if err != nil {
		return fmt.Errorf("read the copy: %w", err)
	}
	if got.lasting != want.lasting || got.count != want.count || got.leased > want.leased {
		return fmt.Errorf("%w: %d objects and %d with an end, of %d and %d", ErrDifferent, got.count, got.leased, want.count, want.leased)
	}

	return nil
}

// checksum is that of a set of records, in any order: the sums of keys and values are combined by exclusive or, and no key is twice in a
// store. Records that end by themselves are only counted.
type checksum struct {
	lasting       [sha256.Size]byte
	count, leased int
}

func (c *checksum) add(r record) {
	if r.lease > 0 {
		c.leased++

		return
	}
	h := sha256.New()
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(r.key))))
	h.Write([]byte(r.key))
	h.Write(r.value)
	for i, b := range h.Sum(nil) {
		c.lasting[i] ^= b
	}
	c.count++
}

func (m Migration) openSource(ctx context.Context) (source, error) {
	if m.From.External() {
		return openExternalSource(ctx, m.From.Config, m.Owner)
	}

	return openFiles(ctx, m.From.Dir)
}

func (m Migration) openTarget(ctx context.Context) (target, error) {
	if m.To.External() {
		return openExternalTarget(ctx, m)
	}

	return newFiles(m.To.Dir)
}
