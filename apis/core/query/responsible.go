// SPDX-License-Identifier: Apache-2.0

package query

import (
	"cmp"

	"k8s.io/utils/ptr"
)

// ResponsibleSeed returns the name of the seed whose gardenlet acts on an object: the one in its status while the object moves, or else the
// one in its spec. It is empty for an object without a seed in its spec (GLET-SHOOT-2).
func ResponsibleSeed(spec, status *string) string {
	if ptr.Deref(spec, "") == "" {
		return ""
	}
	return cmp.Or(ptr.Deref(status, ""), *spec)
}
