// SPDX-License-Identifier: Apache-2.0

package query

import (
	"cmp"

	"k8s.io/utils/ptr"
)

// ResponsibleSeed returns the name of the seed whose gardenlet acts on an object: the one in its status, or else the one in its spec. It is
// empty if there is none.
func ResponsibleSeed(spec, status *string) string {
	return cmp.Or(ptr.Deref(status, ""), ptr.Deref(spec, ""))
}
