// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"golang.org/x/sync/errgroup"

	"github.com/terrarium-garden/terrarium/storage/kine"
)

const (
	// prefix and end are the range of all objects.
	prefix = "/registry/"
	end    = "/registry0"
	// marker is in a target until the copy is complete.
	marker = "/terrarium/migration"
	// page is how many records are read at once, and writers how many are written at the same time.
	page    = 500
	writers = 16
	// requestLimit is how long a request may take.
	requestLimit = time.Minute
)

// external is an external datastore.
type external struct {
	stores *kine.Stores
	client *clientv3.Client
}

func connect(ctx context.Context, c kine.Config) (*external, error) {
	stores, err := kine.Start(ctx, c)
	if err != nil {
		return nil, err
	}
	e := &external{stores: stores}
	if err := stores.Ping(ctx); err != nil {
		return nil, errors.Join(err, e.close())
	}
	if e.client, err = stores.Objects.Client(); err != nil {
		return nil, errors.Join(err, e.close())
	}

	return e, nil
}

func openExternalSource(ctx context.Context, c kine.Config, mine string) (*external, error) {
	e, err := connect(ctx, c)
	if err != nil {
		return nil, err
	}
	owner, _, err := e.stores.Owner(ctx)
	if err == nil && owner != mine {
		err = ErrForeign
	}
	if err != nil {
		return nil, errors.Join(err, e.close())
	}

	return e, nil
}

func (e *external) close() error {
	var err error
	if e.client != nil {
		err = e.client.Close()
	}

	return errors.Join(err, e.stores.Close())
}

// revision asks for objects: an answer without any could be older.
func (e *external) revision(ctx context.Context) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	found, err := e.client.Get(ctx, prefix, clientv3.WithRange(end), clientv3.WithLimit(1), clientv3.WithKeysOnly())
	if err != nil {
		return 0, err
	}

	return found.Header.Revision, nil
}

// read reads all pages at the same revision.
func (e *external) read(ctx context.Context, each func(record) error) error {
	leases := map[clientv3.LeaseID]leaseTime{}
	var at int64
	for from := prefix; ; {
		found, err := e.page(ctx, from, at)
		if err != nil {
			return fmt.Errorf("read objects from %q: %w", from, err)
		}
		if at == 0 {
			at = found.Header.Revision
		}
		for _, kv := range found.Kvs {
			r := record{key: string(kv.Key), value: kv.Value}
			if kv.Lease != 0 {
				of := e.lease(ctx, leases, clientv3.LeaseID(kv.Lease))
				r.lease, r.left = of.granted, of.left
			}
			if err := each(r); err != nil {
				return err
			}
			from = r.key + "\x00"
		}
		if !found.More {
			return nil
		}
	}
}

func (e *external) page(ctx context.Context, from string, at int64) (*clientv3.GetResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	o := []clientv3.OpOption{clientv3.WithRange(end), clientv3.WithLimit(page)}
	if at > 0 {
		o = append(o, clientv3.WithRev(at))
	}

	return e.client.Get(ctx, from, o...)
}

// leaseTime is how long a lease lasts.
type leaseTime struct{ granted, left int64 }

// lease asks an etcd how much is left. The number of a lease of Kine is what was granted.
func (e *external) lease(ctx context.Context, known map[clientv3.LeaseID]leaseTime, id clientv3.LeaseID) leaseTime {
	if e.stores.Compacts {
		return leaseTime{granted: int64(id), left: int64(id)}
	}
	if found, ok := known[id]; ok {
		return found
	}
	is := leaseTime{granted: 1, left: 1}
	if found, err := e.client.TimeToLive(ctx, id); err == nil && found.TTL > 0 {
		is = leaseTime{granted: found.GrantedTTL, left: found.TTL}
	}
	known[id] = is

	return is
}

// externalTarget writes to an external datastore, to several keys at the same time.
type externalTarget struct {
	*external

	m       Migration
	group   *errgroup.Group
	written context.Context //nolint:containedctx // It is that of the group.
	leases  map[int64]clientv3.LeaseID
}

func openExternalTarget(ctx context.Context, m Migration) (*externalTarget, error) {
	if err := canRaise(m.To.Config); err != nil {
		return nil, err
	}
	e, err := connect(ctx, m.To.Config)
	if err != nil {
		return nil, err
	}
	t := &externalTarget{external: e, m: m, leases: map[int64]clientv3.LeaseID{}}
	if err := t.checkEmpty(ctx); err != nil {
		return nil, errors.Join(err, e.close())
	}

	return t, nil
}

// checkEmpty refuses a datastore with objects, of whomever. What an interrupted run has left is removed if that is wanted.
func (t *externalTarget) checkEmpty(ctx context.Context) error {
	owner, empty, err := t.stores.Owner(ctx)
	if err != nil {
		return err
	}
	found, err := t.client.Get(ctx, marker)
	if err != nil {
		return fmt.Errorf("look for an interrupted copy: %w", err)
	}
	switch {
	case owner != "":
		return fmt.Errorf("%w: it belongs to a garden", ErrNotEmpty)
	case empty:
		return nil
	case len(found.Kvs) == 0:
		return fmt.Errorf("%w: it has objects that no migration has written", ErrNotEmpty)
	case !t.m.StartOver:
		return ErrInterrupted
	}
	t.m.Progress("Removing what an interrupted run has left.")

	return t.purge(ctx)
}

func (t *externalTarget) purge(ctx context.Context) error {
	for {
		found, err := t.client.Get(ctx, prefix, clientv3.WithRange(end), clientv3.WithLimit(page), clientv3.WithKeysOnly())
		if err != nil {
			return fmt.Errorf("look for what an interrupted run has left: %w", err)
		}
		found.Kvs = slices.DeleteFunc(found.Kvs, func(kv *mvccpb.KeyValue) bool { return !isObject(string(kv.Key)) })
		if len(found.Kvs) == 0 {
			return nil
		}
		group, ctx := errgroup.WithContext(ctx)
		group.SetLimit(writers)
		for _, kv := range found.Kvs {
			group.Go(func() error { return t.remove(ctx, string(kv.Key), kv.ModRevision) })
		}
		if err := group.Wait(); err != nil {
			return fmt.Errorf("remove what an interrupted run has left: %w", err)
		}
	}
}

// remove deletes in the way of the API server; Kine knows no other.
func (t *externalTarget) remove(ctx context.Context, key string, revision int64) error {
	_, err := t.client.Txn(ctx).If(clientv3.Compare(clientv3.ModRevision(key), "=", revision)).
		Then(clientv3.OpDelete(key)).Else(clientv3.OpGet(key)).Commit()

	return err
}

func (t *externalTarget) begin(ctx context.Context, above int64) error {
	if err := t.raise(ctx, above); err != nil {
		return err
	}
	t.group, t.written = errgroup.WithContext(ctx)
	t.group.SetLimit(writers)

	return nil
}

func (t *externalTarget) write(ctx context.Context, r record) error {
	var o []clientv3.OpOption
	if r.lease > 0 {
		id, err := t.grant(ctx, r.left)
		if err != nil {
			return err
		}
		o = append(o, clientv3.WithLease(id))
	}
	if err := t.written.Err(); err != nil {
		return t.group.Wait()
	}
	t.group.Go(func() error { //nolint:contextcheck // It is the context of the group, which ends when a write fails.
		ctx, cancel := context.WithTimeout(t.written, requestLimit)
		defer cancel()
		answer, err := t.client.Txn(ctx).If(clientv3.Compare(clientv3.ModRevision(r.key), "=", 0)).
			Then(clientv3.OpPut(r.key, string(r.value), o...)).Commit()
		if err != nil {
			return fmt.Errorf("write %q: %w", r.key, err)
		}
		if !answer.Succeeded {
			return fmt.Errorf("write %q: %w: somebody else writes to it", r.key, ErrNotEmpty)
		}

		return nil
	})

	return nil
}

// leaseStep is how exactly the end of a record is kept, in seconds. Records that end at about the same time share a lease.
const leaseStep = 60

func (t *externalTarget) grant(ctx context.Context, left int64) (clientv3.LeaseID, error) {
	left = (left + leaseStep - 1) / leaseStep * leaseStep
	if id, ok := t.leases[left]; ok {
		return id, nil
	}
	granted, err := t.client.Grant(ctx, left)
	if err != nil {
		return 0, fmt.Errorf("grant lease: %w", err)
	}
	t.leases[left] = granted.ID

	return granted.ID, nil
}

func (t *externalTarget) finish(ctx context.Context, check func(source) error) (int64, error) {
	if err := t.group.Wait(); err != nil {
		return 0, err
	}
	if err := check(t.external); err != nil {
		return 0, err
	}
	found, err := t.client.Get(ctx, marker)
	if err != nil || len(found.Kvs) == 0 {
		return 0, errors.Join(errors.New("the mark of the migration is gone"), err)
	}
	// This makes the copy valid. What is left to do after it is only to tidy up.
	if err := t.stores.Own(ctx, t.m.Owner); err != nil {
		return 0, err
	}
	if err := t.remove(ctx, marker, found.Kvs[0].ModRevision); err != nil {
		return 0, fmt.Errorf("remove the mark of the migration: %w", err)
	}
	newest, err := t.revision(ctx)

	return newest, errors.Join(err, t.close())
}

func (t *externalTarget) abandon() error {
	if t.group != nil {
		t.group.Wait() //nolint:errcheck,gosec // It has failed already.
	}

	return t.close()
}
