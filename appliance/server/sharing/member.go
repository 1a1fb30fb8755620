// SPDX-License-Identifier: Apache-2.0

package sharing

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"

	"github.com/terrarium-garden/terrarium/appliance/identity"
	"github.com/terrarium-garden/terrarium/appliance/upgrade"
	"github.com/terrarium-garden/terrarium/storage/generations"
	"github.com/terrarium-garden/terrarium/storage/leader"
)

const (
	// followInterval is how often a server that stands by looks for new keys, and awaitInterval how often the one that leads looks whether
	// the others have them.
	followInterval = time.Second
	awaitInterval  = 250 * time.Millisecond
	// awaitLimit is how long a change of keys waits for the other servers: longer than a server counts that is off.
	awaitLimit = generations.Patience + 10*time.Second
)

var (
	// ErrBehind says that a server does not have the keys yet that are to be changed.
	ErrBehind = errors.New("not all servers of this garden have taken up the last change of keys")
	// ErrStopping says that this server stops to lead, or at all, so that it does not wait for others anymore.
	ErrStopping = errors.New("this server stops, or leads no longer, so it has not changed any keys; try again with the one that leads then")
	// ErrFenced says that this server may not change keys anymore.
	ErrFenced = errors.New("another server of this garden leads, so this one changes no keys")
)

// member gives keys and authorities to all servers that share a datastore. They are published, sealed, before they are used: so a server
// that takes the lead can always have what the one before has used. The next change waits until all servers that run have the last one.
type member struct {
	clock clock.PassiveClock
	log   logr.Logger
	// program is this program, which has to be allowed to follow the one that has last led.
	program upgrade.Program
	keys    *identity.Garden
	// local is the URL of this server for clients on this machine.
	local string
	store generations.Datastore
	// self is the note of this server.
	self     generations.Server
	observer *generations.Observer
	noted    generations.Server
	notedAt  time.Time
	told     string
	// holders are those that this server has seen.
	holders *Holders
	// takenUp is called when keys were taken up while the garden runs here.
	takenUp func()
}

func newMember(c *Leadership, store generations.Datastore, self generations.Server) *member {
	return &member{
		clock: c.Clock, log: c.Log, program: c.Program, keys: c.Keys, local: c.Local, store: store, self: self,
		observer: &generations.Observer{Datastore: store, Clock: clock.RealClock{}},
		holders:  c.Holders, takenUp: c.TakenUp,
	}
}

// follow takes up keys as they are published, while this server stands by. It returns an error if that will not be possible: then this
// server could not serve if it took the lead.
func (m *member) follow(ctx context.Context) error {
	for {
		_, err := m.mayLead(ctx)
		if err == nil {
			_, err = m.takeUp(ctx, false)
		}
		if hopeless(err) {
			return err
		}
		m.note(ctx, err)
		if !rest(ctx, followInterval) {
			return nil
		}
	}
}

// stand waits for the lease, and follows meanwhile. What makes following impossible ends it. The error is nil if ctx has ended.
func (m *member) stand(ctx context.Context, c leader.Config) (*leader.Lease, error) {
	waiting, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var following sync.WaitGroup
	following.Go(func() { stop(m.follow(waiting)) })
	lease, err := leader.Acquire(waiting, c)
	failure := context.Cause(waiting)
	stop(nil)
	following.Wait()
	switch {
	case ctx.Err() != nil:
		return nil, nil //nolint:nilnil // The server stops.
	case hopeless(failure):
		return nil, fmt.Errorf("stand by for the lead: %w", failure)
	}

	return lease, err
}

// hopeless reports whether somebody has to do something here before this server can take up keys. What is wrong with the datastore is
// none of that: all servers see it, and would end all at once.
func hopeless(err error) bool {
	for _, of := range []error{identity.ErrSealed, identity.ErrUnpublished} {
		if errors.Is(err, of) {
			return true
		}
	}

	return false
}

// rest waits, and reports whether ctx goes on.
func rest(ctx context.Context, pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// takeUp takes up what is published, and returns it; nil if nothing is.
func (m *member) takeUp(ctx context.Context, running bool) (*generations.Record, error) {
	is, err := m.store.Read(ctx)
	if err != nil {
		return nil, err
	}
	if is == nil {
		return nil, m.keys.Sharing.MayBegin()
	}
	taken, err := m.keys.Sharing.TakeUp(identity.Sealed{Generation: of(is), Content: is.Sealed}, running, m.clock.Now())
	if running && errors.Is(err, identity.ErrOlderGeneration) && m.overtaken(ctx) {
		return is, nil
	}
	if err != nil || !taken {
		return is, err
	}
	m.log.Info("Keys of the garden taken up", "generation", is.Generation)
	if err := m.keys.Certificates.WriteAdminKubeconfig(m.local); err != nil {
		return is, err
	}
	if running {
		m.takenUp()
	}

	return is, nil
}

// overtaken reports whether this server has the newest keys: it may have published them after an older generation was read.
func (m *member) overtaken(ctx context.Context) bool {
	held, err := m.keys.Sharing.Held()
	if err != nil {
		return false
	}
	is, err := m.store.Read(ctx)

	return err == nil && is != nil && is.Generation >= held.Number
}

func of(is *generations.Record) identity.Generation {
	return identity.Generation{Number: is.Generation, Digest: is.Digest}
}

// note tells other servers which keys this one has, when that changes and from time to time.
func (m *member) note(ctx context.Context, failure error) {
	held, err := m.keys.Sharing.Held()
	if failure = errors.Join(failure, err); ctx.Err() != nil {
		return
	}
	next := m.self
	next.Generation = held.Number
	if failure != nil {
		next.Failure = failure.Error()
	}
	if next == m.noted && m.observer.Clock.Since(m.notedAt) < generations.Interval {
		return
	}
	written := next
	written.Noted = m.clock.Now().UTC()
	if err := m.store.Note(ctx, written); err != nil {
		failure = errors.Join(failure, err)
	} else {
		m.noted, m.notedAt = next, m.observer.Clock.Now()
	}
	m.tell(ctx, failure)
}

// tell logs a failure once.
func (m *member) tell(ctx context.Context, failure error) {
	if ctx.Err() != nil {
		return
	}
	text := ""
	if failure != nil {
		text = failure.Error()
	}
	if text != "" && text != m.told {
		m.log.Error(failure, "Keys of the garden not taken up, or other servers not told; trying again")
	}
	m.told = text
}

// claim makes this server the only one that changes keys, with the newest ones. Nothing uses them yet.
func (m *member) claim(ctx context.Context) error {
	is, err := m.takeUp(ctx, false)
	if err != nil {
		return fmt.Errorf("take up the keys of the garden: %w", err)
	}
	next := generations.Record{Generation: 1, By: m.self.ID, Published: m.clock.Now().UTC()}
	var published *identity.Generation
	if is != nil {
		published = new(of(is))
		next.Generation, next.Digest, next.Sealed, next.Published = is.Generation, is.Digest, is.Sealed, is.Published
	}
	own, err := m.keys.Sharing.Proposal(published)
	if err != nil {
		return err
	}
	if own != nil {
		next.Generation, next.Digest, next.Sealed, next.Published = own.Number, own.Digest, own.Content, m.clock.Now().UTC()
	}
	if err := m.store.Replace(ctx, is, next); err != nil {
		return err
	}
	if own == nil {
		return nil
	}
	m.log.Info("Keys of this server published, sealed, for the other servers of the garden", "generation", own.Number)

	return m.keys.Sharing.Hold(own.Generation)
}

// grow publishes, as the next generation, which further kinds of objects this version encrypts, and takes that up. It waits for nobody: no key
// comes or goes, and servers of the version before can take it up as well.
func (m *member) grow(ctx context.Context) error {
	is, err := m.store.Read(ctx)
	switch {
	case err != nil:
		return err
	case is == nil || is.By != m.self.ID:
		return ErrFenced
	}
	next, err := m.keys.Sharing.Growth(of(is))
	if err != nil || next == nil {
		return err
	}
	err = m.store.Replace(ctx, is, generations.Record{
		Generation: next.Number, Digest: next.Digest, Sealed: next.Content, By: m.self.ID, Published: m.clock.Now().UTC(),
	})
	if err != nil {
		return err
	}
	m.log.Info("Kinds of objects that this version encrypts added to the keys of the garden, for all servers", "generation", next.Number)
	_, err = m.takeUp(ctx, false)

	return err
}

// publish is given to the keys, which call it before each change. It ends with ctx, which has to end when this server no longer leads: nothing
// else must wait for the servers for which it waits.
func (m *member) publish(ctx context.Context) identity.Publish {
	return func(from identity.Generation, to identity.Sealed) error {
		is, err := m.store.Read(ctx)
		switch {
		case err != nil:
			return err
		case is == nil || is.By != m.self.ID:
			return ErrFenced
		case of(is) != from:
			return fmt.Errorf("%w: this one is going to take up generation %d; try again", ErrBehind, is.Generation)
		}
		if err := m.await(ctx, from.Number); err != nil {
			return err
		}
		err = m.store.Replace(ctx, is, generations.Record{
			Generation: to.Number, Digest: to.Digest, Sealed: to.Content, By: m.self.ID, Published: m.clock.Now().UTC(),
		})
		if err == nil {
			m.log.Info("Change of keys published, sealed, for the other servers of the garden", "generation", to.Number)
		}

		return err
	}
}

// await waits until all servers that run have a generation.
func (m *member) await(ctx context.Context, generation int64) error {
	limit, stop := context.WithTimeout(ctx, awaitLimit)
	defer stop()
	for {
		all, err := m.observer.Servers(limit)
		if ctx.Err() != nil {
			return ErrStopping
		}
		if err != nil {
			return err
		}
		var late []string
		for _, other := range generations.Behind(all, generation) {
			if other.Address != m.self.Address {
				late = append(late, describeLate(other))
			}
		}
		if len(late) == 0 {
			return nil
		}
		if !rest(limit, awaitInterval) && ctx.Err() != nil {
			return ErrStopping
		}
		if limit.Err() != nil {
			return fmt.Errorf("%w, generation %d: %s; see why in its log, or stop it: a server that is off takes up all changes when it starts",
				ErrBehind, generation, strings.Join(late, "; "))
		}
	}
}

func describeLate(is generations.Server) string {
	text := fmt.Sprintf("server %s has generation %d", is.Address, is.Generation)
	if is.Failure != "" {
		text += " (" + is.Failure + ")"
	}

	return text
}

// keep tells other servers about this one while it leads, and looks at theirs. Beside that it takes up what it has published and could not
// write, which waits for a change that goes on.
func (m *member) keep(ctx context.Context) {
	var failure atomic.Pointer[error]
	var taking sync.WaitGroup
	defer taking.Wait()
	taking.Go(func() {
		for {
			_, err := m.takeUp(ctx, true)
			failure.Store(&err)
			if !rest(ctx, generations.Interval) {
				return
			}
		}
	})
	for {
		var err error
		if last := failure.Load(); last != nil {
			err = *last
		}
		m.note(ctx, err)
		m.look(ctx)
		if !rest(ctx, generations.Interval) {
			return
		}
	}
}
