// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"errors"

	"github.com/terrarium-garden/terrarium/apis/extensions"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
)

// objects are all objects of a kind that the shoot has in the seed, those of former pools among them.
func (o *operation) objects(ctx context.Context, kind string) ([]gardenextensionsv1alpha1.Object, extensions.Kind, error) {
	row, _ := extensions.Named(kind)
	found, err := o.r.extensions().List(ctx, o.namespace, row)
	return found, row, err
}

// destroy is the task that deletes all objects of a kind.
func (o *operation) destroy(kind string) func(context.Context) error {
	return func(ctx context.Context) error { return o.destroyOthers(ctx, kind, nil) }
}

// destroyOthers deletes the objects of a kind whose names are not to be kept.
func (o *operation) destroyOthers(ctx context.Context, kind string, keep map[string]bool) error {
	found, _, err := o.objects(ctx, kind)
	if err != nil {
		return err
	}
	var errs []error
	for _, obj := range found {
		if !keep[obj.GetName()] {
			errs = append(errs, o.r.extensions().Delete(ctx, obj))
		}
	}
	return errors.Join(errs...)
}

// destroyed is the task that waits until no object of a kind is left.
func (o *operation) destroyed(kind string) func(context.Context) error {
	return func(ctx context.Context) error {
		found, row, err := o.objects(ctx, kind)
		if err != nil {
			return err
		}
		for _, obj := range found {
			if err := o.r.extensions().WaitGone(ctx, obj, row.Patience); err != nil {
				return err
			}
		}
		return nil
	}
}
