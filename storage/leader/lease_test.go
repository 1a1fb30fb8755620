// SPDX-License-Identifier: Apache-2.0

package leader_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/terrarium-garden/terrarium/storage/kine"
	"github.com/terrarium-garden/terrarium/storage/leader"
)

// patience is how long the tests wait for what must happen.
const patience = 30 * time.Second

// place is a datastore, and a server that can be cut off from it.
type place struct {
	stores *kine.Stores
	gate   kine.Gate
}

func open(t *testing.T) *place {
	t.Helper()
	stores, err := kine.Start(t.Context(), kine.NewConfig(filepath.Join(t.TempDir(), "db")))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := stores.Close(); err != nil {
			t.Error(err)
		}
	})

	return &place{stores: stores}
}

func client(t *testing.T, e kine.Endpoint) *clientv3.Client {
	t.Helper()
	c, err := e.Client()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })

	return c
}

func config(c *clientv3.Client, id string) leader.Config {
	config := leader.NewConfig(c, leader.Holder{ID: id, Address: id + ":6443"})
	config.Length, config.Patience, config.Interval = 1500*time.Millisecond, time.Second, 100*time.Millisecond

	return config
}

func acquire(t *testing.T, c leader.Config) *leader.Lease {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	l, err := leader.Acquire(ctx, c)
	if err != nil {
		t.Fatalf("Acquire(%s): %v", c.Self.ID, err)
	}

	return l
}

// TestOneLeads has three servers that want to lead: the second one waits while the first one renews, and does not when it gives the
// lease back.
func TestOneLeads(t *testing.T) {
	t.Parallel()

	p := open(t)
	first := acquire(t, config(client(t, p.stores.Objects), "one"))
	ctx, stop := context.WithCancel(t.Context())
	kept := make(chan error, 1)
	go func() {
		kept <- first.Keep(ctx, func() { t.Error("Nothing is in the way of the lease, but it was in doubt.") }, func() {})
	}()

	second := config(client(t, p.stores.Objects), "two")
	seen := make(chan leader.Holder, 100)
	second.Seen = func(h leader.Holder) { seen <- h }
	waiting, cancel := context.WithTimeout(t.Context(), 2*second.Length)
	defer cancel()
	_, err := leader.Acquire(waiting, second)
	if diff := cmp.Diff(context.DeadlineExceeded, err, cmpopts.EquateErrors()); diff != "" {
		t.Fatalf("While one leads, no other does.\nerror of Acquire(two) (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(leader.Holder{ID: "one", Address: "one:6443"}, <-seen); diff != "" {
		t.Errorf("The others know where the first one is (-want +got):\n%s", diff)
	}
	stop()
	if err := <-kept; err != nil {
		t.Errorf("Keep(one): %v", err)
	}
	if err := first.Release(t.Context()); err != nil {
		t.Errorf("Release(one): %v", err)
	}
	second.Length = time.Hour
	acquire(t, second)
}

// TestTakeOver takes the lease from one that does not renew it anymore.
func TestTakeOver(t *testing.T) {
	t.Parallel()

	p := open(t)
	first := acquire(t, config(client(t, p.stores.Objects), "one"))
	second := config(client(t, p.stores.Objects), "two")
	began := time.Now()
	acquire(t, second)
	if took := time.Since(began); took < second.Length {
		t.Errorf("The lease is not taken before it has ended.\nAcquire(two): got it after %s, want at least %s", took, second.Length)
	}
	doubt := make(chan struct{}, 10)
	err := first.Keep(t.Context(), func() { doubt <- struct{}{} }, func() {})
	if diff := cmp.Diff(leader.ErrLost, err, cmpopts.EquateErrors()); diff != "" {
		t.Errorf("Who comes back too late does not lead.\nerror of Keep(one) (-want +got):\n%s", diff)
	}
	<-doubt
}

// TestDatastoreAway cuts the holder off from the datastore: it doubts before others may take the lease, and goes on if none has.
func TestDatastoreAway(t *testing.T) {
	t.Parallel()

	p := open(t)
	c := config(client(t, p.gate.Guard(p.stores.Objects)), "one")
	lease := acquire(t, c)
	doubt, sure, kept := make(chan time.Time, 1), make(chan struct{}, 1), make(chan error, 1)
	go func() {
		kept <- lease.Keep(t.Context(), func() { doubt <- time.Now() }, func() { sure <- struct{}{} })
	}()
	p.gate.Shut()
	began := time.Now()
	select {
	case at := <-doubt:
		if took := at.Sub(began); took > c.Length {
			t.Errorf("The holder doubts before others may take the lease.\ngot %s, want at most %s", took, c.Length)
		}
	case <-time.After(patience):
		t.Fatal("The holder does not notice that it cannot renew.")
	}
	p.gate.Open()
	select {
	case <-sure:
	case err := <-kept:
		t.Fatalf("Nobody has taken the lease, so the holder goes on.\nKeep(one): got %v", err)
	case <-time.After(patience):
		t.Fatal("The holder does not go on.")
	}

	p.gate.Shut()
	<-doubt
	acquire(t, config(client(t, p.stores.Objects), "two"))
	p.gate.Open()
	select {
	case err := <-kept:
		if diff := cmp.Diff(leader.ErrLost, err, cmpopts.EquateErrors()); diff != "" {
			t.Errorf("Another server leads now.\nerror of Keep(one) (-want +got):\n%s", diff)
		}
	case <-time.After(patience):
		t.Fatal("The holder does not notice that it has lost the lease.")
	}
}
