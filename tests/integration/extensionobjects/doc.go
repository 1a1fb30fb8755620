// SPDX-License-Identifier: Apache-2.0

// Package extensionobjects tests which extension objects an API server takes, with the definitions and the policy that a gardenlet
// applies to its seed.
package extensionobjects
