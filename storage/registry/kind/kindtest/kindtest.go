// SPDX-License-Identifier: Apache-2.0

// Package kindtest lets tests use the stores of kinds without a database: objects are kept in memory, and everything
// else is as in a server.
package kindtest

import (
	"context"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apiserver/pkg/authentication/user"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/client-go/tools/cache"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

// Now is the time by the clock of Options.
func Now() time.Time { return time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC) }

// Options are those of a server that keeps objects in memory.
func Options(tb testing.TB, change ...func(*kind.Options)) kind.Options {
	tb.Helper()
	kinds := runtime.NewScheme()
	if err := scheme.AddServed(kinds); err != nil {
		tb.Fatal(err)
	}
	codecs := serializer.NewCodecFactory(kinds)
	var versions []schema.GroupVersion
	for _, group := range scheme.ServedGroups() {
		versions = append(versions, group...)
	}
	codec := codecs.LegacyCodec(versions...)
	o := kind.Options{
		RESTOptionsGetter: getter{codec: codec},
		Scheme:            kinds, Codecs: codecs, ParameterCodec: runtime.NewParameterCodec(kinds),
		Clock: clocktesting.NewFakeClock(Now()),
	}
	for _, c := range change {
		c(&o)
	}
	return o
}

// Context is that of a request of a user in a namespace.
func Context(tb testing.TB, namespace, name string, groups ...string) context.Context {
	tb.Helper()
	ctx := genericapirequest.WithNamespace(tb.Context(), namespace)
	return genericapirequest.WithUser(ctx, &user.DefaultInfo{Name: name, Groups: groups})
}

type getter struct{ codec runtime.Codec }

// GetRESTOptions implements generic.RESTOptionsGetter.
func (g getter) GetRESTOptions(resource schema.GroupResource, _ runtime.Object) (generic.RESTOptions, error) {
	config := storagebackend.NewDefaultConfig("/test", g.codec)
	return generic.RESTOptions{
		StorageConfig:  config.ForResource(resource),
		Decorator:      g.decorate,
		ResourcePrefix: "/" + resource.Group + "/" + resource.Resource,
	}, nil
}

// decorate makes the store of one kind.
//
//nolint:revive // the parameters are those of generic.StorageDecorator
func (g getter) decorate(
	_ *storagebackend.ConfigForResource, _ string, _ func(runtime.Object) (string, error), newFunc,
	_ func() runtime.Object, _ storage.AttrFunc, _ storage.IndexerFuncs, _ *cache.Indexers,
) (storage.Interface, factory.DestroyFunc, error) {
	return &memory{codec: g.codec, newFunc: newFunc, version: 1, objects: map[string][]byte{}}, func() {}, nil
}
