// SPDX-License-Identifier: Apache-2.0

// Package validation holds the checks on a Garden alone. What a Garden from before a section existed leaves out altogether
// is accepted, because the garden knows it by itself; what it says must be right.
package validation
