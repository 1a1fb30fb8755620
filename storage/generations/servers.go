// SPDX-License-Identifier: Apache-2.0

package generations

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/utils/clock"
)

// serversPrefix is that of the notes of servers.
const serversPrefix = "/terrarium/servers/"

const (
	// Interval is the time after which a server writes its note again.
	Interval = 5 * time.Second
	// Patience is how long a server counts as one that runs after its note has changed.
	Patience = 20 * time.Second
	// Memory is how long the note of a server that is off is kept.
	Memory = 30 * 24 * time.Hour
)

// Server is what a server notes about itself.
type Server struct {
	// Address is where other servers reach it. It tells servers from each other.
	Address string `json:"address"`
	// ID is different for each start of a server.
	ID string `json:"id"`
	// Generation is the number of the value that it holds; 0 for none.
	Generation int64 `json:"generation"`
	// Failure is why it cannot take up the newest one, or could not take the lead; empty if it can.
	Failure string `json:"failure,omitempty"`
	// Noted is when it wrote this, by its own clock.
	Noted time.Time `json:"noted"`

	// Runs reports whether the note has changed recently, as far as the reader can tell.
	Runs bool `json:"-"`

	revision int64
}

// Note writes the note of a server.
func (d Datastore) Note(ctx context.Context, s Server) error {
	text, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("encode note of the server: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	key := serversPrefix + s.Address
	found, err := d.Client.Get(ctx, key)
	if err != nil {
		return fmt.Errorf("write note of the server: %w", err)
	}
	var revision int64
	if len(found.Kvs) > 0 {
		revision = found.Kvs[0].ModRevision
	}
	if err := d.swap(ctx, key, revision, text); err != nil {
		return fmt.Errorf("write note of the server: %w", err)
	}

	return nil
}

// Forget removes the note of a server that ends.
func (d Datastore) Forget(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	found, err := d.Client.Get(ctx, serversPrefix+address)
	if err != nil || len(found.Kvs) == 0 {
		return err
	}
	key := serversPrefix + address
	_, err = d.Client.Txn(ctx).If(clientv3.Compare(clientv3.ModRevision(key), "=", found.Kvs[0].ModRevision)).
		Then(clientv3.OpDelete(key)).Else(clientv3.OpGet(key)).Commit()
	if err != nil {
		return fmt.Errorf("remove note of the server: %w", err)
	}

	return nil
}

func (d Datastore) servers(ctx context.Context) ([]Server, error) {
	ctx, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	found, err := d.Client.Get(ctx, serversPrefix, clientv3.WithPrefix())
	if err != nil {
		return nil, fmt.Errorf("read notes of servers: %w", err)
	}
	var all []Server
	for _, kv := range found.Kvs {
		s := Server{revision: kv.ModRevision}
		if err := json.Unmarshal(kv.Value, &s); err != nil || serversPrefix+s.Address != string(kv.Key) {
			continue // No server of this garden wrote that.
		}
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b Server) int { return cmp.Compare(a.Address, b.Address) })

	return all, nil
}

// Observer tells which servers run. A server that it sees for the first time counts as one that runs until its note has not changed for
// Patience.
type Observer struct {
	Datastore Datastore
	Clock     clock.PassiveClock

	mutex sync.Mutex
	seen  map[string]sight
}

// sight is a note as it was seen for the first time.
type sight struct {
	revision int64
	at       time.Time
}

// Servers returns all servers that have left a note.
func (o *Observer) Servers(ctx context.Context) ([]Server, error) {
	all, err := o.Datastore.servers(ctx)
	if err != nil {
		return nil, err
	}
	o.mutex.Lock()
	defer o.mutex.Unlock()
	now, seen := o.Clock.Now(), map[string]sight{}
	for i := range all {
		s := &all[i]
		last, known := o.seen[s.Address]
		if !known || last.revision != s.revision {
			last = sight{s.revision, now}
		}
		seen[s.Address] = last
		s.Runs = now.Sub(last.at) < Patience
	}
	o.seen = seen

	return all, nil
}

// Behind are the servers of those that run and hold an older generation.
func Behind(all []Server, generation int64) []Server {
	return slices.DeleteFunc(slices.Clone(all), func(s Server) bool { return !s.Runs || s.Generation >= generation })
}
