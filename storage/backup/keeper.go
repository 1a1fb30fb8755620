// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"

	"github.com/terrarium-garden/terrarium/storage/log"
)

const (
	// firstDelay is how long a keeper leaves a server alone that has just started.
	firstDelay = 30 * time.Second
	// look is how often a keeper looks whether something is to be done.
	look = 5 * time.Second
	// retry is how long it waits after an error. After each further snapshot that fails, the next one waits twice as long, up to mostRetry.
	retry     = 30 * time.Second
	mostRetry = 10 * time.Minute
	// many is the number of writes that are shipped before their time, so that they are shipped before they are compacted.
	many = 25_000
	// lastShip limits what is done when the server stops.
	lastShip = 5 * time.Second
)

// Config configures a keeper. All fields are required.
type Config struct {
	Source Source
	// Keys are those with which files are written.
	Keys Keys
	// Open returns where files are kept. It is tried again if it fails.
	Open func(context.Context) (Store, error)
	// Interval is the time between two snapshots, Increments that between two increments; 0 turns increments off.
	Interval, Increments time.Duration
	Retention            Retention
	Clock                clock.WithTicker
	Log                  logr.Logger
}

// Keeper takes snapshots and increments, and removes old ones.
type Keeper struct {
	config  Config
	started time.Time
	// turn is held by who writes files: one at a time.
	turn chan struct{}
	// stopping is closed when Run ends.
	stopping chan struct{}

	// store, base and last belong to who has the turn.
	store Store
	// base is the newest snapshot, nil before the first one. last is the file after which the next increment begins, nil if there is
	// none: increments go on over a snapshot, so that nothing is lost with a snapshot that is damaged.
	base, last *Entry
	checked    time.Time
	// failures is the number of snapshots that have failed since the last one that has not; before again, none is due.
	failures int
	again    time.Time

	// checking waits for verifications.
	checking sync.WaitGroup

	mu     sync.Mutex
	health Health
	// checks are the last verifications, by the names of snapshots. No more begin once ended is set.
	checks map[string]Check
	ended  bool
}

// NewKeeper returns a keeper. Run takes snapshots by the clock; Take can be called before.
func NewKeeper(c Config) *Keeper {
	k := &Keeper{config: c, started: c.Clock.Now(), turn: make(chan struct{}, 1), stopping: make(chan struct{}), checks: map[string]Check{}}
	register(k)

	return k
}

// Run takes snapshots and increments until ctx ends, and then a last increment.
func (k *Keeper) Run(ctx context.Context) {
	tick := k.config.Clock.NewTicker(look)
	defer tick.Stop()
	next := k.started.Add(firstDelay)
	for {
		select {
		case <-tick.C():
			now := k.config.Clock.Now()
			if now.Before(next) {
				continue
			}
			if err := k.work(ctx, now); err != nil && ctx.Err() == nil {
				k.config.Log.Error(err, "The garden was not saved; this is tried again", "destination", k.Health().Destination)
				next = now.Add(retry)
			}
		case <-ctx.Done():
			defer k.config.Source.release()
			close(k.stopping)
			k.endChecks()
			stopping, end := context.WithTimeout(context.WithoutCancel(ctx), lastShip)
			defer end()
			if err := k.finish(stopping); err != nil {
				k.config.Log.Error(err, "The last writes were not saved")
			}

			return
		}
	}
}

// take the turn, or give up with ctx.
func (k *Keeper) enter(ctx context.Context) error {
	select {
	case k.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (k *Keeper) leave() { <-k.turn }

// work does what is due.
func (k *Keeper) work(ctx context.Context, now time.Time) error {
	if err := k.enter(ctx); err != nil {
		return err
	}
	defer k.leave()

	return k.note(k.due(ctx, now))
}

func (k *Keeper) due(ctx context.Context, now time.Time) error {
	if err := k.open(ctx); err != nil {
		return err
	}
	var failed error
	if k.stale(now) && !now.Before(k.again) {
		if _, failed = k.snapshot(ctx, false); failed == nil {
			return nil
		}
	}
	if k.last == nil {
		return failed
	}

	return errors.Join(failed, k.shipDue(ctx, now))
}

// stale reports whether a snapshot is due. One from the future was taken when the clock was wrong.
func (k *Keeper) stale(now time.Time) bool {
	if k.base == nil {
		return true
	}
	age := now.Sub(k.base.Time)

	return age < 0 || age >= k.config.Interval
}

// shipDue takes an increment if it is due.
func (k *Keeper) shipDue(ctx context.Context, now time.Time) error {
	waiting := k.config.Source.Objects.Revision() - k.last.Objects.To + k.config.Source.Events.Revision() - k.last.Events.To
	if k.config.Increments == 0 || (now.Sub(k.checked) < k.config.Increments && waiting < many) {
		return nil
	}

	return k.increment(ctx, now)
}

// increment ships what was written. Where some of it is no longer there or is damaged, or the databases are those of an earlier state, a
// snapshot is taken instead: it needs only the newest record of each key.
func (k *Keeper) increment(ctx context.Context, now time.Time) error {
	made, some, err := k.config.Source.ship(ctx, k.store, k.config.Keys, *k.last)
	if errors.Is(err, log.ErrCompacted) || errors.Is(err, log.ErrFuture) || errors.Is(err, log.ErrDamaged) || errors.Is(err, ErrOtherHistory) {
		if now.Before(k.again) {
			return nil
		}
		_, err = k.snapshot(ctx, true)

		return err
	}
	if err != nil {
		return fmt.Errorf("save increment: %w", err)
	}
	k.checked = now
	if some {
		k.follow(made)
		increased.Inc()
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.health.Protected = now

	return nil
}

// follow has the next increment begin after a file. What comes after it stays in the databases until it is shipped, however long that takes.
func (k *Keeper) follow(last Entry) {
	k.last = &last
	if k.config.Increments > 0 {
		k.config.Source.hold(last.Objects.To, last.Events.To)
	}
}

// snapshot takes a snapshot, reads it again, and removes what is no longer needed. The turn must be held. Increments begin anew after
// it if that is asked for, or if there was none.
func (k *Keeper) snapshot(ctx context.Context, anew bool) (Entry, error) {
	began := k.config.Clock.Now()
	anew = anew || k.last == nil
	if anew && k.config.Increments > 0 {
		// What comes after the snapshot is needed once it is saved, which may take long.
		k.config.Source.hold(k.config.Source.Objects.Revision(), k.config.Source.Events.Revision())
	}
	made, err := k.save(ctx)
	if err != nil {
		k.again = began.Add(min(retry<<min(k.failures, 10), mostRetry)) //nolint:mnd // So that it does not overflow.
		k.failures++

		return Entry{}, err
	}
	k.failures, k.again = 0, time.Time{}
	k.base, k.checked = &made, began
	if anew {
		k.follow(made)
	}
	k.mu.Lock()
	k.health.Snapshot, k.health.Protected = &made, began
	k.mu.Unlock()
	taken.Inc()
	took.Observe(k.config.Clock.Since(began).Seconds())
	k.config.Log.Info("Snapshot taken", "name", made.Name, "bytes", made.Bytes, "destination", k.store.String())
	k.clean(ctx)

	return made, nil
}

// save takes a snapshot and reads it again. One that cannot be read is removed: the next ones would fill the disk.
func (k *Keeper) save(ctx context.Context) (Entry, error) {
	made, err := k.config.Source.save(ctx, k.store, k.config.Keys)
	if err != nil {
		return Entry{}, fmt.Errorf("save snapshot: %w", err)
	}
	if err := k.verify(ctx, made.Name); err != nil {
		return Entry{}, errors.Join(fmt.Errorf("read snapshot %q again: %w", made.Name, err),
			k.store.Delete(context.WithoutCancel(ctx), made.Name))
	}

	return made, nil
}

// clean removes old files. One that cannot be removed is left for the next time.
func (k *Keeper) clean(ctx context.Context) {
	all, err := k.store.List(ctx)
	if err != nil {
		k.config.Log.Error(err, "Old snapshots were not removed; this is tried again")

		return
	}
	for _, e := range k.config.Retention.surplus(all, k.config.Clock.Now()) {
		if err := k.store.Delete(ctx, e.Name); err != nil && !errors.Is(err, ErrNotFound) {
			k.config.Log.Error(err, "An old snapshot was not removed; this is tried again", "name", e.Name)
		}
	}
}

// finish ships what is left when the server stops.
func (k *Keeper) finish(ctx context.Context) error {
	if err := k.enter(ctx); err != nil {
		return err
	}
	defer k.leave()
	if k.store == nil || k.last == nil || k.config.Increments == 0 {
		return nil
	}

	return k.increment(ctx, k.config.Clock.Now())
}

// note keeps what became of an attempt.
func (k *Keeper) note(err error) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err == nil {
		// While increments go on, a snapshot can still be overdue.
		k.health.Failing = k.failures > 0

		return nil
	}
	failed.Inc()
	k.health.Failing, k.health.LastError, k.health.LastErrorTime = true, err.Error(), k.config.Clock.Now()

	return err
}

// Take takes a snapshot now. Once it has begun, it goes on even if nobody waits for it any more, unless Run ends.
func (k *Keeper) Take(ctx context.Context) (made Entry, err error) {
	err = k.locked(ctx, func() error {
		work, end := context.WithCancel(context.WithoutCancel(ctx))
		defer end()
		go func() {
			select {
			case <-k.stopping:
				end()
			case <-work.Done():
			}
		}()
		made, err = k.snapshot(work, false)

		return k.note(err)
	})

	return made, err
}

// locked runs a function with the turn and an open destination.
func (k *Keeper) locked(ctx context.Context, run func() error) error {
	if err := k.enter(ctx); err != nil {
		return err
	}
	defer k.leave()
	if err := k.open(ctx); err != nil {
		return k.note(err)
	}

	return run()
}

// Kept is a snapshot with what is known of it.
type Kept struct {
	Entry

	// Increments are what goes on from it.
	Increments Tail
	// Check is its last verification; nil if there was none.
	Check *Check
}

// List returns the snapshots, the newest first.
func (k *Keeper) List(ctx context.Context) (found []Kept, err error) {
	err = k.locked(ctx, func() error {
		all, err := k.store.List(ctx)
		tails := tails(all)
		for i, e := range snapshots(all) {
			found = append(found, Kept{Entry: e, Increments: tails[i], Check: k.check(e.Name)})
		}
		k.forget(found)

		return err
	})

	return found, err
}

// Describe returns what a snapshot says of itself.
func (k *Keeper) Describe(ctx context.Context, name string) (is Manifest, size int64, err error) {
	err = k.locked(ctx, func() error {
		f, err := k.file(ctx, name)
		if err != nil {
			return err
		}
		size = f.Size()
		if is, err = ReadManifest(f); err == nil {
			err = is.CheckName(name)
		}

		return errors.Join(err, f.Close())
	})

	return is, size, err
}

// file opens a snapshot. Increments have no names for others.
func (k *Keeper) file(ctx context.Context, name string) (File, error) {
	if e, ok := parseName(name + Extension); !ok || e.Kind != Full {
		return nil, fmt.Errorf("snapshot %q: %w", name, ErrNotFound)
	}

	return k.store.Open(ctx, name)
}

// verify reads a snapshot to its end.
func (k *Keeper) verify(ctx context.Context, name string) (err error) {
	f, err := k.file(ctx, name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()

	return k.readAll(f, name)
}

// readAll reads a file to its end: with its key if it is at hand, else its checksum only.
func (k *Keeper) readAll(f File, name string) error {
	if k.blind() {
		if err := checkSum(f); err != nil {
			return err
		}
		is, err := ReadManifest(f)
		if err != nil {
			return err
		}

		return is.CheckName(name)
	}
	is, err := Verify(f, k.config.Keys.Identities)
	if err != nil {
		return err
	}

	return is.CheckName(name)
}

// blind reports whether the keeper only encrypts, and has no key to read what it wrote.
func (k *Keeper) blind() bool { return len(k.config.Keys.Identities) == 0 }

// Delete removes a snapshot. The one from which the increments go on stays: without it they are of no use.
func (k *Keeper) Delete(ctx context.Context, name string) error {
	return k.locked(ctx, func() error {
		if e, ok := parseName(name + Extension); !ok || e.Kind != Full {
			return fmt.Errorf("snapshot %q: %w", name, ErrNotFound)
		}
		if k.base != nil && k.base.Name == name {
			return fmt.Errorf("snapshot %q: %w", name, ErrNewest)
		}

		return k.store.Delete(ctx, name)
	})
}

// ErrNewest says that a snapshot is the one from which increments go on.
var ErrNewest = errors.New("it is the newest one, from which the increments go on: take another one first")
