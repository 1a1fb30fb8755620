// SPDX-License-Identifier: Apache-2.0

package query_test

import (
	"testing"

	"github.com/terrarium-garden/terrarium/apis/core/query"
)

func TestTechnicalID(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]bool{
		query.TechnicalID("dev", "a"): true,
		"shoot--dev--b":               false,
		"shoot--dev--x--a":            false,
		"shoot----a":                  false,
		"shoot--a":                    false,
		"shoot--dev--":                false,
		"kube-system":                 false,
		"garden":                      false,
		"":                            false,
	} {
		if got := query.IsTechnicalID(id, "a"); got != want {
			t.Errorf("IsTechnicalID(%q, a) = %v, want %v", id, got, want)
		}
	}
}
