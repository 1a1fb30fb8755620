// SPDX-License-Identifier: Apache-2.0

// Package controllerregistrationresources rejects a second extension that is primary for a kind and type (API-CRRES-1).
package controllerregistrationresources

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/admission"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

type rule struct {
	*admission.Handler

	world *world.World
}

// New returns the plugin.
func New(w *world.World) admission.Interface {
	return &rule{Handler: admission.NewHandler(admission.Create, admission.Update), world: w}
}

var _ admission.ValidationInterface = &rule{}

// Validate rejects a registration that is primary for a resource of another one.
func (r *rule) Validate(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	mine, ok := a.GetObject().(*gardencorev1beta1.ControllerRegistration)
	if !ok || a.GetSubresource() != "" || mine.DeletionTimestamp != nil || unchanged(a, mine) {
		return nil
	}
	all, err := r.world.Fresh().ControllerRegistrations(ctx)
	if err != nil {
		return world.Answer(a, fmt.Errorf("list registrations: %w", err))
	}
	taken := map[string]string{}
	for _, other := range all {
		if other.Name == mine.Name {
			continue
		}
		for _, res := range other.Spec.Resources {
			if query.PrimaryResource(res) {
				taken[res.Kind+"/"+res.Type] = other.Name
			}
		}
	}
	for i, res := range mine.Spec.Resources {
		if owner, found := taken[res.Kind+"/"+res.Type]; found && query.PrimaryResource(res) {
			path := field.NewPath("spec", "resources").Index(i)
			return world.Answer(a, fmt.Errorf("%s: %s/%s already has the primary extension %q; set primary to false",
				path, res.Kind, res.Type, owner))
		}
	}
	return nil
}

func unchanged(a admission.Attributes, r *gardencorev1beta1.ControllerRegistration) bool {
	old, ok := a.GetOldObject().(*gardencorev1beta1.ControllerRegistration)
	return ok && equality.Semantic.DeepEqual(old.Spec.Resources, r.Spec.Resources)
}
