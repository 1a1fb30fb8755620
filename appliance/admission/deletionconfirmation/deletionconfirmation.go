// SPDX-License-Identifier: Apache-2.0

// Package deletionconfirmation lets Shoots and Projects be deleted only when their deletion was confirmed by an
// annotation beforehand (API-DELCONF-1, 2).
package deletionconfirmation

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apiserver/pkg/admission"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

type rule struct {
	*admission.Handler

	world *world.World
}

// New makes the rule.
func New(w *world.World) admission.Interface {
	return &rule{Handler: admission.NewHandler(admission.Delete), world: w}
}

var _ admission.ValidationInterface = &rule{}

// Validate refuses the deletion of objects that carry no confirmation.
func (r *rule) Validate(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	if a.GetSubresource() != "" {
		return nil
	}
	objects, err := r.affected(ctx, a)
	if err != nil {
		return admission.NewForbidden(a, err)
	}
	var missing []error
	for _, o := range objects {
		if !confirmed(o) {
			missing = append(missing, unconfirmed(a, o))
		}
	}
	if len(missing) > 0 {
		return admission.NewForbidden(a, errors.Join(missing...))
	}
	return nil
}

// affected are the objects that the request would delete: one, or all of a collection (API-ADM-5).
func (r *rule) affected(ctx context.Context, a admission.Attributes) ([]metav1.Object, error) {
	if a.GetResource().Group != gardencorev1beta1.GroupName {
		return nil, nil
	}
	switch a.GetResource().Resource {
	case "shoots":
		if a.GetName() != "" {
			shoot, err := r.world.Shoot(ctx, a.GetNamespace(), a.GetName())
			return []metav1.Object{shoot}, err
		}
		shoots, err := r.world.Shoots(ctx, a.GetNamespace(), fields.Everything())
		return pointers(shoots), err
	case "projects":
		if a.GetName() != "" {
			project, err := r.world.Project(ctx, a.GetName())
			return []metav1.Object{project}, err
		}
		projects, err := r.world.Projects(ctx)
		return pointers(projects), err
	default:
		return nil, nil
	}
}

func pointers[T any, P interface {
	*T
	metav1.Object
}](items []T) []metav1.Object {
	out := make([]metav1.Object, 0, len(items))
	for i := range items {
		out = append(out, P(&items[i]))
	}
	return out
}

func confirmed(o metav1.Object) bool {
	yes, err := strconv.ParseBool(o.GetAnnotations()[gardencorev1beta1.AnnotationConfirmationDeletion])
	return err == nil && yes
}

func unconfirmed(a admission.Attributes, o metav1.Object) error {
	namespace := ""
	if o.GetNamespace() != "" {
		namespace = " -n " + o.GetNamespace()
	}
	return fmt.Errorf("the deletion of %s %q is not confirmed; confirm it with: kubectl annotate%s %s %s %s=true",
		a.GetKind().Kind, o.GetName(), namespace, a.GetResource().Resource, o.GetName(),
		gardencorev1beta1.AnnotationConfirmationDeletion)
}
