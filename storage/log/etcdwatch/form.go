// SPDX-License-Identifier: Apache-2.0

package etcdwatch

import (
	"slices"

	"github.com/k3s-io/kine/pkg/server"
	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"

	"github.com/terrarium-garden/terrarium/storage/log"
)

// The API server keeps a note about compaction under a key that Kine uses itself. Kine's server of keys and values
// keeps it under another one; the watches follow it there.
const (
	noteKey    = "compact_rev_key"
	noteStored = "compact_rev_key_apiserver"
)

// form is what a watch wants to see of a record.
type form struct {
	previous, noPut, noDelete bool
}

func newForm(request *etcdserverpb.WatchCreateRequest) form {
	return form{
		previous: request.PrevKv,
		noPut:    slices.Contains(request.Filters, etcdserverpb.WatchCreateRequest_NOPUT),
		noDelete: slices.Contains(request.Filters, etcdserverpb.WatchCreateRequest_NODELETE),
	}
}

// keys is the range that a request names.
func (form) keys(request *etcdserverpb.WatchCreateRequest) log.Range {
	if string(request.Key) == noteKey {
		return log.Range{Key: noteStored}
	}

	return log.Range{Key: string(request.Key), End: string(request.RangeEnd)}
}

// events are the records as the client knows them, without those that it does not want.
func (f form) events(records []*log.Record) []*mvccpb.Event {
	events := make([]*mvccpb.Event, 0, len(records))
	for _, r := range records {
		if r.Deleted && f.noDelete || !r.Deleted && f.noPut {
			continue
		}
		events = append(events, f.event(r))
	}

	return events
}

func (f form) event(r *log.Record) *mvccpb.Event {
	e := &mvccpb.Event{Type: mvccpb.PUT, Kv: &mvccpb.KeyValue{Key: []byte(r.Key), ModRevision: r.Revision}}
	if r.Deleted {
		e.Type = mvccpb.DELETE
	} else {
		e.Kv.CreateRevision, e.Kv.Value, e.Kv.Lease = r.Created, r.Value, r.Lease
		if r.Created == r.Revision {
			// Clients take a key of version 1 for a new one.
			e.Kv.Version = 1
		}
	}
	if r.Key == noteStored {
		e.Kv.Key = []byte(noteKey)
		e.Kv.Version, e.Kv.Value = server.DecodeVersion(r.Value)
	}
	// Without the value it would be taken for an empty one, and the event for nothing; without all of it clients list again.
	if f.previous && r.Previous > 0 && r.PreviousCreated > 0 && r.PreviousValue != nil {
		e.PrevKv = &mvccpb.KeyValue{
			Key: e.Kv.Key, Value: r.PreviousValue,
			CreateRevision: r.PreviousCreated, ModRevision: r.Previous, Lease: r.PreviousLease,
		}
	}

	return e
}
