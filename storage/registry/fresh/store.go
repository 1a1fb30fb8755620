// SPDX-License-Identifier: Apache-2.0

package fresh

import (
	"context"
	"fmt"
	"reflect"
	"strconv"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/utils/clock"
)

// anyVersion is the version of a read that accepts any state.
const anyVersion = "0"

// store is a storage with a watch cache, in front of a log.
type store struct {
	storage.Interface

	records *records
	reads   *reads
	index   *index
	crowd   *crowd
	clock   clock.Clock
}

// sharedKey is the context key of Shared.
type sharedKey struct{}

// Shared returns a context for gets whose caller does not change the object and does not decode into it. The object is then
// not copied, and shares its contents with the watch cache.
func Shared(ctx context.Context) context.Context { return context.WithValue(ctx, sharedKey{}, true) }

func shared(ctx context.Context) bool { return ctx.Value(sharedKey{}) != nil }

// Get implements storage.Interface. The package documentation describes when the watch cache is used.
func (s *store) Get(ctx context.Context, key string, o storage.GetOptions, out runtime.Object) error {
	if o.ResourceVersion != "" {
		return s.Interface.Get(ctx, key, o, out)
	}
	target, err := conversion.EnforcePtr(out)
	if err != nil {
		return fmt.Errorf("get %q: %w", key, err)
	}
	before := reflect.New(target.Type()).Elem()
	before.Set(target)

	head := s.records.head(key)
	cached := o
	cached.ResourceVersion = anyVersion
	err = s.Interface.Get(ctx, key, cached, out)
	if !s.believed(head, out, err) {
		target.Set(before)

		return s.Interface.Get(ctx, key, o, out)
	}
	if err == nil && head > 0 && !shared(ctx) {
		target.Set(reflect.ValueOf(out.DeepCopyObject()).Elem())
	}

	return err
}

// believed reports whether the state of a key in the cache is as new as the key's head.
func (s *store) believed(head uint64, found runtime.Object, err error) bool {
	if err != nil {
		return head == 0 && storage.IsNotFound(err)
	}
	// A get that ignores missing objects returns an object without a version for them.
	version, err := s.Versioner().ObjectResourceVersion(found)

	return err == nil && (version > 0) == (head > 0) && version >= head
}

// GetList implements storage.Interface. The package documentation describes when the watch cache is used.
func (s *store) GetList(ctx context.Context, key string, o storage.ListOptions, out runtime.Object) error {
	if o.ResourceVersion != "" || o.ResourceVersionMatch != "" || o.Predicate.Continue != "" {
		return s.Interface.GetList(ctx, key, o, out)
	}
	published, newest := s.records.newest()
	cached := o
	cached.ResourceVersion, cached.ResourceVersionMatch = notOlder(newest), metav1.ResourceVersionMatchNotOlderThan
	if err := s.Interface.GetList(ctx, key, cached, out); err == nil {
		return s.date(out, published)
	}
	if err := ctx.Err(); err != nil {
		return err
	}

	if !o.Recursive || o.Predicate.Limit > 0 || o.Predicate.ShardSelector != nil {
		return s.Interface.GetList(ctx, key, o, out)
	}
	if err := s.reads.list(ctx, key, min(published, newest), &o.Predicate, out); err != nil {
		return err
	}

	return s.date(out, published)
}

// date sets the version of a list to that of the state that it shows, if that is newer than the version of the cache. The
// other pages of a list have the version of the cache.
func (s *store) date(out runtime.Object, published uint64) error {
	list, err := meta.ListAccessor(out)
	if err != nil {
		return fmt.Errorf("read version of list: %w", err)
	}
	version, err := s.Versioner().ParseResourceVersion(list.GetResourceVersion())
	if err != nil {
		return fmt.Errorf("read version of list: %w", err)
	}
	if version < published && list.GetContinue() == "" {
		list.SetResourceVersion(strconv.FormatUint(published, 10))
	}

	return nil
}
