// SPDX-License-Identifier: Apache-2.0

package generations

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

const (
	// recordKey has the sealed value. It is no object of the API.
	recordKey = "/terrarium/keys"
	// recordFormat is the version of the format.
	recordFormat = 1
	// requestLimit is how long a request may take.
	requestLimit = 3 * time.Second
)

var (
	// ErrChanged says that another server has replaced the value meanwhile.
	ErrChanged = errors.New("another server has changed it meanwhile")
	// ErrDamaged says that what is stored cannot be understood.
	ErrDamaged = errors.New("it is damaged, or a newer version has written it: if others are newer, upgrade this server; otherwise stop all servers, " +
		"remove the key " + recordKey + " from the datastore, run \"terrarium bundle publish\" on the server with the newest keys, and start it first")
)

// Record is a sealed value.
type Record struct {
	Format int `json:"format"`
	// Generation is the number of the value, and Digest identifies it.
	Generation int64  `json:"generation"`
	Digest     string `json:"digest"`
	// By is the server that may replace it: the one that leads.
	By string `json:"by"`
	// Published is when it was written, by the clock of who wrote it.
	Published time.Time `json:"published"`
	// Sealed is the value.
	Sealed []byte `json:"sealed"`

	revision int64
}

// Datastore is the datastore that the servers share.
type Datastore struct{ Client *clientv3.Client }

// Read returns the value; nil if there is none.
func (d Datastore) Read(ctx context.Context) (*Record, error) {
	ctx, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	found, err := d.Client.Get(ctx, recordKey)
	if err != nil {
		return nil, fmt.Errorf("read keys in the datastore: %w", err)
	}
	if len(found.Kvs) == 0 {
		return nil, nil //nolint:nilnil // There is none.
	}
	is := &Record{revision: found.Kvs[0].ModRevision}
	if err := json.Unmarshal(found.Kvs[0].Value, is); err != nil || is.Format != recordFormat || is.Generation < 1 {
		// The error of the decoder could quote what is stored.
		return nil, fmt.Errorf("read keys in the datastore: %w", ErrDamaged)
	}

	return is, nil
}

// Replace writes a value in place of the one that was read; nil stands for none. The error wraps ErrChanged if another one is there
// meanwhile. A write whose answer was lost is found by its digest and by who wrote it.
func (d Datastore) Replace(ctx context.Context, was *Record, next Record) error {
	var revision int64
	if was != nil {
		revision = was.revision
	}
	next.Format = recordFormat
	text, err := json.Marshal(next)
	if err != nil {
		return fmt.Errorf("encode keys: %w", err)
	}
	limited, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	err = d.swap(limited, recordKey, revision, text)
	if err == nil {
		return nil
	}
	is, readErr := d.Read(ctx)
	switch {
	case readErr == nil && is != nil && is.Generation == next.Generation && is.Digest == next.Digest && is.By == next.By:
		return nil
	case errors.Is(err, ErrChanged) && readErr != nil:
		return readErr
	default:
		return fmt.Errorf("write keys to the datastore: %w", err)
	}
}
