// SPDX-License-Identifier: Apache-2.0

// Package harness starts a whole garden inside a test: the server as operators run it, on a temporary folder and a free
// port. The garden ends with the test.
package harness
