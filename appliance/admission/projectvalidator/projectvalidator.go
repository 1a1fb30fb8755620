// SPDX-License-Identifier: Apache-2.0

// Package projectvalidator rejects a second Project for a namespace (API-RRM-8).
package projectvalidator

import (
	"context"
	"fmt"

	"k8s.io/apiserver/pkg/admission"

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

// Validate rejects a namespace that another project has (API-RRM-8).
func (r *rule) Validate(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	p, ok := a.GetObject().(*gardencorev1beta1.Project)
	if !ok || a.GetSubresource() != "" || p.Spec.Namespace == nil || unchanged(a, p) {
		return nil
	}
	if !a.IsDryRun() && !r.world.Claim("namespaces of projects", *p.Spec.Namespace, p.Name) {
		return world.Answer(a, fmt.Errorf("another request has just requested namespace %q; use another one, or try again in two minutes",
			*p.Spec.Namespace))
	}
	other, err := r.world.Fresh().ProjectOf(ctx, *p.Spec.Namespace)
	if err != nil {
		return world.Answer(a, fmt.Errorf("find project of namespace %q: %w", *p.Spec.Namespace, err))
	}
	if other == nil || other.Name == p.Name {
		return nil
	}
	return world.Answer(a, fmt.Errorf("namespace %q belongs to project %q", *p.Spec.Namespace, other.Name))
}

func unchanged(a admission.Attributes, p *gardencorev1beta1.Project) bool {
	old, ok := a.GetOldObject().(*gardencorev1beta1.Project)
	return ok && old.Spec.Namespace != nil && *old.Spec.Namespace == *p.Spec.Namespace
}
