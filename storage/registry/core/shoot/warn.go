// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"time"

	"k8s.io/utils/clock"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	words "github.com/terrarium-garden/terrarium/apis/core/warning"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

// warning warns of deprecated fields and of credentials that should be rotated (API-WARN-1).
func warning(r kind.Rules[*gardencorev1beta1.Shoot], clk clock.PassiveClock, rotation time.Duration) kind.Rules[*gardencorev1beta1.Shoot] {
	r.Warn = func(obj, old *gardencorev1beta1.Shoot) []string {
		return words.Shoot(obj, old, clk.Now(), rotation)
	}
	return r
}
