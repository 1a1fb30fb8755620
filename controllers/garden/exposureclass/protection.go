// SPDX-License-Identifier: Apache-2.0

package exposureclass

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/garden/inuse"
)

// Protection protects ExposureClasses from being deleted under a Shoot.
func Protection() inuse.Protection {
	return inuse.Protection{
		Name:       "exposureclass",
		New:        func() client.Object { return &gardencorev1beta1.ExposureClass{} },
		Finalizer:  gardencorev1beta1.FinalizerGardener,
		References: references,
		Releases:   []inuse.Release{{Object: &gardencorev1beta1.Shoot{}, Of: classes}},
	}
}

func references(ctx context.Context, reader client.Reader, class client.Object) ([]string, error) {
	shoots := &gardencorev1beta1.ShootList{}
	if err := reader.List(ctx, shoots); err != nil {
		return nil, fmt.Errorf("list shoots: %w", err)
	}
	return Users(class.GetName(), shoots.Items), nil
}

// Users names the shoots that use the class.
func Users(class string, shoots []gardencorev1beta1.Shoot) []string {
	var users []string
	for i := range shoots {
		if name := shoots[i].Spec.ExposureClassName; name != nil && *name == class {
			users = append(users, inuse.Name("Shoot", &shoots[i]))
		}
	}
	return users
}

func classes(object client.Object) []types.NamespacedName {
	shoot, ok := object.(*gardencorev1beta1.Shoot)
	if !ok || shoot.Spec.ExposureClassName == nil {
		return nil
	}
	return []types.NamespacedName{{Name: *shoot.Spec.ExposureClassName}}
}
