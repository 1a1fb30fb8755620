// SPDX-License-Identifier: Apache-2.0

// Package garden lists the controllers of the garden. Each has a folder of its own below this one; the scheduler, which
// anybody may replace, stands beside it.
package garden
