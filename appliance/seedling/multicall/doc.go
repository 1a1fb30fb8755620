// SPDX-License-Identifier: Apache-2.0

// Package multicall combines several programs in one binary. The name by which the binary is called, or else its first
// argument, selects the program.
package multicall
