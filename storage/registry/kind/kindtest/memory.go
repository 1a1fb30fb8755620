// SPDX-License-Identifier: Apache-2.0

package kindtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/storage"
)

var errNoWatch = errors.New("objects in memory can not be watched")

// memory keeps objects of one kind, encoded as a database would keep them.
type memory struct {
	codec   runtime.Codec
	newFunc func() runtime.Object

	mutex   sync.Mutex
	version uint64
	objects map[string][]byte
}

// Versioner implements storage.Interface.
func (*memory) Versioner() storage.Versioner { return storage.APIObjectVersioner{} }

// Create implements storage.Interface.
func (m *memory) Create(_ context.Context, key string, obj, out runtime.Object, _ uint64) error {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if _, taken := m.objects[key]; taken {
		return storage.NewKeyExistsError(key, 0)
	}
	return m.write(key, obj, out)
}

// write keeps an object under the next version and reads it back into out.
func (m *memory) write(key string, obj, out runtime.Object) error {
	if err := m.Versioner().PrepareObjectForStorage(obj); err != nil {
		return err
	}
	m.version++
	if err := m.Versioner().UpdateObject(obj, m.version); err != nil {
		return err
	}
	var encoded bytes.Buffer
	if err := m.codec.Encode(obj, &encoded); err != nil {
		return fmt.Errorf("encode %q: %w", key, err)
	}
	m.objects[key] = encoded.Bytes()
	return m.read(key, out)
}

func (m *memory) read(key string, out runtime.Object) error {
	data, found := m.objects[key]
	if !found {
		return storage.NewKeyNotFoundError(key, 0)
	}
	if out == nil {
		return nil
	}
	if _, _, err := m.codec.Decode(data, nil, out); err != nil {
		return fmt.Errorf("decode %q: %w", key, err)
	}
	return nil
}

// Delete implements storage.Interface.
//
//nolint:revive // the parameters are those of the interface
func (m *memory) Delete(
	ctx context.Context, key string, out runtime.Object, preconditions *storage.Preconditions,
	validate storage.ValidateObjectFunc, _ runtime.Object, _ storage.DeleteOptions,
) error {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if err := m.read(key, out); err != nil {
		return err
	}
	if preconditions != nil {
		if err := preconditions.Check(key, out); err != nil {
			return err
		}
	}
	if err := validate(ctx, out); err != nil {
		return err
	}
	delete(m.objects, key)
	return nil
}

// Get implements storage.Interface.
func (m *memory) Get(_ context.Context, key string, o storage.GetOptions, out runtime.Object) error {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	err := m.read(key, out)
	if storage.IsNotFound(err) && o.IgnoreNotFound {
		return runtime.SetZeroValue(out)
	}
	return err
}

// GetList implements storage.Interface.
func (m *memory) GetList(_ context.Context, prefix string, o storage.ListOptions, list runtime.Object) error {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	items, err := meta.GetItemsPtr(list)
	if err != nil {
		return err
	}
	slice := reflect.ValueOf(items).Elem()
	for _, key := range slices.Sorted(maps.Keys(m.objects)) {
		if !strings.HasPrefix(key, strings.TrimSuffix(prefix, "/")+"/") && key != prefix {
			continue
		}
		object := m.newFunc()
		if err := m.read(key, object); err != nil {
			return err
		}
		matches, err := o.Predicate.Matches(object)
		if err != nil {
			return err
		}
		if matches {
			slice.Set(reflect.Append(slice, reflect.ValueOf(object).Elem()))
		}
	}
	return m.Versioner().UpdateList(list, m.version, "", nil)
}

// GuaranteedUpdate implements storage.Interface.
//
//nolint:revive // the parameters are those of the interface
func (m *memory) GuaranteedUpdate(
	_ context.Context, key string, out runtime.Object, ignoreNotFound bool, preconditions *storage.Preconditions,
	try storage.UpdateFunc, _ runtime.Object,
) error {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	current := m.newFunc()
	if err := m.read(key, current); err != nil && (!ignoreNotFound || !storage.IsNotFound(err)) {
		return err
	}
	if preconditions != nil {
		if err := preconditions.Check(key, current); err != nil {
			return err
		}
	}
	version, err := m.Versioner().ObjectResourceVersion(current)
	if err != nil {
		return err
	}
	updated, _, err := try(current, storage.ResponseMeta{ResourceVersion: version})
	if err != nil {
		return err
	}
	return m.write(key, updated, out)
}

// Watch implements storage.Interface.
func (*memory) Watch(context.Context, string, storage.ListOptions) (watch.Interface, error) {
	return nil, errNoWatch
}

// Stats implements storage.Interface.
func (m *memory) Stats(context.Context) (storage.Stats, error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return storage.Stats{ObjectCount: int64(len(m.objects))}, nil
}

// ReadinessCheck implements storage.Interface.
func (*memory) ReadinessCheck() error { return nil }

// RequestWatchProgress implements storage.Interface.
func (*memory) RequestWatchProgress(context.Context) error { return nil }

// GetCurrentResourceVersion implements storage.Interface.
func (m *memory) GetCurrentResourceVersion(context.Context) (uint64, error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return m.version, nil
}

// EnableResourceSizeEstimation implements storage.Interface.
func (*memory) EnableResourceSizeEstimation(storage.KeysFunc) error { return nil }

// CompactRevision implements storage.Interface.
func (*memory) CompactRevision() int64 { return 0 }
