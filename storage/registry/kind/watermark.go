// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"context"
	"hash/maphash"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/client-go/tools/cache"
)

// stripes is the number of groups that keys fall into. Of the keys of one group that were written since the start, only the
// last one is read from the cache.
const stripes = 1 << 14

// oldest is the version before the first write. Version 0 would mean that anything goes, also a list longer than asked
// for. Every store is beyond 1.
const oldest = 1

// watermark knows how recent a read has to be: as recent as the newest write that was answered. Where this server is the
// only one that writes to a store, an object in the watch cache that is that recent is what is stored, and the store need
// not be asked. The version of the cache as a whole proves less: the store may tell how far it has come before it has
// delivered the last change. A write whose answer was lost counts from when the cache sees it.
type watermark struct {
	seed maphash.Seed
	// keys are the newest versions of each group of keys, all that of any key.
	keys [stripes]atomic.Uint64
	all  atomic.Uint64
}

func newWatermark() *watermark {
	w := &watermark{seed: maphash.MakeSeed()}
	w.all.Store(oldest)

	return w
}

// holds tells whether what the cache answered for a key is as recent as it has to be. Nothing was written to a group
// without a version since the start, and the cache began with all that was written before.
func (w *watermark) holds(key string, object runtime.Object, err error) bool {
	version := w.group(key).Load()
	if err != nil {
		return version == 0 && apierrors.IsNotFound(err)
	}
	found, err := storage.APIObjectVersioner{}.ObjectResourceVersion(object)

	return err == nil && found >= version
}

// ofAll is the version that a list has to reach.
func (w *watermark) ofAll() uint64 { return w.all.Load() }

func (w *watermark) note(key string, version uint64) {
	raise(w.group(key), version)
	raise(&w.all, version)
}

func (w *watermark) group(key string) *atomic.Uint64 {
	return &w.keys[maphash.String(w.seed, key)%stripes]
}

func raise(mark *atomic.Uint64, version uint64) {
	for {
		before := mark.Load()
		if before >= version || mark.CompareAndSwap(before, version) {
			return
		}
	}
}

// marked lends stores what another getter lends, and notes what is written to them.
type marked struct {
	generic.RESTOptionsGetter

	written *watermark
}

// GetRESTOptions implements generic.RESTOptionsGetter.
func (m marked) GetRESTOptions(resource schema.GroupResource, example runtime.Object) (generic.RESTOptions, error) {
	o, err := m.RESTOptionsGetter.GetRESTOptions(resource, example)
	if err != nil {
		return o, err
	}
	decorate := o.Decorator
	o.Decorator = func(
		config *storagebackend.ConfigForResource, prefix string, key func(runtime.Object) (string, error),
		one, many func() runtime.Object, attributes storage.AttrFunc, triggers storage.IndexerFuncs, indexers *cache.Indexers,
	) (storage.Interface, factory.DestroyFunc, error) {
		inner, destroy, err := decorate(config, prefix, key, one, many, attributes, triggers, indexers)
		if err != nil {
			return nil, destroy, err
		}

		return noting{Interface: inner, written: m.written}, destroy, nil
	}

	return o, nil
}

// noting is a storage that notes the versions of what is written to it.
type noting struct {
	storage.Interface

	written *watermark
}

// Create implements storage.Interface.
func (n noting) Create(ctx context.Context, key string, obj, out runtime.Object, ttl uint64) error {
	err := n.Interface.Create(ctx, key, obj, out, ttl)
	n.note(key, out, err)

	return err
}

// Delete implements storage.Interface. What was deleted carries the version of its deletion.
//
//nolint:revive // the seven parameters are those of storage.Interface
func (n noting) Delete(
	ctx context.Context, key string, out runtime.Object, preconditions *storage.Preconditions,
	validate storage.ValidateObjectFunc, cached runtime.Object, o storage.DeleteOptions,
) error {
	err := n.Interface.Delete(ctx, key, out, preconditions, validate, cached, o)
	n.note(key, out, err)

	return err
}

// GuaranteedUpdate implements storage.Interface.
//
//nolint:revive // the seven parameters are those of storage.Interface
func (n noting) GuaranteedUpdate(
	ctx context.Context, key string, out runtime.Object, ignoreNotFound bool,
	preconditions *storage.Preconditions, update storage.UpdateFunc, cached runtime.Object,
) error {
	err := n.Interface.GuaranteedUpdate(ctx, key, out, ignoreNotFound, preconditions, update, cached)
	n.note(key, out, err)

	return err
}

func (n noting) note(key string, out runtime.Object, err error) {
	if err != nil || out == nil {
		return
	}
	if version, err := n.Versioner().ObjectResourceVersion(out); err == nil {
		n.written.note(key, version)
	}
}
