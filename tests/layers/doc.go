// SPDX-License-Identifier: Apache-2.0

// Package layers holds the tests of how the house is built: that the arrows between the rooms of this house point down. The linter says the
// same thing file by file; this test follows the whole chain of imports, so that no room is
// reached through another. Others hold that domain questions are asked where they are answered, and that each field of the
// configuration is read.
package layers
