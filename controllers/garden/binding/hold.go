// SPDX-License-Identifier: Apache-2.0

package binding

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/garden/inuse"
)

// errNamedAgain says that a binding came while what it names was being released.
var errNamedAgain = errors.New("another binding names the same by now")

// hold puts the finalizer and the labels on what a binding names. Only metadata is read and written: this controller has no
// business with credentials.
func (k Kind) hold(ctx context.Context, world inuse.World, object client.Object) error {
	binding, ok := k.Of(object)
	if !ok {
		return nil
	}
	err := change(ctx, world, binding.Credentials, func(found *metav1.PartialObjectMetadata) { k.Mark(found, binding) })
	if err != nil {
		return err
	}
	for _, quota := range binding.Quotas {
		err := change(ctx, world, quotaReference(quota), func(found *metav1.PartialObjectMetadata) { label(found, k.Label) })
		// A quota that is gone bounds nothing; the credentials are protected all the same.
		if client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	return nil
}

// free undoes hold where no other binding of the kind that stays names the same. What is gone blocks nothing.
func (k Kind) free(ctx context.Context, world inuse.World, object client.Object) error {
	binding, ok := k.Of(object)
	if !ok {
		return nil
	}
	rest, err := k.rest(ctx, world.Reader, binding)
	if err != nil {
		return err
	}
	others, err := k.Others(ctx, world.Reader)
	if err != nil {
		return err
	}
	if err := k.freeCredentials(ctx, world, binding, rest, others); err != nil {
		return err
	}
	for _, quota := range binding.Quotas {
		if slices.ContainsFunc(rest, func(b Binding) bool { return slices.Contains(b.Quotas, quota) }) {
			continue
		}
		err := change(ctx, world, quotaReference(quota), func(found *metav1.PartialObjectMetadata) { delete(found.Labels, k.Label) })
		if client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	// A binding that came in between found everything marked and wrote nothing. The next pass marks it again.
	now, err := k.rest(ctx, world.Reader, binding)
	if err != nil {
		return err
	}
	for _, b := range now {
		if !slices.ContainsFunc(rest, func(r Binding) bool { return r.UID == b.UID }) && b.sharesWith(binding) {
			return fmt.Errorf("release what binding %q names: %w", object.GetName(), errNamedAgain)
		}
	}
	return nil
}

func (k Kind) freeCredentials(ctx context.Context, world inuse.World, binding Binding, rest, others []Binding) error {
	for _, b := range rest {
		if b.Credentials == binding.Credentials {
			err := change(ctx, world, binding.Credentials, func(found *metav1.PartialObjectMetadata) { k.Mark(found, b) })
			return client.IgnoreNotFound(err)
		}
	}
	err := change(ctx, world, binding.Credentials, func(found *metav1.PartialObjectMetadata) { k.Unmark(found, providersOf(binding.Credentials, others)) })
	return client.IgnoreNotFound(err)
}

// rest are the other bindings of the kind that stay.
func (k Kind) rest(ctx context.Context, reader client.Reader, binding Binding) ([]Binding, error) {
	all, err := k.List(ctx, reader)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(b Binding) bool { return b.Leaving || b.UID == binding.UID }), nil
}

func (b Binding) sharesWith(other Binding) bool {
	return b.Credentials == other.Credentials ||
		slices.ContainsFunc(b.Quotas, func(quota types.NamespacedName) bool { return slices.Contains(other.Quotas, quota) })
}

// providersOf are the providers for which some bindings, leaving ones not counted, name credentials.
func providersOf(credentials Reference, all []Binding) []string {
	var providers []string
	for _, b := range all {
		if !b.Leaving && b.Credentials == credentials {
			providers = append(providers, b.Providers...)
		}
	}
	return providers
}

func quotaReference(quota types.NamespacedName) Reference {
	return Reference{APIVersion: gardencorev1beta1.GroupVersion.String(), Kind: "Quota", NamespacedName: quota}
}

// change changes the metadata of an object, if there is something to change.
func change(ctx context.Context, world inuse.World, reference Reference, mutate func(*metav1.PartialObjectMetadata)) error {
	found := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: reference.APIVersion, Kind: reference.Kind}}
	if err := world.Reader.Get(ctx, reference.NamespacedName, found); err != nil {
		return fmt.Errorf("read %s %q: %w", reference.Kind, reference.NamespacedName, err)
	}
	before := found.DeepCopy()
	mutate(found)
	if equality.Semantic.DeepEqual(before, found) {
		return nil
	}
	err := world.Client.Patch(ctx, found, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("mark %s %q: %w", reference.Kind, reference.NamespacedName, err)
	}
	return nil
}
