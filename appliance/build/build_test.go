// SPDX-License-Identifier: Apache-2.0

package build_test

import (
	"strings"
	"testing"

	"k8s.io/component-base/version"

	"github.com/terrarium-garden/terrarium/appliance/build"
)

// TestCommit expects the commit of the flags of the Makefile, and none where the test was built without them.
func TestCommit(t *testing.T) {
	t.Parallel()
	want := version.Get().GitCommit
	if strings.HasPrefix(want, "$") {
		want = ""
	}
	if got := build.Commit(); got != want {
		t.Errorf("Commit() = %q, want %q", got, want)
	}
}
