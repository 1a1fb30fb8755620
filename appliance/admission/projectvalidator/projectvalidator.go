// SPDX-License-Identifier: Apache-2.0

// Package projectvalidator rejects a second Project for a namespace (API-RRM-8), and Projects that take over a namespace of others.
package projectvalidator

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
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
	if err := r.mayTake(ctx, a, *p.Spec.Namespace); err != nil {
		return world.Answer(a, err)
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

// mayTake rejects a project for a namespace that exists, or for that of the garden itself, unless the user may change the namespace. The
// members of the project get rights in it, and with that in the namespace garden the credentials of the whole garden, once somebody
// labels the namespace for the project.
func (r *rule) mayTake(ctx context.Context, a admission.Attributes, name string) error {
	exists, err := r.exists(ctx, name)
	if err != nil || !exists {
		return err
	}
	may, err := r.world.May(ctx, a.GetUserInfo(), "update", world.Target{Version: "v1", Resource: "namespaces", Namespace: name, Name: name})
	if err != nil || may {
		return err
	}

	return fmt.Errorf("spec.namespace: namespace %q exists already; only users who may update it can make its project; "+
		"use another name, or leave spec.namespace out", name)
}

func (r *rule) exists(ctx context.Context, name string) (bool, error) {
	if name == gardencorev1beta1.NamespaceGarden {
		return true, nil
	}
	_, err := r.world.Fresh().Namespace(ctx, name)
	if err != nil && !apierrors.IsNotFound(err) {
		return false, fmt.Errorf("read namespace %q: %w", name, err)
	}

	return err == nil, nil
}

func unchanged(a admission.Attributes, p *gardencorev1beta1.Project) bool {
	old, ok := a.GetOldObject().(*gardencorev1beta1.Project)
	return ok && old.Spec.Namespace != nil && *old.Spec.Namespace == *p.Spec.Namespace
}
