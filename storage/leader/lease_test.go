// SPDX-License-Identifier: Apache-2.0

package leader_test

import (
	"context"
	"errors"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	clientv3 "go.etcd.io/etcd/client/v3"
	clocktesting "k8s.io/utils/clock/testing"

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

// forgetful loses the answers of writes as long as it is told to.
type forgetful struct {
	clientv3.KV

	lose atomic.Bool
	lost chan struct{}
}

// wait waits until an answer was lost.
func (f *forgetful) wait(t *testing.T) {
	t.Helper()
	select {
	case <-f.lost:
	case <-time.After(patience):
		t.Fatal("nothing is written")
	}
}

// Txn implements clientv3.KV.
func (f *forgetful) Txn(ctx context.Context) clientv3.Txn { return forgetfulTxn{f.KV.Txn(ctx), f} }

type forgetfulTxn struct {
	clientv3.Txn

	kv *forgetful
}

// If implements clientv3.Txn.
func (t forgetfulTxn) If(c ...clientv3.Cmp) clientv3.Txn { return forgetfulTxn{t.Txn.If(c...), t.kv} }

// Then implements clientv3.Txn.
func (t forgetfulTxn) Then(o ...clientv3.Op) clientv3.Txn {
	return forgetfulTxn{t.Txn.Then(o...), t.kv}
}

// Else implements clientv3.Txn.
func (t forgetfulTxn) Else(o ...clientv3.Op) clientv3.Txn {
	return forgetfulTxn{t.Txn.Else(o...), t.kv}
}

// Commit implements clientv3.Txn.
func (t forgetfulTxn) Commit() (*clientv3.TxnResponse, error) {
	answer, err := t.Txn.Commit()
	if err == nil && answer.Succeeded && t.kv.lose.Load() {
		select {
		case t.kv.lost <- struct{}{}:
		default:
		}

		return nil, errors.New("the answer was lost")
	}

	return answer, err
}

func forget(t *testing.T, p *place) (*clientv3.Client, *forgetful) {
	t.Helper()
	c := client(t, p.stores.Objects)
	kv := &forgetful{KV: c.KV, lost: make(chan struct{}, 1)}
	c.KV = kv

	return c, kv
}

func revisionOf(t *testing.T, c leader.Config) int64 {
	t.Helper()
	found, err := c.Client.Get(t.Context(), c.Key)
	if err != nil || len(found.Kvs) != 1 {
		t.Fatalf("read lease: %v, %v", found, err)
	}

	return found.Kvs[0].ModRevision
}

// TestLostAnswers: others count from the write whose answer was lost, so a holder that finds it does not count on it, but writes again.
// Nor does it have to wait for its own lease, or leave it behind when it gives it back.
func TestLostAnswers(t *testing.T) {
	t.Parallel()

	p := open(t)
	c, kv := forget(t, p)
	first := config(c, "one")
	clk := clocktesting.NewFakeClock(time.Now())
	first.Clock, first.Length, first.Patience = clk, time.Hour, time.Hour
	first.Seen = func(h leader.Holder) { t.Errorf("Seen(%v): it is its own lease", h) }
	kv.lose.Store(true)
	acquired := make(chan *leader.Lease, 1)
	go func() {
		defer close(acquired) // Nothing comes if it fails.
		acquired <- acquire(t, first)
	}()
	kv.wait(t)
	kv.lose.Store(false)
	var lease *leader.Lease
	pass(t, clk, first.Interval, "the lease is acquired", func() bool {
		select {
		case lease = <-acquired:
			return true
		default:
			return false
		}
	})
	if lease == nil {
		return
	}

	kv.lose.Store(true)
	ctx, stop := context.WithCancel(t.Context())
	kept := make(chan error, 1)
	go func() { kept <- lease.Keep(ctx, func() { t.Error("The lease was in doubt.") }, func() {}) }()
	kv.wait(t)
	before := revisionOf(t, first)
	kv.lose.Store(false)
	pass(t, clk, first.Interval, "the lease is written again", func() bool { return revisionOf(t, first) > before })

	kv.lose.Store(true)
	pass(t, clk, first.Interval, "an answer is lost", func() bool { return len(kv.lost) > 0 })
	stop()
	if err := <-kept; err != nil {
		t.Errorf("Keep(one): %v", err)
	}
	kv.lose.Store(false)
	if err := lease.Release(t.Context()); err != nil {
		t.Errorf("Release(one): %v", err)
	}
	second := config(client(t, p.stores.Objects), "two")
	second.Length = time.Hour
	acquire(t, second)
}

// suspended is a clock of a machine that was suspended: it is later, and the timers did not run.
type suspended struct {
	*clocktesting.FakeClock

	by atomic.Int64
}

// Now implements clock.PassiveClock.
func (s *suspended) Now() time.Time {
	return s.FakeClock.Now().Round(0).Add(time.Duration(s.by.Load()))
}

// TestSuspended suspends the machine of the holder, whose lease others have taken meanwhile, or not. It doubts before its next write is due.
func TestSuspended(t *testing.T) {
	t.Parallel()

	for name, taken := range map[string]bool{"taken": true, "free": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := open(t)
			first := config(client(t, p.stores.Objects), "one")
			first.Interval, first.Patience = time.Hour, 3*time.Hour
			clk := &suspended{FakeClock: clocktesting.NewFakeClock(time.Now())}
			first.Clock = clk
			lease := acquire(t, first)
			doubt, sure, kept := make(chan struct{}, 1), make(chan struct{}, 1), make(chan error, 1)
			go func() {
				kept <- lease.Keep(t.Context(), func() { doubt <- struct{}{} }, func() { sure <- struct{}{} })
			}()
			until(t, "the holder waits", clk.HasWaiters)
			if taken {
				acquire(t, config(client(t, p.stores.Objects), "two"))
			}
			clk.by.Store(int64(3 * time.Hour))
			clk.Step(time.Second)
			within := time.NewTimer(patience)
			defer within.Stop()
			select {
			case <-doubt:
			case <-within.C:
				t.Fatal("The holder counts on a lease of before it was suspended.")
			}
			select {
			case err := <-kept:
				if diff := cmp.Diff(leader.ErrLost, err, cmpopts.EquateErrors()); diff != "" || !taken {
					t.Errorf("error of Keep(one) (-want +got):\n%s", diff)
				}
			case <-sure:
				if taken {
					t.Error("The holder goes on with a lease that another server has.")
				}
			case <-within.C:
				t.Fatal("The holder remains in doubt.")
			}
		})
	}
}

// stuck has a write wait for as long as its context lasts, and tells how that has ended.
type stuck struct {
	clientv3.KV

	on    atomic.Bool
	began chan struct{}
	ended chan error
}

// Txn implements clientv3.KV.
func (s *stuck) Txn(ctx context.Context) clientv3.Txn {
	if s.on.CompareAndSwap(true, false) {
		s.began <- struct{}{}
		<-ctx.Done()
		s.ended <- ctx.Err()
	}

	return s.KV.Txn(ctx)
}

// TestSuspendedDuringWrite suspends the machine of the holder while its write is on the way. It does not wait for the answer to doubt.
func TestSuspendedDuringWrite(t *testing.T) {
	t.Parallel()

	p := open(t)
	c := client(t, p.stores.Objects)
	kv := &stuck{KV: c.KV, began: make(chan struct{}, 1), ended: make(chan error, 1)}
	c.KV = kv
	first := config(c, "one")
	first.Interval, first.Patience = time.Hour, 3*time.Hour
	clk := &suspended{FakeClock: clocktesting.NewFakeClock(time.Now())}
	first.Clock = clk
	lease := acquire(t, first)
	kv.on.Store(true)
	ctx, stop := context.WithCancel(t.Context())
	doubts, again, kept := make(chan struct{}, 1), make(chan struct{}, 1), make(chan error, 1)
	go func() { kept <- lease.Keep(ctx, func() { close(doubts) }, func() { close(again) }) }()
	<-kv.began
	clk.by.Store(int64(3 * time.Hour))
	is := func(done <-chan struct{}) func() bool {
		return func() bool {
			select {
			case <-done:
				return true
			default:
				return false
			}
		}
	}
	pass(t, clk.FakeClock, time.Second, "the holder doubts", is(doubts))
	if diff := cmp.Diff(context.Canceled, <-kv.ended, cmpopts.EquateErrors()); diff != "" {
		t.Errorf("The write goes on until its own limit (-want +got):\n%s", diff)
	}
	until(t, "the holder goes on with a lease that nobody has taken", is(again))
	stop()
	if err := <-kept; err != nil {
		t.Errorf("Keep(one): %v", err)
	}
}

// late calls a function after each write, before the writer has its answer.
type late struct {
	clientv3.KV

	written func()
}

// Txn implements clientv3.KV.
func (l *late) Txn(ctx context.Context) clientv3.Txn { return lateTxn{l.KV.Txn(ctx), l} }

type lateTxn struct {
	clientv3.Txn

	of *late
}

// If implements clientv3.Txn.
func (t lateTxn) If(conditions ...clientv3.Cmp) clientv3.Txn {
	return lateTxn{t.Txn.If(conditions...), t.of}
}

// Then implements clientv3.Txn.
func (t lateTxn) Then(operations ...clientv3.Op) clientv3.Txn {
	return lateTxn{t.Txn.Then(operations...), t.of}
}

// Else implements clientv3.Txn.
func (t lateTxn) Else(operations ...clientv3.Op) clientv3.Txn {
	return lateTxn{t.Txn.Else(operations...), t.of}
}

// Commit implements clientv3.Txn.
func (t lateTxn) Commit() (*clientv3.TxnResponse, error) {
	answer, err := t.Txn.Commit()
	t.of.written()

	return answer, err
}

// TestSuspendedInDoubt suspends the machine of the holder twice: while it counts on the lease, and after the write with which it wants to
// know whether it still has it. That write says nothing any more when its answer is read.
func TestSuspendedInDoubt(t *testing.T) {
	t.Parallel()

	p := open(t)
	c := client(t, p.stores.Objects)
	clk := &suspended{FakeClock: clocktesting.NewFakeClock(time.Now())}
	var doubting atomic.Bool
	var writes atomic.Int64
	c.KV = &late{KV: c.KV, written: func() {
		if doubting.Load() && writes.Add(1) == 1 {
			clk.by.Add(int64(3 * time.Hour))
		}
	}}
	first := config(c, "one")
	first.Interval, first.Patience, first.Clock = time.Hour, 3*time.Hour, clk
	lease := acquire(t, first)
	ctx, stop := context.WithCancel(t.Context())
	var sure atomic.Int64
	kept := make(chan error, 1)
	go func() {
		kept <- lease.Keep(ctx, func() { doubting.Store(true) }, func() { sure.CompareAndSwap(0, writes.Load()) })
	}()
	clk.by.Add(int64(3 * time.Hour))
	pass(t, clk.FakeClock, time.Minute, "the holder goes on", func() bool { return sure.Load() != 0 })
	if got := sure.Load(); got < 2 {
		t.Errorf("The holder counts on the lease after write %d, which is as old as the suspension", got)
	}
	stop()
	if err := <-kept; err != nil {
		t.Errorf("Keep(one): %v", err)
	}
}

// pass lets time pass for those who wait for it, until something holds.
func pass(t *testing.T, clk *clocktesting.FakeClock, d time.Duration, what string, holds func() bool) {
	t.Helper()
	until(t, what, func() bool {
		if clk.HasWaiters() {
			clk.Step(d)
		}

		return holds()
	})
}

// until waits for a condition.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-limit.C:
			t.Fatalf("waited too long until %s", what)
		}
	}
}
