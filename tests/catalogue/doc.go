// SPDX-License-Identifier: Apache-2.0

// Package catalogue keeps docs/behaviour honest: each rule that is cited anywhere is in the catalogue, and each rule that
// is done names a test that exists. The tests of this package look at the working tree; `go test ./tests/catalogue
// -update` writes the counts anew.
package catalogue
