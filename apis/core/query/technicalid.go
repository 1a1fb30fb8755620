// SPDX-License-Identifier: Apache-2.0

package query

import (
	"strings"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// TechnicalID returns the name of a shoot in its seed. The name of its namespace there is the same.
func TechnicalID(project, shoot string) string {
	return gardencorev1beta1.NamespacePrefixShoot + project + "--" + shoot
}

// IsTechnicalID reports whether a name is the technical ID of a shoot in some project. It is for callers that do not know the project.
func IsTechnicalID(id, shoot string) bool {
	project, prefixed := strings.CutPrefix(id, gardencorev1beta1.NamespacePrefixShoot)
	project, named := strings.CutSuffix(project, "--"+shoot)
	return prefixed && named && project != "" && !strings.Contains(project, "--")
}
