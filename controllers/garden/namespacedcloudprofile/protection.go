// SPDX-License-Identifier: Apache-2.0

package namespacedcloudprofile

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/garden/inuse"
)

// Protection protects NamespacedCloudProfiles from being deleted under a Shoot.
func Protection() inuse.Protection {
	return inuse.Protection{
		Name:       "namespacedcloudprofile",
		New:        func() client.Object { return &gardencorev1beta1.NamespacedCloudProfile{} },
		Finalizer:  gardencorev1beta1.FinalizerGardener,
		References: references,
		Releases:   []inuse.Release{{Object: &gardencorev1beta1.Shoot{}, Of: profiles}},
	}
}

func references(ctx context.Context, reader client.Reader, profile client.Object) ([]string, error) {
	shoots := &gardencorev1beta1.ShootList{}
	if err := reader.List(ctx, shoots, client.InNamespace(profile.GetNamespace())); err != nil {
		return nil, fmt.Errorf("list shoots of %q: %w", profile.GetNamespace(), err)
	}
	return Users(profile.GetName(), shoots.Items), nil
}

// Users names the shoots, all of one namespace, that use the profile.
func Users(profile string, shoots []gardencorev1beta1.Shoot) []string {
	var users []string
	for i := range shoots {
		for _, key := range profiles(&shoots[i]) {
			if key.Name == profile {
				users = append(users, inuse.Name("Shoot", &shoots[i]))
			}
		}
	}
	return users
}

func profiles(object client.Object) []types.NamespacedName {
	shoot, ok := object.(*gardencorev1beta1.Shoot)
	if !ok {
		return nil
	}
	ref := query.ProfileReference(&shoot.Spec)
	if ref == nil || ref.Kind != gardencorev1beta1.CloudProfileReferenceKindNamespacedCloudProfile {
		return nil
	}
	return []types.NamespacedName{{Namespace: shoot.Namespace, Name: ref.Name}}
}
