// SPDX-License-Identifier: Apache-2.0

package extensions

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/garden/seed/check"
)

// Check judges a seed by its extensions (GCM-SEEDEXT-1).
func Check() check.Check {
	return check.Check{
		Name:      "seed-extensions",
		Condition: gardencorev1beta1.ConditionTypeExtensionsReady,
		Judge:     judge,
		Object:    &gardencorev1beta1.ControllerInstallation{},
		SeedOf:    seedOf,
		Facts: func(object client.Object) any {
			installation, ok := object.(*gardencorev1beta1.ControllerInstallation)
			if !ok {
				return nil
			}
			return installation.Status.Conditions
		},
	}
}

func seedOf(object client.Object) string {
	installation, ok := object.(*gardencorev1beta1.ControllerInstallation)
	if !ok || installation.Spec.SeedRef == nil {
		return ""
	}
	return installation.Spec.SeedRef.Name
}

func judge(ctx context.Context, reader client.Reader, seed *gardencorev1beta1.Seed) (*gardencorev1beta1.Condition, error) {
	list := &gardencorev1beta1.ControllerInstallationList{}
	if err := reader.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list controller installations: %w", err)
	}
	var installations []gardencorev1beta1.ControllerInstallation
	for i := range list.Items {
		if seedOf(&list.Items[i]) == seed.Name {
			installations = append(installations, list.Items[i])
		}
	}
	found := Decide(installations)
	return &found, nil
}
