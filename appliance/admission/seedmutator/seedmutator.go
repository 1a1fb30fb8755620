// SPDX-License-Identifier: Apache-2.0

// Package seedmutator labels a Seed with its own name and, if it is a Shoot, with the name of the seed of this Shoot.
// Gardenlets select Seeds by these labels (API-SEEDMUT-1).
package seedmutator

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
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

var _ admission.MutationInterface = &rule{}

// Admit sets the labels.
func (r *rule) Admit(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	seed, ok := a.GetObject().(*gardencorev1beta1.Seed)
	if !ok || a.GetSubresource() != "" || seed.Name == "" {
		return nil
	}
	metav1.SetMetaDataLabel(&seed.ObjectMeta, gardencorev1beta1.LabelPrefixSeedName+seed.Name, "true")
	parent, err := parent(ctx, r.world.Cached(), seed.Name)
	if err != nil {
		return world.Answer(a, err)
	}
	if parent != "" {
		metav1.SetMetaDataLabel(&seed.ObjectMeta, gardencorev1beta1.LabelPrefixSeedName+parent, "true")
	}
	return nil
}

// parent returns the name of the seed that runs the shoot of a seed, or an empty string.
func parent(ctx context.Context, v world.View, name string) (string, error) {
	managed, err := world.Get[gardenseedmanagementv1alpha1.ManagedSeed](ctx, v, world.Place{
		Group: gardenseedmanagementv1alpha1.GroupName, Resource: "managedseeds",
		Namespace: gardencorev1beta1.NamespaceGarden, Name: name,
	})
	if apierrors.IsNotFound(err) || err == nil && managed.Spec.Shoot == nil {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read ManagedSeed of seed %q: %w", name, err)
	}
	shoot, err := v.Shoot(ctx, managed.Namespace, managed.Spec.Shoot.Name)
	switch {
	case apierrors.IsNotFound(err):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("read shoot of seed %q: %w", name, err)
	case shoot.Spec.SeedName == nil:
		return "", nil
	}
	return *shoot.Spec.SeedName, nil
}
