// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"testing"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/core/validation"
)

// BenchmarkValidateShootUpdate is what every write of a shoot pays for being judged.
func BenchmarkValidateShootUpdate(b *testing.B) {
	old := shoot(func(s *gardencorev1beta1.Shoot) {
		s.Spec.Kubernetes.KubeAPIServer = &gardencorev1beta1.KubeAPIServerConfig{
			AdmissionPlugins: []gardencorev1beta1.AdmissionPlugin{{Name: "PodNodeSelector"}},
		}
		s.Spec.Kubernetes.KubeAPIServer.FeatureGates = map[string]bool{"NodeSwap": true}
	})
	gardencorev1beta1.SetDefaultsShoot(old)
	now := old.DeepCopy()
	now.Spec.Purpose = new(gardencorev1beta1.ShootPurposeTesting)
	b.ReportAllocs()
	for b.Loop() {
		if errs := validation.ValidateShootUpdate(now, old); len(errs) > 0 {
			b.Fatal(errs.ToAggregate())
		}
	}
}
