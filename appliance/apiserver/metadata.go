// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/terrarium-garden/terrarium/appliance/authorization/feed"
)

// Metadata returns a source that lists and watches the metadata of all objects of a resource within the process, without their
// managed fields. It is nil for a resource that has no store in this process. What it returns shares its contents with the objects of
// the server's cache, so it takes hardly any memory as long as these are there, and must not be changed.
func (s *Server) Metadata(resource schema.GroupVersionResource) cache.ListerWatcher {
	return s.sources.resources[resource].metadata()
}

// MetadataOfKind does the same as Metadata for the resource that has the objects of a kind.
func (s *Server) MetadataOfKind(kind schema.GroupVersionKind) cache.ListerWatcher {
	return s.sources.kinds[kind].metadata()
}

func (s store) metadata() cache.ListerWatcher {
	if s.Storage == nil {
		return nil
	}
	objects, err := feed.FromStorage(s.Storage)
	if err != nil {
		return nil
	}

	return metadataOf(objects, s.kind)
}

func metadataOf(objects *cache.ListWatch, kind schema.GroupVersionKind) cache.ListerWatcher {
	return localSource{&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			list, err := objects.ListWithContextFunc(ctx, o)
			if err != nil {
				return nil, err
			}

			return metadataList(list, kind)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			events, err := objects.WatchFuncWithContext(ctx, o)
			if err != nil {
				return nil, err
			}

			return watch.Filter(events, func(event watch.Event) (watch.Event, bool) { return metadataEvent(event, kind), true }), nil
		},
	}}
}

func metadataList(of runtime.Object, kind schema.GroupVersionKind) (*metav1.PartialObjectMetadataList, error) {
	about, err := meta.ListAccessor(of)
	if err != nil {
		return nil, fmt.Errorf("read the metadata of a list: %w", err)
	}
	list := &metav1.PartialObjectMetadataList{
		ListMeta: metav1.ListMeta{
			ResourceVersion: about.GetResourceVersion(), Continue: about.GetContinue(), RemainingItemCount: about.GetRemainingItemCount(),
		},
		Items: make([]metav1.PartialObjectMetadata, 0, meta.LenList(of)),
	}
	err = meta.EachListItem(of, func(object runtime.Object) error {
		item, err := metadataObject(object, kind)
		if err == nil {
			list.Items = append(list.Items, *item)
		}

		return err
	})
	if err != nil {
		return nil, err
	}

	return list, nil
}

// metadataEvent leaves an error as it is, which has no metadata of an object.
func metadataEvent(event watch.Event, kind schema.GroupVersionKind) watch.Event {
	if event.Type == watch.Error {
		return event
	}
	object, err := metadataObject(event.Object, kind)
	if err != nil {
		return errorEvent(err)
	}
	event.Object = object

	return event
}

func metadataObject(of runtime.Object, kind schema.GroupVersionKind) (*metav1.PartialObjectMetadata, error) {
	about, err := meta.Accessor(of)
	if err != nil {
		return nil, fmt.Errorf("read the metadata of an object: %w", err)
	}
	object := meta.AsPartialObjectMetadata(about)
	object.SetGroupVersionKind(kind)
	object.ManagedFields = nil

	return object, nil
}
