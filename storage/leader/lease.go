// SPDX-License-Identifier: Apache-2.0

package leader

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/utils/clock"
)

// ErrLost says that another server has taken the lease.
var ErrLost = errors.New("another server has taken the lead")

// Holder is what the lease says.
type Holder struct {
	// ID is different for each start of a server.
	ID string `json:"id"`
	// Address is where the holder can be reached; empty if it has given the lease back.
	Address string `json:"address,omitempty"`
}

// Config configures a lease.
type Config struct {
	// Client reaches the datastore.
	Client *clientv3.Client
	// Key is that of the lease.
	Key string
	// Self is what this server writes.
	Self Holder
	// Length is how long others wait after they have seen the last write, Patience how long the holder counts on a write, and Interval
	// the time between two attempts to write or read.
	Length, Patience, Interval time.Duration
	// Seen is called by Acquire when another server holds the lease.
	Seen func(Holder)
	// Clock measures times.
	Clock clock.Clock
}

// NewConfig returns the configuration of a lease with its times.
func NewConfig(client *clientv3.Client, self Holder) Config {
	return Config{
		Client: client, Key: "/terrarium/leader", Self: self,
		Length: 10 * time.Second, Patience: 7 * time.Second, Interval: 2 * time.Second,
		Seen: func(Holder) {}, Clock: clock.RealClock{},
	}
}

// Lease is a lease that this server holds.
type Lease struct {
	config   Config
	revision int64
	// renewed is when this server has last begun to write it, and until when it stops to count on that.
	renewed, until time.Time
}

// Acquire waits until this server holds the lease.
func Acquire(ctx context.Context, c Config) (*Lease, error) {
	var seen int64
	var since time.Time
	for {
		asked := c.Clock.Now()
		holder, revision, err := read(ctx, c)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			// What was seen before says nothing about the time in which the datastore does not answer.
			since = c.Clock.Now()
		case revision != seen:
			seen, since = revision, c.Clock.Now()
			if holder.Address != "" && holder.ID != c.Self.ID {
				c.Seen(holder)
			}
		}
		// The lease is its own already if the answer of the write was lost.
		free := revision == 0 || holder.Address == "" || holder.ID == c.Self.ID
		if err == nil && (free || asked.Sub(since) >= c.Length) {
			taken, err := write(ctx, c, revision)
			if err == nil && taken > 0 {
				return &Lease{config: c, revision: taken, renewed: asked, until: asked.Add(c.Patience)}, nil
			}
		}
		select {
		case <-c.Clock.After(c.Interval):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Keep holds the lease until ctx ends. It calls unsure when this server must not count on the lease, and sure when it can again. It
// returns ErrLost if another server has taken the lease.
func (l *Lease) Keep(ctx context.Context, unsure, sure func()) error {
	for doubt := false; ; {
		if !doubt && l.suspended() {
			doubt = true
			unsure()
		}
		err := l.renew(ctx, doubt)
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // The server stops.
		case errors.Is(err, ErrLost):
			unsure()

			return err
		case err != nil && !doubt && l.suspended():
			continue // It doubts, and tries again at once.
		case err == nil && doubt && !l.suspended():
			doubt = false
			sure()
		case err != nil && !doubt && !l.config.Clock.Now().Before(l.until):
			doubt = true
			unsure()
		}
		wait := l.config.Interval
		if !doubt {
			wait = min(wait, l.until.Sub(l.config.Clock.Now()))
		}
		if !l.rest(ctx, wait, doubt) {
			return nil
		}
	}
}

// glance is how often the holder looks whether its machine was suspended.
const glance = 250 * time.Millisecond

// suspended reports whether the wall clock says that the last write is too long ago. While a machine is suspended its timers do not run, nor does
// the time by which they go, but others wait no longer for that. A wall clock that is set forward costs a moment of doubt.
func (l *Lease) suspended() bool {
	return l.config.Clock.Now().Round(0).Sub(l.renewed.Round(0)) >= l.config.Patience
}

// rest waits, but no longer than until the machine is found to have been suspended. It reports false if ctx has ended.
func (l *Lease) rest(ctx context.Context, wait time.Duration, doubt bool) bool {
	for end := l.config.Clock.Now().Add(wait); doubt || !l.suspended(); {
		left := end.Sub(l.config.Clock.Now())
		if left <= 0 {
			break
		}
		select {
		case <-l.config.Clock.After(min(left, glance)):
		case <-ctx.Done():
			return false
		}
	}

	return true
}

// renew writes the lease again. While this server counts on the lease, the attempt ends when it has to stop doing so.
func (l *Lease) renew(ctx context.Context, doubt bool) error {
	attempt := write
	if !doubt {
		limited, cancel := context.WithDeadline(ctx, l.until)
		defer cancel()
		ctx, attempt = limited, l.watched
	}
	began := l.config.Clock.Now()
	revision, err := attempt(ctx, l.config, l.revision)
	if err != nil {
		return err
	}
	if revision == 0 {
		return ErrLost
	}
	l.revision, l.renewed, l.until = revision, began, began.Add(l.config.Patience)

	return nil
}

// watched writes the lease, and ends the attempt if the machine is found to have been suspended meanwhile.
func (l *Lease) watched(ctx context.Context, c Config, revision int64) (int64, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var written int64
	done := make(chan error, 1)
	go func() {
		var err error
		written, err = write(ctx, c, revision)
		done <- err
	}()
	for {
		next := c.Clock.NewTimer(glance)
		select {
		case err := <-done:
			next.Stop()

			return written, err
		case <-next.C():
			if l.suspended() {
				cancel()
			}
		}
	}
}

// Release gives the lease back, so that another server does not have to wait. It is called when nothing counts on it anymore.
func (l *Lease) Release(ctx context.Context) error {
	c := l.config
	c.Self.Address = ""
	if _, err := write(ctx, c, l.revision); err != nil {
		return fmt.Errorf("give the lead back: %w", err)
	}

	return nil
}

// requestLimit is how long a request may take.
const requestLimit = 3 * time.Second

func read(ctx context.Context, c Config) (Holder, int64, error) {
	ctx, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	var is Holder
	found, err := c.Client.Get(ctx, c.Key)
	if err != nil {
		return is, 0, fmt.Errorf("read lease: %w", err)
	}
	if len(found.Kvs) == 0 {
		return is, 0, nil
	}
	if err := json.Unmarshal(found.Kvs[0].Value, &is); err != nil {
		return is, 0, fmt.Errorf("read lease: %w", err)
	}

	return is, found.Kvs[0].ModRevision, nil
}

// write writes the lease if it has the revision, and returns the new one; 0 if it has another. A write whose answer was lost is found by
// the identifier of the server. The lease is then written again: others count from when they saw that write, which is long ago.
func write(ctx context.Context, c Config, revision int64) (int64, error) {
	for {
		written, err := swap(ctx, c, revision)
		if err != nil || written > 0 {
			return written, err
		}
		holder, at, err := read(ctx, c)
		if err != nil || holder.ID != c.Self.ID {
			return 0, err
		}
		revision = at
	}
}

// swap writes the lease if it has the revision, and returns the new one; 0 if it has another.
func swap(ctx context.Context, c Config, revision int64) (int64, error) {
	text, err := json.Marshal(c.Self)
	if err != nil {
		return 0, fmt.Errorf("encode lease: %w", err)
	}
	limited, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	txn := c.Client.Txn(limited).If(clientv3.Compare(clientv3.ModRevision(c.Key), "=", revision)).Then(clientv3.OpPut(c.Key, string(text)))
	if revision > 0 {
		txn = txn.Else(clientv3.OpGet(c.Key))
	}
	answer, err := txn.Commit()
	if err != nil {
		return 0, fmt.Errorf("write lease: %w", err)
	}
	if !answer.Succeeded {
		return 0, nil
	}

	return answer.Header.Revision, nil
}
