// SPDX-License-Identifier: Apache-2.0

// Package layers holds the one test that the arrows between the rooms of this house point down. The linter says the
// same thing file by file; this test follows the whole chain of imports, so that no room is reached through another.
package layers
