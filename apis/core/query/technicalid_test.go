// SPDX-License-Identifier: Apache-2.0

package query_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/apis/core/query"
)

func TestTechnicalID(t *testing.T) {
	t.Parallel()
	want := map[string]bool{
		query.TechnicalID("dev", "a"): true,
		"shoot--dev--b":               false,
		"shoot--dev--x--a":            false,
		"shoot----a":                  false,
		"shoot--a":                    false,
		"shoot--dev--":                false,
		"kube-system":                 false,
		"garden":                      false,
		"":                            false,
	}
	got := map[string]bool{}
	for id := range want {
		got[id] = query.IsTechnicalID(id, "a")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("IsTechnicalID(..., a) (-want +got):\n%s", diff)
	}
}
