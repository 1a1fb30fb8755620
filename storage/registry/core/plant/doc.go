// SPDX-License-Identifier: Apache-2.0

// Package plant keeps Plants: external clusters that the garden only monitors.
package plant
