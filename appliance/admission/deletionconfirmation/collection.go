// SPDX-License-Identifier: Apache-2.0

package deletionconfirmation

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

// collection rejects the deletion of a collection with objects that must not be deleted yet, and names all of them. The
// server runs the plugin for each object without its name, and does not pass selectors, so all objects of the namespace are
// checked, except those in deletion (API-DELCONF-2).
func (r *rule) collection(ctx context.Context, a admission.Attributes) error {
	all, err := list(ctx, r.world.Fresh(), a)
	if err != nil {
		return fmt.Errorf("list %s: %w", a.GetResource().Resource, err)
	}
	var errs []error
	err = meta.EachListItem(all, func(item runtime.Object) error {
		object, err := meta.Accessor(item)
		if err == nil && object.GetDeletionTimestamp() == nil && !confirmed(object) {
			errs = append(errs, unconfirmed(a, object))
		}
		return err
	})
	return errors.Join(append(errs, err)...)
}

func list(ctx context.Context, v world.View, a admission.Attributes) (runtime.Object, error) {
	place := world.Place{Group: gardencorev1beta1.GroupName, Resource: a.GetResource().Resource, Namespace: a.GetNamespace()}
	switch a.GetKind().Kind {
	case "Shoot":
		return world.List[gardencorev1beta1.ShootList](ctx, v, place, fields.Everything())
	case "ShootState":
		return world.List[gardencorev1beta1.ShootStateList](ctx, v, place, fields.Everything())
	default:
		return world.List[gardencorev1beta1.ProjectList](ctx, v, place, fields.Everything())
	}
}
