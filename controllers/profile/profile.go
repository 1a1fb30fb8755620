// SPDX-License-Identifier: Apache-2.0

// Package profile reads the cloud profile of a shoot, which is one of the garden or one of the shoot's project.
package profile

import (
	"context"
	"errors"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

var (
	// ErrNone says that a shoot names no cloud profile.
	ErrNone = errors.New("the shoot names no cloud profile: set spec.cloudProfile")
	// ErrKind says that a reference is not to a cloud profile.
	ErrKind = errors.New("this is not a kind of cloud profile")
	// ErrNotMerged says that the status of a project's profile does not contain its offer yet. The garden is about to write it.
	ErrNotMerged = errors.New("the profile is not merged with its parent yet")
)

// Of reads the profile of a shoot. That of a project includes the offer of its parent.
func Of(ctx context.Context, reader client.Reader, shoot *gardencorev1beta1.Shoot) (*gardencorev1beta1.CloudProfile, error) {
	ref := query.ProfileReference(&shoot.Spec)
	if ref == nil {
		return nil, fmt.Errorf("shoot %q: %w", shoot.Name, ErrNone)
	}
	switch ref.Kind {
	case gardencorev1beta1.CloudProfileReferenceKindCloudProfile:
		found := &gardencorev1beta1.CloudProfile{}
		if err := reader.Get(ctx, client.ObjectKey{Name: ref.Name}, found); err != nil {
			return nil, fmt.Errorf("get cloud profile %q: %w", ref.Name, err)
		}
		return found, nil
	case gardencorev1beta1.CloudProfileReferenceKindNamespacedCloudProfile:
		found := &gardencorev1beta1.NamespacedCloudProfile{}
		key := client.ObjectKey{Namespace: shoot.Namespace, Name: ref.Name}
		if err := reader.Get(ctx, key, found); err != nil {
			return nil, fmt.Errorf("get namespaced cloud profile %q: %w", key, err)
		}
		if found.Status.ObservedGeneration == 0 {
			return nil, fmt.Errorf("namespaced cloud profile %q: %w", key, ErrNotMerged)
		}
		return query.Offer(found), nil
	default:
		return nil, fmt.Errorf("cloud profile %q of kind %q: %w", ref.Name, ref.Kind, ErrKind)
	}
}
