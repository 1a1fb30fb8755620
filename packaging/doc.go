// SPDX-License-Identifier: Apache-2.0

// Package packaging holds what is shipped beside the code: the image vector, charts, units and example manifests. It gives
// them to the packages that cannot embed files from outside of their own folder.
package packaging
