// SPDX-License-Identifier: Apache-2.0

package generations

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"
)

const (
	// versionKey has the version of the program that has last led. It is no object of the API.
	versionKey = "/terrarium/version"
	// versionFormat is the version of the format.
	versionFormat = 1
)

// ErrVersionDamaged says that the version which is stored cannot be understood.
var ErrVersionDamaged = errors.New("it is damaged, or a newer version has written it: if other servers are newer, upgrade this one; otherwise stop all servers, " +
	"remove the key " + versionKey + " from the datastore, and start a server of the newest version first")

// Version says which program has last led the servers of a garden.
type Version struct {
	Format int `json:"format"`
	// Schema is the version of the shape of what is stored, at least 1.
	Schema int `json:"schema"`
	// Version is that of the program; it need not be a semantic version.
	Version string `json:"version"`

	revision int64
}

// ReadVersion returns the version; nil if there is none.
func (d Datastore) ReadVersion(ctx context.Context) (*Version, error) {
	ctx, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	found, err := d.Client.Get(ctx, versionKey)
	if err != nil {
		return nil, fmt.Errorf("read version in the datastore: %w", err)
	}
	if len(found.Kvs) == 0 {
		return nil, nil //nolint:nilnil // There is none.
	}
	is := &Version{revision: found.Kvs[0].ModRevision}
	if err := json.Unmarshal(found.Kvs[0].Value, is); err != nil || is.Format != versionFormat || is.Schema < 1 {
		return nil, fmt.Errorf("read version in the datastore: %w", ErrVersionDamaged)
	}

	return is, nil
}

// ReplaceVersion writes a version in place of the one that was read; nil stands for none. What is the same is not written. The error wraps
// ErrChanged if another one is there meanwhile.
func (d Datastore) ReplaceVersion(ctx context.Context, was *Version, schema int, version string) error {
	var revision int64
	if was != nil {
		if was.Schema == schema && was.Version == version {
			return nil
		}
		revision = was.revision
	}
	text, err := json.Marshal(Version{Format: versionFormat, Schema: schema, Version: version})
	if err != nil {
		return fmt.Errorf("encode version: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	if err := d.swap(ctx, versionKey, revision, text); err != nil {
		return fmt.Errorf("write version to the datastore: %w", err)
	}

	return nil
}

// swap writes a value in place of the one that has a revision; 0 stands for none. The error is ErrChanged if another one is there.
func (d Datastore) swap(ctx context.Context, key string, revision int64, text []byte) error {
	// Kine knows transactions of these two forms only, and a plain put may change nothing and say nothing about that.
	txn := d.Client.Txn(ctx).If(clientv3.Compare(clientv3.ModRevision(key), "=", revision)).Then(clientv3.OpPut(key, string(text)))
	if revision > 0 {
		txn = txn.Else(clientv3.OpGet(key))
	}
	answer, err := txn.Commit()
	if err == nil && !answer.Succeeded {
		err = ErrChanged
	}

	return err
}
