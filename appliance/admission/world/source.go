// SPDX-License-Identifier: Apache-2.0

package world

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/terrarium-garden/terrarium/apis/scheme"
)

// Source is where objects are read from. The World marks errors other than NotFound as ErrUnreadable. Returned objects may
// be shared and must not be changed.
type Source interface {
	// Get reads an object at a resource version: "0" accepts any state, "" requires the stored state.
	Get(ctx context.Context, at Place, version string) (runtime.Object, error)
	// List lists objects; the options say which and how recent.
	List(ctx context.Context, at Place, o metav1.ListOptions) (runtime.Object, error)
	// Names lists namespace/name of such objects.
	Names(ctx context.Context, at Place, o metav1.ListOptions) ([]string, error)
	// Metadata reads the metadata of an object of any group.
	Metadata(ctx context.Context, of Target, version string) (*metav1.PartialObjectMetadata, error)
}

// Place is a resource of the garden or of Kubernetes, in a namespace or in all, with the name of an object if it is about
// one. A group is read in the version that the garden prefers, unless a version is given, which custom resources need.
type Place struct{ Group, Version, Resource, Namespace, Name string }

// version returns the version in which a garden serves a group: Kubernetes' own groups are served in their stable version only.
func (p Place) version() string {
	if p.Version != "" {
		return p.Version
	}
	for _, group := range scheme.ServedGroups() {
		if group[0].Group == p.Group {
			return group[0].Version
		}
	}
	return "v1"
}

// path returns the path at which an API server serves a group and version.
func path(group, version string) []string {
	if group == "" {
		return []string{"/api", version}
	}
	return []string{"/apis", group, version}
}

func (p Place) groupResource() schema.GroupResource {
	return schema.GroupResource{Group: p.Group, Resource: p.Resource}
}
