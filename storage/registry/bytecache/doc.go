// SPDX-License-Identifier: Apache-2.0

// Package bytecache lets the server write an object that did not change since it was last read without encoding it again,
// and read one back from the store without decoding it again.
//
// JSON is written and read by reflection, which costs more than everything else that a read does; protobuf costs less, and
// still more than a copy. UID and resource version
// of an object name its content for good, so what was written once can be written again as it is, alone or as one of a
// list. Only objects that are read as they are stored may be looked up; see Object. What is remembered is bounded, and
// the longest unused goes first.
package bytecache
