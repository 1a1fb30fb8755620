// SPDX-License-Identifier: Apache-2.0

package query

import gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"

// PrimaryResource reports whether an extension is the primary controller of a kind and type.
func PrimaryResource(r gardencorev1beta1.ControllerResource) bool {
	return r.Primary == nil || *r.Primary
}
