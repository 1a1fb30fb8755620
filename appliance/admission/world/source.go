// SPDX-License-Identifier: Apache-2.0

package world

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Source is where objects come from. Errors other than that an object does not exist are marked as ErrUnreadable by the
// World. What is returned may be shared with others and must not be changed.
type Source interface {
	// Get reads an object of core.gardener.cloud at a resource version: "0" is whatever is at hand, "" what is stored.
	Get(ctx context.Context, at Place, version string) (runtime.Object, error)
	// List lists such objects; the options say which and how recent.
	List(ctx context.Context, at Place, o metav1.ListOptions) (runtime.Object, error)
	// Names lists namespace/name of such objects.
	Names(ctx context.Context, at Place, o metav1.ListOptions) ([]string, error)
	// Metadata reads the metadata of an object of any group.
	Metadata(ctx context.Context, of Target, version string) (*metav1.PartialObjectMetadata, error)
}

// Place is a resource of core.gardener.cloud, in a namespace or in all, and the name of one object of it.
type Place struct{ Resource, Namespace, Name string }
