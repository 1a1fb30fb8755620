// SPDX-License-Identifier: Apache-2.0

package cloudprofile

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/garden/inuse"
)

// Protection protects CloudProfiles from being deleted under a Shoot or a NamespacedCloudProfile.
func Protection() inuse.Protection {
	return inuse.Protection{
		Name:       "cloudprofile",
		New:        func() client.Object { return &gardencorev1beta1.CloudProfile{} },
		Finalizer:  gardencorev1beta1.FinalizerGardener,
		References: references,
		Releases: []inuse.Release{
			{Object: &gardencorev1beta1.NamespacedCloudProfile{}, Of: parents}, {Object: &gardencorev1beta1.Shoot{}, Of: profiles},
		},
	}
}

func references(ctx context.Context, reader client.Reader, profile client.Object) ([]string, error) {
	additions := &gardencorev1beta1.NamespacedCloudProfileList{}
	if err := reader.List(ctx, additions); err != nil {
		return nil, fmt.Errorf("list namespaced cloud profiles: %w", err)
	}
	if children := Children(profile.GetName(), additions.Items); len(children) > 0 {
		return children, nil
	}
	shoots := &gardencorev1beta1.ShootList{}
	if err := reader.List(ctx, shoots); err != nil {
		return nil, fmt.Errorf("list shoots: %w", err)
	}
	return Users(profile.GetName(), shoots.Items), nil
}

// Children names the profiles of projects that extend the profile.
func Children(profile string, additions []gardencorev1beta1.NamespacedCloudProfile) []string {
	var children []string
	for i := range additions {
		if additions[i].Spec.Parent.Name == profile {
			children = append(children, inuse.Name("NamespacedCloudProfile", &additions[i]))
		}
	}
	return children
}

func parents(object client.Object) []types.NamespacedName {
	if addition, ok := object.(*gardencorev1beta1.NamespacedCloudProfile); ok {
		return []types.NamespacedName{{Name: addition.Spec.Parent.Name}}
	}
	return nil
}

// Users names the shoots that use the profile.
func Users(profile string, shoots []gardencorev1beta1.Shoot) []string {
	var users []string
	for i := range shoots {
		if uses(&shoots[i], profile) {
			users = append(users, inuse.Name("Shoot", &shoots[i]))
		}
	}
	return users
}

func uses(shoot *gardencorev1beta1.Shoot, profile string) bool {
	name, ok := named(shoot)
	return ok && name == profile
}

// named is the name of the profile of a shoot that uses one of the garden.
func named(shoot *gardencorev1beta1.Shoot) (string, bool) {
	ref := query.ProfileReference(&shoot.Spec)
	if ref == nil || ref.Kind == gardencorev1beta1.CloudProfileReferenceKindNamespacedCloudProfile {
		return "", false
	}
	return ref.Name, true
}

func profiles(object client.Object) []types.NamespacedName {
	shoot, ok := object.(*gardencorev1beta1.Shoot)
	if !ok {
		return nil
	}
	if name, ok := named(shoot); ok {
		return []types.NamespacedName{{Name: name}}
	}
	return nil
}
