// SPDX-License-Identifier: Apache-2.0

package admissiontest

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

// Behind returns the world as plugins see it while the watch cache has no object of a resource yet. Nobody has rights in it.
func (g *Garden) Behind(resource string) *world.World {
	return world.From(behind{Source: g.World.Source(), resource: resource}, allow(nil), g.World.Clock)
}

type behind struct {
	world.Source

	resource string
}

// List implements world.Source.
func (b behind) List(ctx context.Context, at world.Place, o metav1.ListOptions) (runtime.Object, error) {
	found, err := b.Source.List(ctx, at, o)
	if err != nil || at.Resource != b.resource || o.ResourceVersion == "" {
		return found, err
	}
	empty := found.DeepCopyObject()

	return empty, meta.SetList(empty, nil)
}

// Failing returns the world as plugins see it while a resource, of any group, cannot be read.
func (g *Garden) Failing(resource string) *world.World {
	return world.From(failing{Source: g.World.Source(), resource: resource}, allow(g.rights), g.World.Clock)
}

type failing struct {
	world.Source

	resource string
}

var errFailing = errors.New("the store does not answer")

// Get implements world.Source.
func (f failing) Get(ctx context.Context, at world.Place, version string) (runtime.Object, error) {
	if at.Resource == f.resource {
		return nil, errFailing
	}

	return f.Source.Get(ctx, at, version)
}

// List implements world.Source.
func (f failing) List(ctx context.Context, at world.Place, o metav1.ListOptions) (runtime.Object, error) {
	if at.Resource == f.resource {
		return nil, errFailing
	}

	return f.Source.List(ctx, at, o)
}

// Names implements world.Source.
func (f failing) Names(ctx context.Context, at world.Place, o metav1.ListOptions) ([]string, error) {
	if at.Resource == f.resource {
		return nil, errFailing
	}

	return f.Source.Names(ctx, at, o)
}

// Metadata implements world.Source.
func (f failing) Metadata(ctx context.Context, of world.Target, version string) (*metav1.PartialObjectMetadata, error) {
	if of.Resource == f.resource {
		return nil, errFailing
	}

	return f.Source.Metadata(ctx, of, version)
}
