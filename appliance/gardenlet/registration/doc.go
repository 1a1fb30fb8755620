// SPDX-License-Identifier: Apache-2.0

// Package registration registers a cluster as a Seed in the garden, and aborts the operations of a gardenlet process that died.
package registration
