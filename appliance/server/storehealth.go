// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"

	"github.com/terrarium-garden/terrarium/appliance/apiserver"
	"github.com/terrarium-garden/terrarium/appliance/doctor"
	"github.com/terrarium-garden/terrarium/storage/kine"
)

const (
	// healthInterval is how often the disk is looked at and the metrics are brought up to date.
	healthInterval = 10 * time.Second
	// integrityInterval is the time between two checks of the databases.
	integrityInterval = 7 * 24 * time.Hour
)

// storeHealth watches the databases and the datastore, and has what is known about them.
type storeHealth struct {
	clock  clock.WithTicker
	log    logr.Logger
	stores *kine.Stores
	// awaitWindow waits until the maintenance time window is open. It reports false if ctx ends first.
	awaitWindow func(ctx context.Context) bool

	mu    sync.Mutex
	known map[string]integrity
	// full says that changes are refused because the disk is full.
	full bool
	// away is why an external datastore does not answer, and awaySince since when.
	away      error
	awaySince time.Time
}

// integrity is the result of the last check of a database.
type integrity struct {
	checked  time.Time
	problems []string
	unused   int64
}

var (
	errDiskFull = errors.New("the disk of the data directory is full: changes are refused until there is space")
	errDamaged  = errors.New("a database is damaged")
)

// storeOfObjects is the database that the API server cannot do without.
const storeOfObjects = "objects"

// refuseDamaged does not let a server start with objects that cannot be read: to its controllers they would look as if they did not
// exist.
func refuseDamaged(ctx context.Context, stores *kine.Stores) error {
	l, ok := stores.Logs()[storeOfObjects]
	if !ok {
		return nil
	}
	keys, err := l.Damaged(ctx)
	if err != nil {
		return fmt.Errorf("check database: %w", err)
	}
	if len(keys) > 0 {
		return fmt.Errorf("%w: %q does not have what was written of %q; check the disk, and restore a snapshot from before the damage",
			errDamaged, l.Path(), keys)
	}

	return nil
}

// checks are the checks of /readyz.
func (h *storeHealth) checks() []apiserver.ReadyCheck {
	return []apiserver.ReadyCheck{
		h.datastoreCheck(),
		{Name: "terrarium/disk", Check: func() error {
			h.mu.Lock()
			defer h.mu.Unlock()
			if h.full {
				return errDiskFull
			}

			return nil
		}},
		{Name: "terrarium/store-integrity", Check: func() error {
			h.mu.Lock()
			defer h.mu.Unlock()
			for _, name := range slices.Sorted(maps.Keys(h.known)) {
				if found := h.known[name].problems; len(found) > 0 {
					return fmt.Errorf("%w: %s: %s", errDamaged, name, found[0])
				}
			}

			return nil
		}},
	}
}

// describe adds what is known to the facts about a database.
func (h *storeHealth) describe(s *doctor.Store) {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := h.known[s.Name]
	s.Checked, s.Problems, s.FreeBytes = i.checked, i.problems, i.unused
}

func (h *storeHealth) set(name string, change func(*integrity)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.known == nil {
		h.known = map[string]integrity{}
	}
	i := h.known[name]
	change(&i)
	h.known[name] = i
}

// runStoreHealth checks the databases at the start and each week, looks at the disk, and keeps the metrics up to date.
func runStoreHealth(ctx context.Context, h *storeHealth, e *examiner, ready func()) error {
	ready()
	var checking sync.WaitGroup
	defer checking.Wait()
	checking.Go(func() { h.checkWeekly(ctx) })
	checking.Go(func() { h.watchDatastore(ctx) })
	tick := h.clock.NewTicker(healthInterval)
	defer tick.Stop()
	for {
		h.look(ctx)
		e.measure(ctx)
		select {
		case <-tick.C():
		case <-ctx.Done():
			return nil
		}
	}
}

// checkWeekly checks all databases now, without their indexes, and completely in the maintenance time window after each week.
func (h *storeHealth) checkWeekly(ctx context.Context) {
	for full := false; ; full = true {
		if err := h.check(ctx, full); err != nil && ctx.Err() == nil {
			h.log.Error(err, "The databases could not be checked")
		}
		timer := h.clock.NewTimer(integrityInterval)
		select {
		case <-timer.C():
		case <-ctx.Done():
			timer.Stop()

			return
		}
		if !h.awaitWindow(ctx) {
			return
		}
	}
}

func (h *storeHealth) check(ctx context.Context, full bool) error {
	var errs []error
	for name, l := range h.stores.Logs() {
		problems, err := l.Check(ctx, full)
		if err != nil {
			errs = append(errs, err)

			continue
		}
		h.set(name, func(i *integrity) { i.checked, i.problems = h.clock.Now(), problems })
		if len(problems) > 0 {
			h.log.Error(errDamaged, "Restore a snapshot from before the damage", "store", name, "problems", problems)
		}
	}

	return errors.Join(errs...)
}

// look finds out how much is unused, and, while the disk is full, whether there is space again.
func (h *storeHealth) look(ctx context.Context) {
	full := false
	for name, l := range h.stores.Logs() {
		if l.Full() {
			l.Probe(ctx) //nolint:errcheck,gosec // The log says whether it is still full.
		}
		full = full || l.Full()
		if unused, err := l.Unused(ctx); err == nil {
			h.set(name, func(i *integrity) { i.unused = unused })
		}
	}
	h.mu.Lock()
	was := h.full
	h.full = full
	h.mu.Unlock()
	if full && !was {
		h.log.Error(errDiskFull, "Free space; the garden goes on by itself")
	}
	if was && !full {
		h.log.Info("There is space again, and changes are accepted")
	}
}
