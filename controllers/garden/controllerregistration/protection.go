// SPDX-License-Identifier: Apache-2.0

package controllerregistration

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/garden/inuse"
)

// Protection protects ControllerRegistrations while they are installed somewhere (GCM-CRFIN-1).
func Protection() inuse.Protection {
	return inuse.Protection{
		Name:      "controllerregistration-finalizer",
		New:       func() client.Object { return &gardencorev1beta1.ControllerRegistration{} },
		Finalizer: gardencorev1beta1.FinalizerControllerRegistration,
		References: func(ctx context.Context, reader client.Reader, registration client.Object) ([]string, error) {
			return installationsWith(ctx, reader, gardencorev1beta1.FieldRegistrationRefName, registration.GetName())
		},
		Releases: []inuse.Release{{Object: &gardencorev1beta1.ControllerInstallation{}, Of: registrationOf}},
	}
}

// SeedProtection protects Seeds while an extension is installed on them (GCM-CRFIN-2) or a Shoot names them.
func SeedProtection() inuse.Protection {
	return inuse.Protection{
		Name:       "seed-finalizer",
		New:        func() client.Object { return &gardencorev1beta1.Seed{} },
		Finalizer:  gardencorev1beta1.FinalizerControllerRegistration,
		References: seedReferences,
		Releases: []inuse.Release{
			{Object: &gardencorev1beta1.ControllerInstallation{}, Of: seedOfInstallationKey},
			{Object: &gardencorev1beta1.Shoot{}, Of: seedsOfShootKeys},
		},
	}
}

func seedReferences(ctx context.Context, reader client.Reader, seed client.Object) ([]string, error) {
	references, err := installationsWith(ctx, reader, gardencorev1beta1.FieldSeedRefName, seed.GetName())
	if err != nil {
		return nil, err
	}
	shoots := &gardencorev1beta1.ShootList{}
	if err := reader.List(ctx, shoots); err != nil {
		return nil, fmt.Errorf("list shoots: %w", err)
	}
	for i := range shoots.Items {
		if query.OnSeed(&shoots.Items[i], seed.GetName()) {
			references = append(references, inuse.Name("Shoot", &shoots.Items[i]))
		}
	}
	return references, nil
}

func installationsWith(ctx context.Context, reader client.Reader, field, value string) ([]string, error) {
	installations := &gardencorev1beta1.ControllerInstallationList{}
	if err := reader.List(ctx, installations, client.MatchingFields{field: value}); err != nil {
		return nil, fmt.Errorf("list controller installations: %w", err)
	}
	names := make([]string, 0, len(installations.Items))
	for i := range installations.Items {
		names = append(names, inuse.Name("ControllerInstallation", &installations.Items[i]))
	}
	return names, nil
}

func registrationOf(object client.Object) []types.NamespacedName {
	installation, ok := object.(*gardencorev1beta1.ControllerInstallation)
	if !ok {
		return nil
	}
	return []types.NamespacedName{{Name: installation.Spec.RegistrationRef.Name}}
}

func seedOfInstallationKey(object client.Object) []types.NamespacedName {
	installation, ok := object.(*gardencorev1beta1.ControllerInstallation)
	if !ok || installation.Spec.SeedRef == nil {
		return nil
	}
	return []types.NamespacedName{{Name: installation.Spec.SeedRef.Name}}
}

func seedsOfShootKeys(object client.Object) []types.NamespacedName {
	shoot, ok := object.(*gardencorev1beta1.Shoot)
	if !ok {
		return nil
	}
	var keys []types.NamespacedName
	for _, name := range []*string{shoot.Spec.SeedName, shoot.Status.SeedName} {
		if name != nil {
			keys = append(keys, types.NamespacedName{Name: *name})
		}
	}
	return keys
}
