// SPDX-License-Identifier: Apache-2.0

// Package bootstrap makes the first objects of a garden: its namespaces, who may do what, what everybody may read about
// it, and the identity that it keeps for life. Everything but the identity is brought back to what this version wants
// at each start.
package bootstrap
