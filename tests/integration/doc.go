// SPDX-License-Identifier: Apache-2.0

// Package integration tries parts of the product against a whole garden in the same process.
package integration
