// SPDX-License-Identifier: Apache-2.0

// Package facts holds what is known of a shoot before a flow begins, as far as its components need it: its objects, its names and
// its networks. Nothing of it changes while a flow runs.
package facts
