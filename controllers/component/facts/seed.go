// SPDX-License-Identifier: Apache-2.0

package facts

import gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"

// Seed is what components are told of the seed that they belong to.
type Seed struct {
	// Seed is as it was read; it is not nil.
	Seed *gardencorev1beta1.Seed
}
