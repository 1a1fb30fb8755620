// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"

	"github.com/terrarium-garden/terrarium/apis/extensions"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/extension"
	"github.com/terrarium-garden/terrarium/controllers/flow"
)

// ask is an extension object of which a shoot has one: what is asked of the extension, and the tasks around it.
type ask[T gardenextensionsv1alpha1.Object] struct {
	ground

	// id and title name the tasks.
	id    flow.ID
	title string
	// object makes the object with its identity only.
	object func() T
	// trigger says when the extension is to act; the zero value is always.
	trigger extension.Trigger
	// fill writes the spec.
	fill func(ctx context.Context, obj T) error
	// answer takes over what the extension has found; nil takes nothing.
	answer func(ctx context.Context, obj T) error
	// reads are the values that fill takes, sets those that answer hands on.
	reads, sets []flow.Slot
}

// deploy writes the object and waits for the extension, in two tasks.
func (a ask[T]) deploy(skip bool, after ...flow.ID) []flow.Task {
	return []flow.Task{
		{ID: a.id, Title: "Deploying " + a.title, After: after, Reads: a.reads, Skip: skip, Do: a.apply},
		{ID: a.id + "-wait", Title: "Waiting for " + a.title, After: []flow.ID{a.id}, Sets: a.sets, Skip: skip, Do: a.wait},
	}
}

// destroy deletes it and waits for the extension, in two tasks.
func (a ask[T]) destroy(skip bool, after ...flow.ID) []flow.Task {
	return a.removal(extensions.KindOf(a.object()).Name, a.id, a.title, skip, after...)
}

func (a ask[T]) apply(ctx context.Context) error {
	obj := a.object()
	return a.extensions().Apply(ctx, obj, a.trigger, func() error { return a.fill(ctx, obj) })
}

func (a ask[T]) wait(ctx context.Context) error {
	obj := a.object()
	if err := a.extensions().Wait(ctx, obj, extensions.KindOf(obj).Patience); err != nil || a.answer == nil {
		return err
	}
	return a.answer(ctx, obj)
}
