// SPDX-License-Identifier: Apache-2.0

package sharing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/utils/clock"

	"github.com/terrarium-garden/terrarium/appliance/identity"
	"github.com/terrarium-garden/terrarium/appliance/upgrade"
	"github.com/terrarium-garden/terrarium/storage/generations"
	"github.com/terrarium-garden/terrarium/storage/kine"
)

const selfAddress, otherAddress = "127.0.0.1:1", "127.0.0.1:2"

// newSharingServer is a server that leads, with what it shares with others.
func newSharingServer(t *testing.T) *member {
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
	client, err := stores.Connection()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "data")
	if err := errors.Join(os.Mkdir(dir, 0o700), identity.SetDatastorePlace(dir, "etcd")); err != nil {
		t.Fatal(err)
	}
	keys, err := identity.Ensure(dir, identity.Names{Addresses: []netip.Addr{netip.MustParseAddr("127.0.0.1")}}, clock.RealClock{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = keys.Close() })
	l := &Leadership{
		Clock: clock.RealClock{}, Log: logr.Discard(), Program: upgrade.Program{Version: "v0.2.0"}, Keys: keys, Local: "127.0.0.1",
		Holders: &Holders{}, TakenUp: func() {},
	}
	shared := newMember(l, generations.Datastore{Client: client}, generations.Server{Address: selfAddress, ID: "self"})
	if err := shared.lead(t.Context()); err != nil {
		t.Fatal(err)
	}

	return shared
}

// awaitNote waits for a note of the server itself.
func awaitNote(t *testing.T, s *member, like func(generations.Server) bool) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	for answer := range s.store.Client.Watch(ctx, "/terrarium/servers/"+selfAddress, clientv3.WithRev(1)) {
		for _, e := range answer.Events {
			var is generations.Server
			if err := json.Unmarshal(e.Kv.Value, &is); err == nil && like(is) {
				return
			}
		}
	}
	t.Error("The server tells others about itself: it has not.")
}

// TestWaitingChangeHoldsNothingUp has a change of keys that waits for another server: this one goes on to tell others that it runs, and
// the change ends when this server no longer leads (OPER-ROT-1).
func TestWaitingChangeHoldsNothingUp(t *testing.T) {
	t.Parallel()
	s := newSharingServer(t)
	if err := s.store.Note(t.Context(), generations.Server{Address: otherAddress, ID: "other"}); err != nil {
		t.Fatal(err)
	}
	leads, lost := context.WithCancel(t.Context())
	defer lost()
	waits := make(chan struct{})
	publish := s.publish(leads)
	s.keys.Sharing.Share(func(from identity.Generation, to identity.Sealed) error {
		close(waits)

		return publish(from, to)
	})
	began, ended := time.Now(), make(chan error, 1)
	go func() { ended <- s.keys.Changes.StartTokenKeyRotation(time.Now()) }()
	<-waits
	told, stop := context.WithCancel(t.Context())
	var telling sync.WaitGroup
	telling.Go(func() { s.keep(told) })
	awaitNote(t, s, func(is generations.Server) bool { return is.Generation == 1 })
	if s.holders.seen.Load() == nil {
		awaitNote(t, s, func(generations.Server) bool { return s.holders.seen.Load() != nil })
	}
	lost()
	if err := <-ended; !errors.Is(err, ErrStopping) {
		t.Errorf("A change that waits ends with the lead.\nStartTokenKeyRotation(): got %v, want %v", err, ErrStopping)
	}
	stop()
	telling.Wait()
	if took := time.Since(began); took >= generations.Patience {
		t.Errorf("Nothing waits until the other server counts as off: got %s", took)
	}
}

// TestOlderDatastoreKeepsStandbyUp has servers that stand by on a datastore that was restored from a backup, or is damaged: they say what
// can be done, and go on.
func TestOlderDatastoreKeepsStandbyUp(t *testing.T) {
	t.Parallel()
	for name, replace := range map[string]func(*member) error{
		"older": func(s *member) error {
			was, err := s.store.Read(t.Context())
			if err != nil {
				return err
			}
			s.keys.Sharing.Share(func(identity.Generation, identity.Sealed) error { return nil })
			if err := s.keys.Changes.StartTokenKeyRotation(time.Now()); err != nil {
				return err
			}
			if is, err := s.keys.Sharing.Held(); err != nil || is.Number <= was.Generation {
				return fmt.Errorf("generation %d, %w", is.Number, err)
			}

			return nil
		},
		"lost": func(s *member) error {
			is, err := s.store.Client.Get(t.Context(), "/terrarium/keys")
			if err != nil {
				return err
			}
			_, err = s.store.Client.Txn(t.Context()).If(clientv3.Compare(clientv3.ModRevision("/terrarium/keys"), "=", is.Kvs[0].ModRevision)).
				Then(clientv3.OpDelete("/terrarium/keys")).Else(clientv3.OpGet("/terrarium/keys")).Commit()

			return err
		},
		"damaged": func(s *member) error {
			is, err := s.store.Client.Get(t.Context(), "/terrarium/keys")
			if err != nil {
				return err
			}
			_, err = s.store.Client.Txn(t.Context()).If(clientv3.Compare(clientv3.ModRevision("/terrarium/keys"), "=", is.Kvs[0].ModRevision)).
				Then(clientv3.OpPut("/terrarium/keys", "{}")).Else(clientv3.OpGet("/terrarium/keys")).Commit()

			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSharingServer(t)
			if err := replace(s); err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- s.follow(ctx) }()
			awaitNote(t, s, func(is generations.Server) bool { return strings.Contains(is.Failure, "terrarium bundle publish") })
			stop()
			if err := <-ended; err != nil {
				t.Errorf("A server that stands by goes on.\nfollow(): got %v", err)
			}
			if err := s.lead(t.Context()); err == nil || hopeless(err) {
				t.Errorf("It does not lead, and others may.\nlead(): got %v", err)
			}
		})
	}
}

// TestOlderVersionDoesNotLead has a server of an earlier version on a datastore that a newer one has led: it does not lead nor take up keys,
// tells others why, and goes on to forward connections. One of the same minor version leads.
func TestOlderVersionDoesNotLead(t *testing.T) {
	t.Parallel()
	s := newSharingServer(t)
	s.program.Version = "v0.1.4"
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.follow(ctx) }()
	awaitNote(t, s, func(is generations.Server) bool { return strings.Contains(is.Failure, "upgrade this server") })
	stop()
	if err := <-ended; err != nil {
		t.Errorf("A server that stands by goes on.\nfollow(): got %v", err)
	}
	if err := s.lead(t.Context()); !errors.Is(err, upgrade.ErrNewerDatastore) || hopeless(err) {
		t.Errorf("It does not lead, and others may.\nlead(): got %v, want %v", err, upgrade.ErrNewerDatastore)
	}
	s.program.Version = "v0.2.7"
	if err := s.lead(t.Context()); err != nil {
		t.Errorf("A patch version leads.\nlead(): got %v", err)
	}
	s.program.Version = "v0.3.0"
	if err := s.lead(t.Context()); err != nil {
		t.Errorf("The next version leads.\nlead(): got %v", err)
	}
	s.program.Version = "v0.2.7"
	if err := s.lead(t.Context()); !errors.Is(err, upgrade.ErrNewerDatastore) {
		t.Errorf("From then on the version before does not.\nlead(): got %v, want %v", err, upgrade.ErrNewerDatastore)
	}
}
