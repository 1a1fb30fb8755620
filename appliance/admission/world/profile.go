// SPDX-License-Identifier: Apache-2.0

package world

import (
	"context"
	"fmt"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// ProfileOf returns the offer of a shoot's profile, which is one of the garden or of the shoot's project; the offer of the
// latter, including that of its parent, is in its status. It is nil if the shoot names no profile, which static validation
// rejects.
func (v View) ProfileOf(
	ctx context.Context, s *gardencorev1beta1.ShootSpec, namespace string,
) (*gardencorev1beta1.CloudProfile, error) {
	ref := query.ProfileReference(s)
	if ref == nil {
		return nil, nil //nolint:nilnil // A shoot may name no profile.
	}
	switch ref.Kind {
	case gardencorev1beta1.CloudProfileReferenceKindCloudProfile:
		profile, err := v.CloudProfile(ctx, ref.Name)
		return profile, Missing(err, "spec.cloudProfile", ref.Kind, ref.Name)
	case gardencorev1beta1.CloudProfileReferenceKindNamespacedCloudProfile:
		return v.merged(ctx, namespace, ref.Name)
	default:
		return nil, fmt.Errorf("spec.cloudProfile.kind: %q is not a kind of profile; use %s or %s", ref.Kind,
			gardencorev1beta1.CloudProfileReferenceKindCloudProfile,
			gardencorev1beta1.CloudProfileReferenceKindNamespacedCloudProfile)
	}
}

// NamespacedCloudProfile reads a NamespacedCloudProfile.
func (v View) NamespacedCloudProfile(
	ctx context.Context, namespace, name string,
) (*gardencorev1beta1.NamespacedCloudProfile, error) {
	return Get[gardencorev1beta1.NamespacedCloudProfile](ctx, v, Place{
		Group: gardencorev1beta1.GroupName, Resource: "namespacedcloudprofiles", Namespace: namespace, Name: name,
	})
}

func (v View) merged(ctx context.Context, namespace, name string) (*gardencorev1beta1.CloudProfile, error) {
	profile, err := v.NamespacedCloudProfile(ctx, namespace, name)
	if err != nil {
		return nil, Missing(err, "spec.cloudProfile",
			gardencorev1beta1.CloudProfileReferenceKindNamespacedCloudProfile, namespace+"/"+name)
	}
	return query.Offer(profile), nil
}
