// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"context"
	"strconv"

	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/terrarium-garden/terrarium/storage/registry/bytecache"
)

// Get reads an object. What was asked for without a version is read from the watch cache where that holds the last write
// to the object that was answered, and else from the store. What is returned may be shared with the cache and must not be
// changed.
func (s *Store) Get(ctx context.Context, name string, o *metav1.GetOptions) (runtime.Object, error) {
	object, err := s.read(ctx, name, o)
	if err != nil {
		return nil, err
	}
	if plain, ok := object.(bytecache.Plain); ok && s.serves(ctx, name) {
		return bytecache.Object{Plain: plain}, nil
	}

	return object, nil
}

func (s *Store) read(ctx context.Context, name string, o *metav1.GetOptions) (runtime.Object, error) {
	if s.written == nil || o.ResourceVersion != "" {
		return s.Store.Get(ctx, name, o)
	}
	key, err := s.KeyFunc(ctx, name)
	if err != nil {
		return nil, err
	}
	cached := *o
	cached.ResourceVersion = anyVersion
	object, err := s.Store.Get(ctx, name, &cached)
	if s.written.holds(key, object, err) {
		return object, err
	}

	return s.Store.Get(ctx, name, o)
}

// serves tells whether a client has asked for the object itself: what then comes of it is what is written to the client.
func (s *Store) serves(ctx context.Context, name string) bool {
	request, ok := genericapirequest.RequestInfoFrom(ctx)

	return ok && request.IsResourceRequest && request.Verb == "get" && request.Subresource == "" &&
		request.Resource == s.names.Plural && request.APIGroup == s.names.GroupVersion.Group && request.Name == name
}

// List reads what matches. As for Get, the cache is as good as the store once it holds every write that was answered, and
// it does once the last of them has arrived.
func (s *Store) List(ctx context.Context, o *metainternalversion.ListOptions) (runtime.Object, error) {
	if s.written == nil || o != nil && (o.ResourceVersion != "" || o.ResourceVersionMatch != "" || o.Continue != "") {
		return s.Store.List(ctx, o)
	}
	version := s.written.ofAll()
	if !s.arrived.await(ctx, version) {
		return s.Store.List(ctx, o)
	}
	recent := &metainternalversion.ListOptions{}
	if o != nil {
		recent = o.DeepCopy()
	}
	recent.ResourceVersion, recent.ResourceVersionMatch = strconv.FormatUint(version, 10), metav1.ResourceVersionMatchNotOlderThan
	if object, err := s.Store.List(ctx, recent); err == nil {
		return object, nil
	}

	return s.Store.List(ctx, o)
}
