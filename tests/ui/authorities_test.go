// SPDX-License-Identifier: Apache-2.0

package ui_test

import (
	"path/filepath"
	"testing"

	"github.com/terrarium-garden/terrarium/tests/harness"
)

// TestBrowserAuthorities changes the certificate authorities in the pages. The garden is one of its own, because all others who are
// signed in to it have to sign in again.
func TestBrowserAuthorities(t *testing.T) { //nolint:paralleltest // Two browsers at the same time are too slow for each other.
	run := prepare(t)
	w := &world{Garden: harness.Start(t), t: t, log: &lines{}}
	w.load(filepath.Join("..", "..", "packaging", "examples", "internal-domain.yaml"))
	w.load(filepath.Join("testdata", "forsaken.yaml"))
	run(w, w.Server, "authorities")
}
