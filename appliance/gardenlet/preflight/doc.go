// SPDX-License-Identifier: Apache-2.0

// Package preflight looks for mistakes before a gardenlet starts to work: a seed whose networks are not those of its
// configuration, and a garden of another age.
package preflight
