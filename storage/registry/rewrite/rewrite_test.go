// SPDX-License-Identifier: Apache-2.0

package rewrite_test

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/client-go/tools/cache"

	"github.com/terrarium-garden/terrarium/storage/registry/rewrite"
)

const prefix = "/secrets/"

var errBoom = errors.New("boom")

func secrets() schema.GroupResource { return schema.GroupResource{Resource: "secrets"} }

// shelf is a store of Secrets with the names 0, 1, 2 and so on.
type shelf struct {
	storage.Interface

	size int
	// gone is deleted after it was listed; broken cannot be written.
	gone, broken string

	limits  []int64
	written []string
}

func (s *shelf) GetList(_ context.Context, _ string, o storage.ListOptions, into runtime.Object) error {
	s.limits = append(s.limits, o.Predicate.Limit)
	list := into.(*corev1.SecretList)
	from, _ := strconv.Atoi(o.Predicate.Continue)
	end := min(from+int(o.Predicate.Limit), s.size)
	for i := from; i < end; i++ {
		list.Items = append(list.Items, corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: strconv.Itoa(i)}})
	}
	if end < s.size {
		list.Continue = strconv.Itoa(end)
	}

	return nil
}

//nolint:revive // The parameters are those of storage.Interface.
func (s *shelf) GuaranteedUpdate(
	_ context.Context, key string, _ runtime.Object, ignoreNotFound bool, _ *storage.Preconditions, change storage.UpdateFunc, _ runtime.Object,
) error {
	switch name := path.Base(key); {
	case name == s.gone && !ignoreNotFound:
		return storage.NewKeyNotFoundError(key, 0)
	case name == s.broken:
		return errBoom
	}
	before := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: path.Base(key), ResourceVersion: "7"}}
	after, ttl, err := change(before, storage.ResponseMeta{})
	if err != nil || ttl != nil || !cmp.Equal(before, after.(*corev1.Secret)) {
		return fmt.Errorf("the object is written as it is: %v, %w", after, err)
	}
	s.written = append(s.written, key)

	return nil
}

// getter lends the store.
type getter struct{ shelf *shelf }

func (g getter) GetRESTOptions(schema.GroupResource, runtime.Object) (generic.RESTOptions, error) {
	return generic.RESTOptions{Decorator: func(
		*storagebackend.ConfigForResource, string, func(runtime.Object) (string, error), func() runtime.Object, func() runtime.Object,
		storage.AttrFunc, storage.IndexerFuncs, *cache.Indexers,
	) (storage.Interface, factory.DestroyFunc, error) {
		return g.shelf, func() {}, nil
	}}, nil
}

// open makes the store of a resource as the API server does.
func open(t *testing.T, stores *rewrite.Stores, of *shelf, resource schema.GroupResource) {
	t.Helper()
	options, err := stores.Getter(getter{of}).GetRESTOptions(resource, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = options.Decorator(nil, prefix, func(o runtime.Object) (string, error) { return prefix + o.(*corev1.Secret).Name, nil },
		func() runtime.Object { return &corev1.Secret{} }, func() runtime.Object { return &corev1.SecretList{} }, nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
}

func TestRewrite(t *testing.T) {
	t.Parallel()
	s := &shelf{size: 1234, gone: "17"}
	stores := rewrite.NewStores(secrets())
	open(t, stores, s, secrets())
	open(t, stores, &shelf{size: 1, broken: "0"}, schema.GroupResource{Resource: "configmaps"})
	var last rewrite.Progress
	err := stores.Rewrite(t.Context(), func(p rewrite.Progress) {
		if p.Done < last.Done {
			t.Errorf("the progress goes back from %+v to %+v", last, p)
		}
		last = p
	})
	if err != nil {
		t.Fatalf("Rewrite(...) = %v", err)
	}
	if want := (rewrite.Progress{Done: 1234, Total: 1234}); last != want {
		t.Errorf("progress at the end: got %+v, want %+v", last, want)
	}
	if diff := cmp.Diff([]int64{500, 500, 500}, s.limits); diff != "" {
		t.Errorf("objects are read in pages (-want +got):\n%s", diff)
	}
	var want []string
	for i := range s.size {
		if name := strconv.Itoa(i); name != s.gone {
			want = append(want, prefix+name)
		}
	}
	if diff := cmp.Diff(want, s.written); diff != "" {
		t.Errorf("all objects are written but the one that was deleted meanwhile (-want +got):\n%s", diff)
	}
}

func TestRewriteFails(t *testing.T) {
	t.Parallel()
	stores := rewrite.NewStores(secrets())
	if err := stores.Rewrite(t.Context(), func(rewrite.Progress) {}); !errors.Is(err, rewrite.ErrUnknown) {
		t.Errorf("a store that was not made: got %v, want ErrUnknown", err)
	}
	open(t, stores, &shelf{size: 3, broken: "1"}, secrets())
	if err := stores.Rewrite(t.Context(), func(rewrite.Progress) {}); !errors.Is(err, errBoom) {
		t.Errorf("an object that cannot be written: got %v, want %v", err, errBoom)
	}
}
