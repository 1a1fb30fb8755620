// SPDX-License-Identifier: Apache-2.0

// Package multicall lets one binary be many programs: the name it was called by, or else its first
// argument, says which one it is this time.
package multicall
