// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// Ensure creates the object, or updates it when mutate changes what is there, and tells whether it wrote. Only what
// mutate sets is enforced; the rest of an existing object stays.
func Ensure(ctx context.Context, c client.Client, object client.Object, mutate func() error) (bool, error) {
	done, err := controllerutil.CreateOrUpdate(ctx, c, object, mutate)
	if err != nil {
		return false, fmt.Errorf("ensure %T %q: %w", object, object.GetName(), err)
	}
	return done != controllerutil.OperationResultNone, nil
}

// Remove deletes the object; one that is gone already is fine.
func Remove(ctx context.Context, c client.Client, object client.Object) error {
	if err := c.Delete(ctx, object); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete %T %q: %w", object, object.GetName(), err)
	}
	return nil
}
