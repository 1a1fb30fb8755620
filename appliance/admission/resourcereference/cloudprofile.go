// SPDX-License-Identifier: Apache-2.0

package resourcereference

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/fields"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

// cloudProfile keeps versions in the profile that shoots use (API-RRM-10).
func cloudProfile(ctx context.Context, v world.View, p, old *gardencorev1beta1.CloudProfile) error {
	gone := subtract(offers(old), offers(p))
	if len(gone) == 0 {
		return nil
	}
	selector := fields.OneTermEqualSelector(gardencorev1beta1.FieldShootCloudProfileRefName, p.Name)
	shoots, err := v.Shoots(ctx, "", selector)
	if err != nil {
		return fmt.Errorf("list shoots of the profile: %w", err)
	}
	var errs []error
	for i := range shoots {
		s := &shoots[i]
		ref := s.Spec.CloudProfile
		if s.DeletionTimestamp != nil || ref == nil || ref.Kind != gardencorev1beta1.CloudProfileReferenceKindCloudProfile {
			continue
		}
		for _, used := range uses(s) {
			if gone[used.version] {
				errs = append(errs, fmt.Errorf("%s can not be taken away: shoot %s/%s%s uses it", used.version, s.Namespace, s.Name, used.pool))
			}
		}
	}
	return errors.Join(errs...)
}

func offers(p *gardencorev1beta1.CloudProfile) map[string]bool {
	all := map[string]bool{}
	for _, v := range p.Spec.Kubernetes.Versions {
		all["Kubernetes version "+v.Version] = true
	}
	for _, image := range p.Spec.MachineImages {
		for _, v := range image.Versions {
			all["machine image "+image.Name+" "+v.Version] = true
		}
	}
	return all
}

// use is a version that a shoot, or a pool of it, runs.
type use struct{ version, pool string }

func uses(s *gardencorev1beta1.Shoot) []use {
	all := []use{{version: "Kubernetes version " + s.Spec.Kubernetes.Version}}
	for _, w := range s.Spec.Provider.Workers {
		pool := fmt.Sprintf(" (worker pool %q)", w.Name)
		if w.Machine.Image != nil && w.Machine.Image.Version != nil {
			all = append(all, use{"machine image " + w.Machine.Image.Name + " " + *w.Machine.Image.Version, pool})
		}
		if w.Kubernetes != nil && w.Kubernetes.Version != nil {
			all = append(all, use{"Kubernetes version " + *w.Kubernetes.Version, pool})
		}
	}
	return all
}

func subtract(a, b map[string]bool) map[string]bool {
	rest := map[string]bool{}
	for k := range a {
		if !b[k] {
			rest[k] = true
		}
	}
	return rest
}
