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

// Validate rejects a namespace that another project has (API-RRM-8). It claims the namespace only for requests that it allows: with
// requests that are refused, a user could otherwise keep a name from others for ever.
func (r *rule) Validate(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	p, ok := a.GetObject().(*gardencorev1beta1.Project)
	if !ok || a.GetSubresource() != "" || p.Spec.Namespace == nil || unchanged(a, p) {
		return nil
	}
	name := *p.Spec.Namespace
	if err := r.mayTake(ctx, a, name); err != nil {
		return world.Answer(a, err)
	}
	if err := r.noOther(ctx, p.Name, name); err != nil {
		return world.Answer(a, err)
	}
	if err := r.isNew(ctx, a, p.Name); err != nil || a.IsDryRun() {
		return err
	}
	if !r.world.Claim(ctx, "namespaces of projects", name, p.Name) {
		return world.Answer(a, fmt.Errorf("another request has just requested namespace %q; use another one, or try again in two minutes", name))
	}
	// Another project may have been written before the claim.
	if err := r.noOther(ctx, p.Name, name); err != nil {
		return world.Answer(a, err)
	}

	return nil
}

// noOther rejects a namespace of another project.
func (r *rule) noOther(ctx context.Context, project, namespace string) error {
	other, err := r.world.Fresh().ProjectOf(ctx, namespace)
	if err != nil {
		return fmt.Errorf("find project of namespace %q: %w", namespace, err)
	}
	if other == nil || other.Name == project {
		return nil
	}

	return fmt.Errorf("namespace %q belongs to project %q", namespace, other.Name)
}

// isNew returns the error of the store for a new project whose name is taken, before it claims a namespace.
func (r *rule) isNew(ctx context.Context, a admission.Attributes, name string) error {
	if a.GetOperation() != admission.Create {
		return nil
	}
	_, err := world.Get[gardencorev1beta1.Project](ctx, r.world.Fresh(), world.Place{
		Group: gardencorev1beta1.GroupName, Resource: "projects", Name: name,
	})
	switch {
	case err == nil:
		return apierrors.NewAlreadyExists(a.GetResource().GroupResource(), name)
	case apierrors.IsNotFound(err):
		return nil
	default:
		return world.Answer(a, fmt.Errorf("read project %q: %w", name, err))
	}
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
