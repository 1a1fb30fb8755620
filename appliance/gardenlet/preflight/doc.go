// SPDX-License-Identifier: Apache-2.0

// Package preflight checks, before a gardenlet starts its work, whether the networks of the seed match the configuration, and
// whether the version of the garden is supported.
package preflight
