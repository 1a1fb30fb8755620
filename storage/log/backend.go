// SPDX-License-Identifier: Apache-2.0

package log

import (
	"context"
	"errors"
	"fmt"

	"github.com/k3s-io/kine/pkg/server"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Backend is a log as Kine's server of the etcd API sees it. Watches do not come this way: see package etcdwatch.
type Backend struct{ log *Log }

var _ server.Backend = Backend{}

// NewBackend returns the backend of a log.
func NewBackend(l *Log) Backend { return Backend{log: l} }

// Start implements server.Backend. It creates the key that the API server reads to find out whether the store answers.
func (b Backend) Start(ctx context.Context) error {
	if _, err := b.Create(ctx, server.HealthKey, []byte(server.HealthVal), 0); err != nil && !errors.Is(err, server.ErrKeyExists) {
		return fmt.Errorf("create health key: %w", err)
	}

	return nil
}

// Get implements server.Backend. For a past state it returns the revision of that state: Kine asks for the one in which a
// creation was refused, and gives the answer the revision that comes back.
func (b Backend) Get(ctx context.Context, key string, revision int64, keysOnly bool) (int64, *server.KeyValue, error) {
	list, err := b.log.List(ctx, Read{Range: Range{Key: key}, Revision: revision, KeysOnly: keysOnly})
	if err == nil && revision > 0 {
		list.Revision = revision
	}
	if err != nil || len(list.Records) == 0 {
		return list.Revision, nil, translate(err)
	}

	return list.Revision, keyValue(list.Records[0]), nil
}

// Create implements server.Backend.
func (b Backend) Create(ctx context.Context, key string, value []byte, lease int64) (int64, error) {
	result, err := b.log.Write(ctx, Change{Key: key, Value: value, Lease: lease})
	if err == nil && !result.Applied {
		return result.Revision, server.ErrKeyExists
	}

	return result.Revision, translate(err)
}

// Update implements server.Backend. What was not updated comes with what is there instead.
//
//nolint:revive // Kine's interface has six arguments and four results.
func (b Backend) Update(
	ctx context.Context, key string, value []byte, revision, lease int64,
) (int64, *server.KeyValue, bool, error) {
	result, err := b.log.Write(ctx, Change{Key: key, Value: value, Revision: revision, Lease: lease})
	if err != nil {
		return 0, nil, false, translate(err)
	}
	if result.Applied {
		return result.Revision, keyValue(result.Record), true, nil
	}
	now, found, err := b.Get(ctx, key, 0, false)

	return now, found, false, err
}

// Delete implements server.Backend. Revision 0 deletes whatever there is; deleting nothing succeeds then.
//
//nolint:revive // Kine's interface has four results.
func (b Backend) Delete(ctx context.Context, key string, revision int64) (int64, *server.KeyValue, bool, error) {
	change := Change{Key: key, Delete: true, Revision: revision}
	if revision == 0 {
		change.Revision = Any
	}
	result, err := b.log.Write(ctx, change)
	if err != nil {
		return 0, nil, false, translate(err)
	}
	if result.Applied {
		return result.Revision, before(result.Record), true, nil
	}
	if revision == 0 {
		return result.Revision, nil, true, nil
	}
	now, found, err := b.Get(ctx, key, 0, false)

	return now, found, false, err
}

// List implements server.Backend.
//
//nolint:revive // Kine's interface has six arguments.
func (b Backend) List(
	ctx context.Context, key, end string, limit, revision int64, keysOnly bool,
) (int64, []*server.KeyValue, error) {
	list, err := b.log.List(ctx, Read{
		Range: Range{Key: key, End: end}, Revision: revision, Limit: limit, KeysOnly: keysOnly,
	})
	found := make([]*server.KeyValue, 0, len(list.Records))
	for _, r := range list.Records {
		found = append(found, keyValue(r))
	}

	return list.Revision, found, translate(err)
}

// Count implements server.Backend. For a past state it returns the revision of that state: Kine counts what is beyond the
// first page of a list in a second step, and gives the page the revision that comes back.
func (b Backend) Count(ctx context.Context, key, end string, revision int64) (at, count int64, err error) {
	at, count, err = b.log.Count(ctx, Range{Key: key, End: end}, revision)
	if err == nil && revision > 0 {
		at = revision
	}

	return at, count, translate(err)
}

// Watch implements server.Backend. Nothing calls it: the log's own server of watches is registered in place of Kine's.
func (Backend) Watch(context.Context, string, string, int64) server.WatchResult {
	refused := make(chan error, 1)
	refused <- status.Error(codes.Unimplemented, "watches are served elsewhere")
	none := make(chan []*server.Event)
	close(none)

	return server.WatchResult{Events: none, Errorc: refused}
}

// DbSize implements server.Backend.
func (b Backend) DbSize(ctx context.Context) (int64, error) { return b.log.Size(ctx) }

// CurrentRevision implements server.Backend.
func (b Backend) CurrentRevision(context.Context) (int64, error) { return b.log.Revision(), nil }

// Compact implements server.Backend. The log compacts itself by its configuration, so a request changes nothing.
func (b Backend) Compact(context.Context, int64) (int64, error) { return b.log.Revision(), nil }

// WaitForSyncTo implements server.Backend. A published revision has reached every watch.
func (Backend) WaitForSyncTo(int64) {}

func keyValue(r *Record) *server.KeyValue {
	return &server.KeyValue{
		Key: r.Key, Value: r.Value, CreateRevision: r.Created, ModRevision: r.Revision, Lease: r.Lease,
	}
}

// before is the state that a record has replaced.
func before(r *Record) *server.KeyValue {
	return &server.KeyValue{
		Key: r.Key, Value: r.PreviousValue, CreateRevision: r.PreviousCreated, ModRevision: r.Previous, Lease: r.PreviousLease,
	}
}

// translate gives errors the form in which clients of etcd know them.
func translate(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrCompacted):
		return server.ErrCompacted
	case errors.Is(err, ErrFuture):
		return server.ErrFutureRev
	case errors.Is(err, ErrNoSpace):
		return status.Error(codes.ResourceExhausted, err.Error())
	case errors.Is(err, ErrClosed):
		return status.Error(codes.Unavailable, err.Error())
	default:
		return err
	}
}
