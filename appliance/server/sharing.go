// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/utils/clock"

	"github.com/terrarium-garden/terrarium/appliance/identity"
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
	// errBehind says that a server does not have the keys yet that are to be changed.
	errBehind = errors.New("not all servers of this garden have taken up the last change of keys")
	// errStopping says that this server stops to lead, or at all, so that it does not wait for others anymore.
	errStopping = errors.New("this server stops, or leads no longer, so it has not changed any keys; try again with the one that leads then")
	// errFenced says that this server may not change keys anymore.
	errFenced = errors.New("another server of this garden leads, so this one changes no keys")
)

// sharing gives keys and authorities to all servers that share a datastore. They are published, sealed, before they are used: so a server
// that takes the lead can always have what the one before has used. The next change waits until all servers that run have the last one.
type sharing struct {
	*server

	keys  *identity.Garden
	local string
	store generations.Datastore
	// self is the note of this server.
	self     generations.Server
	observer *generations.Observer
	noted    generations.Server
	notedAt  time.Time
	told     string
}

func (s *server) newSharing(keys *identity.Garden, local string, store generations.Datastore, self generations.Server) *sharing {
	return &sharing{
		server: s, keys: keys, local: local, store: store, self: self,
		observer: &generations.Observer{Datastore: store, Clock: clock.RealClock{}},
	}
}

// follow takes up keys as they are published, while this server stands by. It returns an error if that will not be possible: then this
// server could not serve if it took the lead.
func (s *sharing) follow(ctx context.Context) error {
	for {
		_, err := s.mayLead(ctx)
		if err == nil {
			_, err = s.takeUp(ctx, false)
		}
		if hopeless(err) {
			return err
		}
		s.note(ctx, err)
		if !rest(ctx, followInterval) {
			return nil
		}
	}
}

// stand waits for the lease, and follows meanwhile. What makes following impossible ends it. The error is nil if ctx has ended.
func (s *sharing) stand(ctx context.Context, c leader.Config) (*leader.Lease, error) {
	waiting, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var following sync.WaitGroup
	following.Go(func() { stop(s.follow(waiting)) })
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
func (s *sharing) takeUp(ctx context.Context, running bool) (*generations.Record, error) {
	is, err := s.store.Read(ctx)
	if err != nil {
		return nil, err
	}
	if is == nil {
		return nil, s.keys.Sharing.MayBegin()
	}
	taken, err := s.keys.Sharing.TakeUp(identity.Sealed{Generation: of(is), Content: is.Sealed}, running, s.Clock.Now())
	if running && errors.Is(err, identity.ErrOlderGeneration) && s.overtaken(ctx) {
		return is, nil
	}
	if err != nil || !taken {
		return is, err
	}
	s.Log.Info("Keys of the garden taken up", "generation", is.Generation)
	if err := s.keys.Certificates.WriteAdminKubeconfig(s.local); err != nil {
		return is, err
	}
	if api := s.api.Load(); running && api != nil {
		api.TokenKeysChanged()
		s.wakeEncryption()
		s.wakeAuthorities()
		s.keysChanged()
	}

	return is, nil
}

// overtaken reports whether this server has the newest keys: it may have published them after an older generation was read.
func (s *sharing) overtaken(ctx context.Context) bool {
	held, err := s.keys.Sharing.Held()
	if err != nil {
		return false
	}
	is, err := s.store.Read(ctx)

	return err == nil && is != nil && is.Generation >= held.Number
}

func of(is *generations.Record) identity.Generation {
	return identity.Generation{Number: is.Generation, Digest: is.Digest}
}

// note tells other servers which keys this one has, when that changes and from time to time.
func (s *sharing) note(ctx context.Context, failure error) {
	held, err := s.keys.Sharing.Held()
	if failure = errors.Join(failure, err); ctx.Err() != nil {
		return
	}
	next := s.self
	next.Generation = held.Number
	if failure != nil {
		next.Failure = failure.Error()
	}
	if next == s.noted && s.observer.Clock.Since(s.notedAt) < generations.Interval {
		return
	}
	written := next
	written.Noted = s.Clock.Now().UTC()
	if err := s.store.Note(ctx, written); err != nil {
		failure = errors.Join(failure, err)
	} else {
		s.noted, s.notedAt = next, s.observer.Clock.Now()
	}
	s.tell(ctx, failure)
}

// tell logs a failure once.
func (s *sharing) tell(ctx context.Context, failure error) {
	if ctx.Err() != nil {
		return
	}
	text := ""
	if failure != nil {
		text = failure.Error()
	}
	if text != "" && text != s.told {
		s.Log.Error(failure, "Keys of the garden not taken up, or other servers not told; trying again")
	}
	s.told = text
}

// claim makes this server the only one that changes keys, with the newest ones. Nothing uses them yet.
func (s *sharing) claim(ctx context.Context) error {
	is, err := s.takeUp(ctx, false)
	if err != nil {
		return fmt.Errorf("take up the keys of the garden: %w", err)
	}
	next := generations.Record{Generation: 1, By: s.self.ID, Published: s.Clock.Now().UTC()}
	var published *identity.Generation
	if is != nil {
		published = new(of(is))
		next.Generation, next.Digest, next.Sealed, next.Published = is.Generation, is.Digest, is.Sealed, is.Published
	}
	own, err := s.keys.Sharing.Proposal(published)
	if err != nil {
		return err
	}
	if own != nil {
		next.Generation, next.Digest, next.Sealed, next.Published = own.Number, own.Digest, own.Content, s.Clock.Now().UTC()
	}
	if err := s.store.Replace(ctx, is, next); err != nil {
		return err
	}
	if own == nil {
		return nil
	}
	s.Log.Info("Keys of this server published, sealed, for the other servers of the garden", "generation", own.Number)

	return s.keys.Sharing.Hold(own.Generation)
}

// grow publishes, as the next generation, which further kinds of objects this version encrypts, and takes that up. It waits for nobody: no key
// comes or goes, and servers of the version before can take it up as well.
func (s *sharing) grow(ctx context.Context) error {
	is, err := s.store.Read(ctx)
	switch {
	case err != nil:
		return err
	case is == nil || is.By != s.self.ID:
		return errFenced
	}
	next, err := s.keys.Sharing.Growth(of(is))
	if err != nil || next == nil {
		return err
	}
	err = s.store.Replace(ctx, is, generations.Record{
		Generation: next.Number, Digest: next.Digest, Sealed: next.Content, By: s.self.ID, Published: s.Clock.Now().UTC(),
	})
	if err != nil {
		return err
	}
	s.Log.Info("Kinds of objects that this version encrypts added to the keys of the garden, for all servers", "generation", next.Number)
	_, err = s.takeUp(ctx, false)

	return err
}

// publish is given to the keys, which call it before each change. It ends with ctx, which has to end when this server no longer leads: nothing
// else must wait for the servers for which it waits.
func (s *sharing) publish(ctx context.Context) identity.Publish {
	return func(from identity.Generation, to identity.Sealed) error {
		is, err := s.store.Read(ctx)
		switch {
		case err != nil:
			return err
		case is == nil || is.By != s.self.ID:
			return errFenced
		case of(is) != from:
			return fmt.Errorf("%w: this one is going to take up generation %d; try again", errBehind, is.Generation)
		}
		if err := s.await(ctx, from.Number); err != nil {
			return err
		}
		err = s.store.Replace(ctx, is, generations.Record{
			Generation: to.Number, Digest: to.Digest, Sealed: to.Content, By: s.self.ID, Published: s.Clock.Now().UTC(),
		})
		if err == nil {
			s.Log.Info("Change of keys published, sealed, for the other servers of the garden", "generation", to.Number)
		}

		return err
	}
}

// await waits until all servers that run have a generation.
func (s *sharing) await(ctx context.Context, generation int64) error {
	limit, stop := context.WithTimeout(ctx, awaitLimit)
	defer stop()
	for {
		all, err := s.observer.Servers(limit)
		if ctx.Err() != nil {
			return errStopping
		}
		if err != nil {
			return err
		}
		var late []string
		for _, other := range generations.Behind(all, generation) {
			if other.Address != s.self.Address {
				late = append(late, describeLate(other))
			}
		}
		if len(late) == 0 {
			return nil
		}
		if !rest(limit, awaitInterval) && ctx.Err() != nil {
			return errStopping
		}
		if limit.Err() != nil {
			return fmt.Errorf("%w, generation %d: %s; see why in its log, or stop it: a server that is off takes up all changes when it starts",
				errBehind, generation, strings.Join(late, "; "))
		}
	}
}

func describeLate(s generations.Server) string {
	text := fmt.Sprintf("server %s has generation %d", s.Address, s.Generation)
	if s.Failure != "" {
		text += " (" + s.Failure + ")"
	}

	return text
}

// keep tells other servers about this one while it leads, and looks at theirs. Beside that it takes up what it has published and could not
// write, which waits for a change that goes on.
func (s *sharing) keep(ctx context.Context) {
	var failure atomic.Pointer[error]
	var taking sync.WaitGroup
	defer taking.Wait()
	taking.Go(func() {
		for {
			_, err := s.takeUp(ctx, true)
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
		s.note(ctx, err)
		s.look(ctx)
		if !rest(ctx, generations.Interval) {
			return
		}
	}
}
