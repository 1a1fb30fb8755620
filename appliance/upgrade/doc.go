// SPDX-License-Identifier: Apache-2.0

// Package upgrade decides which version of the program may use a data directory, and brings an older directory to this version.
//
// A directory says which program has last used it, and the version of its shape, the schema. A program uses a directory of its own
// minor version, whatever the patch version is, and one of the minor version before. It refuses others, because nobody has tried
// that step. Before it changes a directory of the version before, the garden is saved. Migrations then lead from schema to
// schema. What is done is written after each of them, so that the next start goes on where a start was killed.
package upgrade
