// SPDX-License-Identifier: Apache-2.0

// Package managedseedshoot rejects the deletion of a ManagedSeed while its seed has shoots (API-MSS-1).
package managedseedshoot

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apiserver/pkg/admission"

	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

type rule struct {
	*admission.Handler

	world *world.World
}

// New returns the plugin.
func New(w *world.World) admission.Interface {
	return &rule{Handler: admission.NewHandler(admission.Delete), world: w}
}

var _ admission.ValidationInterface = &rule{}

// Validate rejects the deletion. The seed has the name of the ManagedSeed.
func (r *rule) Validate(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	m, ok := a.GetOldObject().(*gardenseedmanagementv1alpha1.ManagedSeed)
	if !ok || a.GetSubresource() != "" {
		return nil
	}
	shoots, err := r.world.Fresh().ShootsOn(ctx, m.Name)
	if err != nil {
		return world.Answer(a, fmt.Errorf("list shoots on seed %q: %w", m.Name, err))
	}
	if len(shoots) == 0 {
		return nil
	}
	return world.Answer(a, fmt.Errorf("the seed still runs shoots; delete or move them first: %s", strings.Join(shoots, ", ")))
}
