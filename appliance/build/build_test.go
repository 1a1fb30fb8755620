// SPDX-License-Identifier: Apache-2.0

package build_test

import (
	"strings"
	"testing"

	"k8s.io/component-base/version"

	"github.com/terrarium-garden/terrarium/appliance/build"
)

// TestCommit asks a binary that was built without the flags of the Makefile.
func TestCommit(t *testing.T) {
	t.Parallel()
	if unset := version.Get().GitCommit; !strings.HasPrefix(unset, "$") {
		t.Skipf("the test has the commit %q", unset)
	}
	if got := build.Commit(); got != "" {
		t.Errorf("Commit() = %q, and nothing is known", got)
	}
}
