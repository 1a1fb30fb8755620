// SPDX-License-Identifier: Apache-2.0

package admissiontest

import (
	"context"

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
