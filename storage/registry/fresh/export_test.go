// SPDX-License-Identifier: Apache-2.0

package fresh

// Ruled leaves the watch caches of a getter as they are.
var Ruled = ruled
