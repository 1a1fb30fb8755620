// SPDX-License-Identifier: Apache-2.0

package resourcereference

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apiserver/pkg/admission"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// cloudProfile keeps versions in the profile that shoots use (API-RRM-10).
func (r *rule) cloudProfile(ctx context.Context, a admission.Attributes, p *gardencorev1beta1.CloudProfile) error {
	old, ok := a.GetOldObject().(*gardencorev1beta1.CloudProfile)
	if !ok {
		return nil
	}
	gone := subtract(offers(old), offers(p))
	if len(gone) == 0 {
		return nil
	}
	shoots, err := r.world.Shoots(ctx, "", fields.Everything())
	if err != nil {
		return fmt.Errorf("list shoots: %w", err)
	}
	var errs []error
	for i := range shoots {
		s := &shoots[i]
		if s.DeletionTimestamp != nil || profile(s) != p.Name {
			continue
		}
		for _, used := range uses(s) {
			if gone[used] {
				errs = append(errs, fmt.Errorf("%s can not be taken away: shoot %s/%s uses it", used, s.Namespace, s.Name))
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

func uses(s *gardencorev1beta1.Shoot) []string {
	all := []string{"Kubernetes version " + s.Spec.Kubernetes.Version}
	for _, w := range s.Spec.Provider.Workers {
		if w.Machine.Image != nil && w.Machine.Image.Version != nil {
			all = append(all, "machine image "+w.Machine.Image.Name+" "+*w.Machine.Image.Version)
		}
		if w.Kubernetes != nil && w.Kubernetes.Version != nil {
			all = append(all, "Kubernetes version "+*w.Kubernetes.Version)
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
