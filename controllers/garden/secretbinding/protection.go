// SPDX-License-Identifier: Apache-2.0

package secretbinding

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/garden/inuse"
)

// Protection protects SecretBindings, and their Secrets, from being deleted under a Shoot.
func Protection() inuse.Protection {
	return inuse.Protection{
		Name:       "secretbinding",
		New:        func() client.Object { return &gardencorev1beta1.SecretBinding{} },
		Finalizer:  gardencorev1beta1.FinalizerGardener,
		EventType:  corev1.EventTypeWarning,
		References: references,
		Releases:   []inuse.Release{{Object: &gardencorev1beta1.Shoot{}, Of: bindings}},
		Hold:       hold,
		Free:       free,
	}
}

func references(ctx context.Context, reader client.Reader, binding client.Object) ([]string, error) {
	shoots := &gardencorev1beta1.ShootList{}
	if err := reader.List(ctx, shoots, client.InNamespace(binding.GetNamespace())); err != nil {
		return nil, fmt.Errorf("list shoots of %q: %w", binding.GetNamespace(), err)
	}
	return Users(binding.GetName(), shoots.Items), nil
}

// Users names the shoots, all of one namespace, that use the binding.
func Users(binding string, shoots []gardencorev1beta1.Shoot) []string {
	var users []string
	for i := range shoots {
		if name := shoots[i].Spec.SecretBindingName; name != nil && *name == binding {
			users = append(users, inuse.Name("Shoot", &shoots[i]))
		}
	}
	return users
}

func bindings(object client.Object) []types.NamespacedName {
	shoot, ok := object.(*gardencorev1beta1.Shoot)
	if !ok || shoot.Spec.SecretBindingName == nil {
		return nil
	}
	return []types.NamespacedName{{Namespace: shoot.Namespace, Name: *shoot.Spec.SecretBindingName}}
}
