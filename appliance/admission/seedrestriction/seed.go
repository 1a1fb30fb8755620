// SPDX-License-Identifier: Apache-2.0

package seedrestriction

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/reach"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
	"github.com/terrarium-garden/terrarium/appliance/authorization/graph"
	"github.com/terrarium-garden/terrarium/appliance/authorization/references"
)

// ownSeed allows a client of a seed to write its own Seed and no other. It may add references to objects that were given to
// the seed; existing references were checked before, or were written by an operator (GAC-SR-11).
func ownSeed(ctx context.Context, r *request) error {
	if r.GetName() != r.client.Seed {
		return fmt.Errorf("metadata.name: must be %q", r.client.Seed)
	}
	seed, old, err := world.Objects[gardencorev1beta1.Seed](r.Attributes, r.kinds)
	if err != nil {
		return err
	}
	named := references.NamedBySeed(&seed.Spec)
	var known domains
	if old != nil {
		known = old.Spec.DNS.Defaults
		before := references.NamedBySeed(&old.Spec)
		named = slices.DeleteFunc(named, func(v graph.Vertex) bool { return slices.Contains(before, v) })
	}

	if err := r.mayName(ctx, named); err != nil {
		return err
	}

	return r.givenDomains(ctx, seed.Spec.DNS.Defaults, known)
}

// deleteSeed allows a client to delete its own Seed, and that of a ManagedSeed in deletion on its seed (GAC-SR-11).
func deleteSeed(ctx context.Context, r *request) error {
	if r.GetName() == r.client.Seed {
		return nil
	}
	managed, err := r.managedSeed(ctx, gardencorev1beta1.NamespaceGarden, r.GetName())
	if err != nil {
		return r.elsewhere(err, "metadata.name", "managed seed", r.GetName())
	}
	if err := r.ownManagedSeed(ctx, "metadata.name", managed); err != nil {
		return err
	}
	if managed.DeletionTimestamp == nil {
		return fmt.Errorf("managed seed %q is not being deleted; delete it first", managed.Name)
	}

	return nil
}

func (r *request) managedSeed(ctx context.Context, namespace, name string) (*gardenseedmanagementv1alpha1.ManagedSeed, error) {
	return world.Get[gardenseedmanagementv1alpha1.ManagedSeed](ctx, r.View, world.Place{
		Group: gardenseedmanagementv1alpha1.GroupName, Resource: "managedseeds", Namespace: namespace, Name: name,
	})
}

// ownManagedSeed allows objects of a managed seed whose shoot runs on this seed.
func (r *request) ownManagedSeed(ctx context.Context, path string, m *gardenseedmanagementv1alpha1.ManagedSeed) error {
	if m.Spec.Shoot == nil {
		return r.elsewhere(nil, path, "managed seed", m.Name)
	}
	shoot, err := r.Shoot(ctx, m.Namespace, m.Spec.Shoot.Name)
	if err == nil && r.has(shoot.Spec.SeedName) {
		return nil
	}

	return r.elsewhere(err, path, "managed seed", m.Name)
}

// joins checks that a managed seed can be bootstrapped: its Seed does not exist, its certificate has expired, or a renewal was
// requested (GAC-SR-15).
func (r *request) joins(ctx context.Context, namespace, name string) error {
	managed, err := r.managedSeed(ctx, namespace, name)
	if err != nil {
		return r.elsewhere(err, "metadata.name", "managed seed", name)
	}
	if err := r.ownManagedSeed(ctx, "metadata.name", managed); err != nil {
		return err
	}
	seed, err := r.Seed(ctx, name)
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("read seed %q: %w", name, err)
	}
	if apierrors.IsNotFound(err) {
		seed = nil
	}
	if !references.Joins(managed, seed, r.Clock.Now()) {
		return fmt.Errorf("managed seed %q %w", namespace+"/"+name, errBootstrapped)
	}

	return nil
}

func updateManagedSeed(ctx context.Context, r *request) error {
	managed, old, err := world.Objects[gardenseedmanagementv1alpha1.ManagedSeed](r.Attributes, r.kinds)
	if err != nil {
		return err
	}
	if err := reach.SameOwners(managed, old); err != nil {
		return err
	}
	if err := noNewVertices(templateNames(managed), templateNames(old)); err != nil {
		return err
	}

	err = r.givenDomains(ctx, templateDomains(references.SeedTemplate(managed)), templateDomains(references.SeedTemplate(old)))
	if err != nil {
		return err
	}

	return noNewNames(references.ManagedSeed(managed, false), references.ManagedSeed(old, false))
}

// updateInstallation allows changes of installations of the client's seed that stay there. It rejects new references, by
// which a seed would get access to other charts and their pull Secrets.
func updateInstallation(_ context.Context, r *request) error {
	installation, old, err := world.Objects[gardencorev1beta1.ControllerInstallation](r.Attributes, r.kinds)
	if err != nil {
		return err
	}
	for _, i := range []*gardencorev1beta1.ControllerInstallation{old, installation} {
		if err := r.mine("spec.seedRef", seedOf(i)); err != nil {
			return err
		}
	}
	if err := reach.SameOwners(installation, old); err != nil {
		return err
	}

	return noNewNames(references.ControllerInstallation(installation), references.ControllerInstallation(old))
}

// seedOf returns the seed of an installation; nil if it is on none.
func seedOf(i *gardencorev1beta1.ControllerInstallation) *string {
	if i.Spec.SeedRef == nil {
		return nil
	}

	return &i.Spec.SeedRef.Name
}

// createGardenlet allows a gardenlet to create its own Gardenlet (GAC-SR-13).
func createGardenlet(_ context.Context, r *request) error {
	if r.GetNamespace() != gardencorev1beta1.NamespaceGarden || r.GetName() != r.client.Seed {
		return fmt.Errorf("metadata.name: must be %s/%s", gardencorev1beta1.NamespaceGarden, r.client.Seed)
	}

	return nil
}
