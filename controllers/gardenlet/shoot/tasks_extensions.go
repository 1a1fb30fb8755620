// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"errors"

	"github.com/terrarium-garden/terrarium/apis/extensions"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/flow"
)

// removal deletes all objects of a kind and waits for their extensions, in two tasks.
func (g ground) removal(kind string, id flow.ID, title string, skip bool, after ...flow.ID) []flow.Task {
	return []flow.Task{
		{ID: id + "-delete", Title: "Deleting " + title, After: after, Skip: skip, Do: g.destroy(kind)},
		{ID: id + "-delete-wait", Title: "Waiting until " + title + " is gone", After: []flow.ID{id + "-delete"}, Skip: skip, Do: g.destroyed(kind)},
	}
}

// objects are all objects of a kind that the shoot has in the seed, those of former pools among them.
func (g ground) objects(ctx context.Context, kind string) ([]gardenextensionsv1alpha1.Object, extensions.Kind, error) {
	row, _ := extensions.Named(kind)
	found, err := g.extensions().List(ctx, g.facts.Namespace, row)
	return found, row, err
}

// destroy is the task that deletes all objects of a kind.
func (g ground) destroy(kind string) func(context.Context) error {
	return func(ctx context.Context) error { return g.destroyOthers(ctx, kind, nil) }
}

// destroyOthers deletes the objects of a kind whose names are not to be kept.
func (g ground) destroyOthers(ctx context.Context, kind string, keep map[string]bool) error {
	found, _, err := g.objects(ctx, kind)
	if err != nil {
		return err
	}
	var errs []error
	for _, obj := range found {
		if !keep[obj.GetName()] {
			errs = append(errs, g.extensions().Delete(ctx, obj))
		}
	}
	return errors.Join(errs...)
}

// destroyed is the task that waits until no object of a kind is left.
func (g ground) destroyed(kind string) func(context.Context) error {
	return func(ctx context.Context) error {
		found, row, err := g.objects(ctx, kind)
		if err != nil {
			return err
		}
		for _, obj := range found {
			if err := g.extensions().WaitGone(ctx, obj, row.Patience); err != nil {
				return err
			}
		}
		return nil
	}
}
