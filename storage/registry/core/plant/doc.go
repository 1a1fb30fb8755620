// SPDX-License-Identifier: Apache-2.0

// Package plant keeps Plants: clusters from elsewhere that the garden only watches.
package plant
