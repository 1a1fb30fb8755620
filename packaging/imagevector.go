// SPDX-License-Identifier: Apache-2.0

package packaging

import _ "embed"

//go:embed imagevector.yaml
var imageVector []byte

// ImageVector returns the list of container images that this version was made with.
func ImageVector() []byte {
	return imageVector
}
