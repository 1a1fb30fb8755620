// SPDX-License-Identifier: Apache-2.0

// Package garden keeps the Garden: what an operator says about the garden itself. There is at most one.
package garden
