// SPDX-License-Identifier: Apache-2.0

// Package bytecache lets the server write an object that did not change since it was last read without encoding it again.
//
// An object is written as JSON by reflection, which costs more than everything else that a read does. Its UID and its
// resource version name its content for good, so what was written once can be written again as it is, alone or as one of
// a list. Only objects that are read as they are stored may be looked up; see Object. What is remembered is bounded, and
// the longest unused goes first.
package bytecache
