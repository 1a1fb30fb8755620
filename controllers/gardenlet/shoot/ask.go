// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"errors"
	"slices"

	"github.com/terrarium-garden/terrarium/apis/extensions"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/extension"
	"github.com/terrarium-garden/terrarium/controllers/flow"
)

// ask says what is asked of the extensions of one kind: the objects of a shoot, and the tasks around them. T is a pointer to the
// type of the kind.
type ask[T gardenextensionsv1alpha1.Object] struct {
	ground

	// id and title name the tasks.
	id    flow.ID
	title string
	// names returns the names of the objects.
	names func() ([]string, error)
	// trigger says when the extension is to act; the zero value is always.
	trigger extension.Trigger
	// fill writes labels and spec.
	fill func(ctx context.Context, obj T) error
	// answer takes what the extensions have found from the objects; nil takes nothing.
	answer func(ctx context.Context, objs []T) error
	// spared names the objects that stay when the others are deleted.
	spared []string
	// patience says how long to wait for an object; nil is as long as for any other of the kind.
	patience func(name string) extensions.Patience
	// reads are the values that fill uses, notes are those that it sets, and sets are those that answer sets.
	reads, notes, sets []flow.Slot
}

// once names the only object of a kind that a shoot has one object of.
func (g ground) once() ([]string, error) {
	return []string{g.facts.Shoot.Name}, nil
}

// deploy writes the objects and waits for the extensions, in two tasks.
func (a ask[T]) deploy(skip bool, after ...flow.ID) []flow.Task {
	return []flow.Task{
		{ID: a.id, Title: "Deploying " + a.title, After: after, Reads: a.reads, Sets: a.notes, Skip: skip, Do: a.apply},
		{ID: a.id + "-wait", Title: "Waiting for " + a.title, After: []flow.ID{a.id}, Sets: a.sets, Skip: skip, Do: a.wait},
	}
}

// destroy deletes the objects that are not spared and waits for the extensions, in two tasks.
func (a ask[T]) destroy(skip bool, after ...flow.ID) []flow.Task {
	return []flow.Task{
		{ID: a.id + "-delete", Title: "Deleting " + a.title, After: after, Skip: skip, Do: a.remove},
		{ID: a.id + "-delete-wait", Title: "Waiting until " + a.title + " is gone", After: []flow.ID{a.id + "-delete"}, Skip: skip, Do: a.waitGone},
	}
}

// tidy deletes the objects of former pools once nothing needs them any more.
func (a ask[T]) tidy(skip bool, after ...flow.ID) flow.Task {
	return flow.Task{
		ID: a.id + "-stale-delete", Title: "Deleting " + a.title + " of former worker pools", After: after, Skip: skip,
		Do: func(ctx context.Context) error {
			keep, err := a.names()
			if err != nil {
				return err
			}
			return a.removeOthers(ctx, keep)
		},
	}
}

func (a ask[T]) kind() extensions.Kind {
	return extensions.KindOf(*new(T))
}

// each calls do with each object that is asked for, with its identity only, and returns the objects.
func (a ask[T]) each(do func(obj T) error) ([]T, error) {
	names, err := a.names()
	if err != nil {
		return nil, err
	}
	objs := make([]T, 0, len(names))
	for _, name := range names {
		obj, _ := a.kind().New().(T)
		obj.SetNamespace(a.facts.Namespace)
		obj.SetName(name)
		if err := do(obj); err != nil {
			return nil, err
		}
		objs = append(objs, obj)
	}
	return objs, nil
}

func (a ask[T]) apply(ctx context.Context) error {
	_, err := a.each(func(obj T) error {
		return a.extensions().Apply(ctx, obj, a.trigger, func() error { return a.fill(ctx, obj) })
	})
	return err
}

func (a ask[T]) wait(ctx context.Context) error {
	objs, err := a.each(func(obj T) error { return a.extensions().Wait(ctx, obj, a.patienceFor(obj.GetName())) })
	if err != nil || a.answer == nil {
		return err
	}
	return a.answer(ctx, objs)
}

func (a ask[T]) patienceFor(name string) extensions.Patience {
	if a.patience == nil {
		return a.kind().Patience
	}
	return a.patience(name)
}

func (a ask[T]) remove(ctx context.Context) error {
	return a.removeOthers(ctx, a.spared)
}

// removeOthers deletes all objects of the kind that the shoot has, except those to be kept.
func (a ask[T]) removeOthers(ctx context.Context, keep []string) error {
	found, err := a.extensions().List(ctx, a.facts.Namespace, a.kind())
	errs := []error{err}
	for _, obj := range found {
		if !slices.Contains(keep, obj.GetName()) {
			errs = append(errs, a.extensions().Delete(ctx, obj))
		}
	}
	return errors.Join(errs...)
}

func (a ask[T]) waitGone(ctx context.Context) error {
	found, err := a.extensions().List(ctx, a.facts.Namespace, a.kind())
	if err != nil {
		return err
	}
	for _, obj := range found {
		if slices.Contains(a.spared, obj.GetName()) {
			continue
		}
		if err := a.extensions().WaitGone(ctx, obj, a.patienceFor(obj.GetName())); err != nil {
			return err
		}
	}
	return nil
}
