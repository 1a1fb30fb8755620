// SPDX-License-Identifier: Apache-2.0

package kubecontrollers

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"
	"k8s.io/controller-manager/pkg/informerfactory"
)

// both returns caches of any kind, for loops that read only metadata: those of local kinds, which there are anyway, and metadata for
// everything else that can be read within the process.
func (c Config) both(typed informers.SharedInformerFactory, untyped metadatainformer.SharedInformerFactory) informerfactory.InformerFactory {
	kept := local()

	return preferLocal{
		InformerFactory: informerfactory.NewInformerFactory(typed, untyped), untyped: untyped,
		metadata: func(resource schema.GroupVersionResource) bool {
			return kept[resource] == nil && c.Metadata != nil && c.Metadata(resource) != nil
		},
	}
}

// preferLocal is a factory that makes caches of metadata where metadata says so.
type preferLocal struct {
	informerfactory.InformerFactory

	untyped  metadatainformer.SharedInformerFactory
	metadata func(schema.GroupVersionResource) bool
}

// ForResource implements informerfactory.InformerFactory.
func (p preferLocal) ForResource(resource schema.GroupVersionResource) (informers.GenericInformer, error) {
	if p.metadata(resource) {
		return p.untyped.ForResource(resource), nil
	}

	return p.InformerFactory.ForResource(resource) //nolint:wrapcheck // The caller is the library.
}

// metadataReader is a client for caches of metadata. It lists and watches all objects of a resource within the process where source
// has them: the garbage collector watches each kind of the garden, and would hold the metadata of all shoots once more.
// Everything else goes to the client.
type metadataReader struct {
	metadata.Interface

	source func(schema.GroupVersionResource) cache.ListerWatcher // May be nil.
}

// IsWatchListSemanticsUnSupported tells reflectors to list and then watch, as sources want it.
func (metadataReader) IsWatchListSemanticsUnSupported() bool { return true }

// Resource implements metadata.Interface.
func (r metadataReader) Resource(resource schema.GroupVersionResource) metadata.Getter {
	getter := r.Interface.Resource(resource)
	if r.source == nil {
		return getter
	}
	source := r.source(resource)
	if source == nil {
		return getter
	}

	return localGetter{Getter: getter, local: localMetadata{ResourceInterface: getter, source: source}}
}

// localGetter implements metadata.Getter. Only the objects of all namespaces are read within the process.
type localGetter struct {
	metadata.Getter

	local localMetadata
}

// Namespace implements metadata.Getter.
func (g localGetter) Namespace(namespace string) metadata.ResourceInterface {
	if namespace != metav1.NamespaceAll {
		return g.Getter.Namespace(namespace)
	}

	return g.local
}

// localMetadata implements metadata.ResourceInterface.
type localMetadata struct {
	metadata.ResourceInterface

	source cache.ListerWatcher
}

// List implements metadata.ResourceInterface.
func (l localMetadata) List(ctx context.Context, o metav1.ListOptions) (*metav1.PartialObjectMetadataList, error) {
	if selects(o) {
		return l.ResourceInterface.List(ctx, o)
	}
	list, err := cache.ToListerWatcherWithContext(l.source).ListWithContext(ctx, o)
	if err != nil {
		return nil, err //nolint:wrapcheck // The cache looks at the reason.
	}
	metadata, ok := list.(*metav1.PartialObjectMetadataList)
	if !ok {
		return nil, fmt.Errorf("list metadata: got a %T", list)
	}

	return metadata, nil
}

// Watch implements metadata.ResourceInterface.
func (l localMetadata) Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	if selects(o) {
		return l.ResourceInterface.Watch(ctx, o)
	}

	return cache.ToListerWatcherWithContext(l.source).WatchWithContext(ctx, o) //nolint:wrapcheck // As above.
}

// selects reports whether some objects are asked for, which sources cannot tell apart.
func selects(o metav1.ListOptions) bool { return o.LabelSelector != "" || o.FieldSelector != "" }
