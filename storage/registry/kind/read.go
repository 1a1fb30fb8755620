// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/terrarium-garden/terrarium/storage/registry/bytecache"
	"github.com/terrarium-garden/terrarium/storage/registry/fresh"
)

// Get reads an object. What is returned may be shared with the watch cache and must not be changed.
func (s *Store) Get(ctx context.Context, name string, o *metav1.GetOptions) (runtime.Object, error) {
	object, err := s.Store.Get(fresh.Shared(ctx), name, o)
	if err != nil {
		return nil, err
	}
	if plain, ok := object.(bytecache.Plain); ok && s.serves(ctx, name) {
		return bytecache.Object{Plain: plain}, nil
	}

	return object, nil
}

// serves reports whether the request is for the object itself, so that the object is written to the client as it is.
func (s *Store) serves(ctx context.Context, name string) bool {
	request, ok := genericapirequest.RequestInfoFrom(ctx)

	return ok && request.IsResourceRequest && request.Verb == "get" && request.Subresource == "" &&
		request.Resource == s.names.Plural && request.APIGroup == s.names.GroupVersion.Group && request.Name == name
}
