// SPDX-License-Identifier: Apache-2.0

package fresh

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/value"
	"k8s.io/apiserver/pkg/storage/value/encrypt/identity"

	"github.com/terrarium-garden/terrarium/storage/log"
)

// records are the records of one kind in a log.
type records struct {
	source *log.Log
	// kind knows the newest record of the kind's keys.
	kind *log.Tracked
	// prefix is the prefix of all keys in the log, resources what follows it in the keys of the kind.
	prefix, resources string

	codec       runtime.Codec
	transformer value.Transformer
	// newFunc returns an empty object, newList an empty list.
	newFunc, newList func() runtime.Object
}

func newRecords(source *log.Log, c *storagebackend.ConfigForResource, resources string, newFunc, newList func() runtime.Object) *records {
	r := &records{
		source: source, prefix: path.Join("/", c.Prefix), resources: resources,
		codec: c.Codec, transformer: c.Transformer, newFunc: newFunc, newList: newList,
	}
	if r.transformer == nil {
		r.transformer = identity.NewEncryptCheckTransformer()
	}
	r.kind = source.Track(children(r.key(resources)))

	return r
}

// key returns the key in the log for a key of the API server.
func (r *records) key(key string) string {
	return strings.TrimSuffix(r.prefix, "/") + "/" + strings.TrimPrefix(key, "/")
}

// head returns the version of the newest record of a key, 0 if the key does not exist.
func (r *records) head(key string) uint64 { return version(r.source.Head(r.key(key))) }

// newest returns a published version, and the version of the newest record of the kind, which may be later than the published one.
func (r *records) newest() (published, newest uint64) {
	published = version(r.source.Revision())

	return published, version(r.kind.Last())
}

// notOlder is a version in the form of the API for reads that accept a later one. It is never 0, which would mean any version.
func notOlder(than uint64) string { return strconv.FormatUint(max(than, 1), 10) }

// quietUntil returns the revision up to which no record of the kind follows those up to a revision, at least that one.
func (r *records) quietUntil(upTo int64) int64 {
	published := r.source.Revision()
	if r.kind.Last() > upTo {
		return upTo
	}

	return max(upTo, published)
}

// keys returns the keys of a list or watch.
func (r *records) keys(key string, recursive bool) (log.Range, error) {
	key, err := storage.PrepareKey(r.resources, key, recursive)
	if err != nil {
		return log.Range{}, fmt.Errorf("find keys: %w", err)
	}
	if recursive {
		return children(strings.TrimSuffix(r.key(key), "/")), nil
	}

	return log.Range{Key: r.key(key)}, nil
}

// children returns the keys below a key. "0" is the character after "/".
func children(key string) log.Range { return log.Range{Key: key + "/", End: key + "0"} }

// errUnknown says that the log no longer has the state that a record has replaced.
var errUnknown = errors.New("the replaced state is not known")

// objects decodes a record and the object that it has replaced; each is nil if it did not exist. Both get the version of the
// record, because the event of a deletion has the old object with the version of the deletion.
func (r *records) objects(ctx context.Context, of *log.Record) (now, before runtime.Object, err error) {
	if !of.Deleted {
		if now, err = r.object(ctx, of, of.Value); err != nil {
			return nil, nil, err
		}
	}
	if !of.Deleted && of.Created == of.Revision {
		return now, nil, nil
	}
	if of.PreviousValue == nil {
		return nil, nil, errUnknown
	}
	before, err = r.object(ctx, of, of.PreviousValue)

	return now, before, err
}

func (r *records) object(ctx context.Context, of *log.Record, stored []byte) (runtime.Object, error) {
	plain, _, err := r.transformer.TransformFromStorage(ctx, stored, value.DefaultContext(of.Key))
	if err != nil {
		return nil, fmt.Errorf("read stored object: %w", err)
	}
	object, err := runtime.Decode(r.codec, plain)
	if err != nil {
		return nil, fmt.Errorf("decode stored object: %w", err)
	}
	if err := (storage.APIObjectVersioner{}).UpdateObject(object, version(of.Revision)); err != nil {
		return nil, fmt.Errorf("set version of stored object: %w", err)
	}

	return object, nil
}

// version returns a revision in the form of the API. Revisions are never negative.
func version(revision int64) uint64 { return uint64(max(revision, 0)) }
