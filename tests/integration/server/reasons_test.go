// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"strings"
	"testing"

	"github.com/terrarium-garden/terrarium/tests/harness"
)

// TestReasonsOfTheServer asks a server for what it refuses. The commands say why.
func TestReasonsOfTheServer(t *testing.T) {
	t.Parallel()
	g := harness.Start(t)
	for command, want := range map[string]string{
		"seed revoke nobody":                              "--unknown",
		"seed forgive nobody":                             "the seed is not shut out",
		"seed exposure nobody":                            "there is no seed of that name",
		"certificate rotate-service-account-key complete": "rotation",
	} {
		status, _, errs := terrarium(t, append(strings.Fields(command), "--data-dir", g.DataDir)...)
		if status != 1 || !strings.Contains(errs, want) || strings.Contains(errs, "could not find the requested resource") {
			t.Errorf("%s: status %d, want 1 and %q\n%s", command, status, want, errs)
		}
	}
}
