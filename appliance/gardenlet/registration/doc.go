// SPDX-License-Identifier: Apache-2.0

// Package registration makes a cluster known to the garden as a seed, and puts right what a gardenlet that died in the
// middle of its work has left there.
package registration
