// SPDX-License-Identifier: Apache-2.0

package shootvalidator

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

// checkProfileFamily checks that the profile of a shoot changes only between a CloudProfile and the profiles that the
// shoot's project derived from it (API-SHOOTSTRAT-9).
func checkProfileFamily(ctx context.Context, v world.View, q request) error {
	if q.create || equality.Semantic.DeepEqual(q.shoot.Spec.CloudProfile, q.old.Spec.CloudProfile) {
		return nil
	}
	was, err := parent(ctx, v, &q.old.Spec, q.shoot.Namespace)
	if err != nil {
		return err
	}
	is, err := parent(ctx, v, &q.shoot.Spec, q.shoot.Namespace)
	if err != nil || was == "" || is == was {
		return err
	}
	return fmt.Errorf("spec.cloudProfile: a shoot of CloudProfile %q, or of one derived from it, cannot change to CloudProfile %q", was, is)
}

// parent returns the name of the CloudProfile that a shoot uses directly or through a profile derived from it.
func parent(ctx context.Context, v world.View, s *gardencorev1beta1.ShootSpec, namespace string) (string, error) {
	const derived = gardencorev1beta1.CloudProfileReferenceKindNamespacedCloudProfile
	if s.CloudProfile == nil || s.CloudProfile.Kind != derived {
		return query.ProfileName(s), nil
	}
	profile, err := v.NamespacedCloudProfile(ctx, namespace, s.CloudProfile.Name)
	if err != nil {
		return "", world.Missing(err, "spec.cloudProfile", derived, namespace+"/"+s.CloudProfile.Name)
	}
	return profile.Spec.Parent.Name, nil
}
