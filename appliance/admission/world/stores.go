// SPDX-License-Identifier: Apache-2.0

package world

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"
)

// stores reads from the stores of the API server within the process: nothing is sent, encoded or authorized. It reads
// objects of other groups from another source.
type stores struct {
	served    map[schema.GroupResource]rest.Storage
	elsewhere Source
}

// byResource maps the resources of groups to their stores. A resource that is served in several versions has one store.
func byResource(groups []*genericapiserver.APIGroupInfo) map[schema.GroupResource]rest.Storage {
	served := map[schema.GroupResource]rest.Storage{}
	for _, group := range groups {
		for _, version := range slices.Backward(group.PrioritizedVersions) {
			for resource, store := range group.VersionedResourcesStorageMap[version.Version] {
				served[schema.GroupResource{Group: version.Group, Resource: resource}] = store
			}
		}
	}
	return served
}

// Get implements Source.
func (s *stores) Get(ctx context.Context, at Place, version string) (runtime.Object, error) {
	reader, ok := s.served[at.groupResource()].(rest.Getter)
	if !ok {
		return s.elsewhere.Get(ctx, at, version)
	}
	return reader.Get(genericapirequest.WithNamespace(ctx, at.Namespace), at.Name, &metav1.GetOptions{ResourceVersion: version})
}

// List implements Source.
func (s *stores) List(ctx context.Context, at Place, o metav1.ListOptions) (runtime.Object, error) {
	reader, ok := s.served[at.groupResource()].(rest.Lister)
	if !ok {
		return s.elsewhere.List(ctx, at, o)
	}
	matching := &metainternalversion.ListOptions{ResourceVersion: o.ResourceVersion}
	var err error
	if matching.FieldSelector, err = fields.ParseSelector(o.FieldSelector); err != nil {
		return nil, fmt.Errorf("parse field selector: %w", err)
	}
	if matching.LabelSelector, err = labels.Parse(o.LabelSelector); err != nil {
		return nil, fmt.Errorf("parse label selector: %w", err)
	}
	return reader.List(genericapirequest.WithNamespace(ctx, at.Namespace), matching)
}

// Names implements Source.
func (s *stores) Names(ctx context.Context, at Place, o metav1.ListOptions) ([]string, error) {
	if _, served := s.served[at.groupResource()]; !served {
		return s.elsewhere.Names(ctx, at, o)
	}
	list, err := s.List(ctx, at, o)
	if err != nil {
		return nil, err
	}
	var names []string
	err = meta.EachListItem(list, func(obj runtime.Object) error {
		accessor, err := meta.Accessor(obj)
		if err == nil {
			names = append(names, accessor.GetNamespace()+"/"+accessor.GetName())
		}
		return err
	})
	slices.Sort(names)
	return names, err
}

// Metadata implements Source.
func (s *stores) Metadata(ctx context.Context, of Target, version string) (*metav1.PartialObjectMetadata, error) {
	place := Place{Group: of.Group, Resource: of.Resource, Namespace: of.Namespace, Name: of.Name}
	if _, served := s.served[place.groupResource()]; !served {
		return s.elsewhere.Metadata(ctx, of, version)
	}
	obj, err := s.Get(ctx, place, version)
	if err != nil {
		return nil, err
	}
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return nil, fmt.Errorf("access metadata: %w", err)
	}
	return meta.AsPartialObjectMetadata(accessor), nil
}
