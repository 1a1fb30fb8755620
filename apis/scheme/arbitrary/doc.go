// SPDX-License-Identifier: Apache-2.0

// Package arbitrary makes objects out of any sequence of bytes, for tests that look for inputs that break the server. The
// same bytes make the same object; no bytes make an empty one.
package arbitrary
