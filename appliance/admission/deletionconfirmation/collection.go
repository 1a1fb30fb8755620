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

// collection complains about all objects that must not be deleted yet where many are deleted at once (API-DELCONF-2).
// The server asks once for each of them, without a name, and says nothing about selectors: all objects of the namespace
// count. Those that are being deleted are done with.
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
