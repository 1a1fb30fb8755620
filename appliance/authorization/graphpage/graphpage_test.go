// SPDX-License-Identifier: Apache-2.0

package graphpage_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/appliance/authorization/graph"
	"github.com/terrarium-garden/terrarium/appliance/authorization/graphpage"
)

func TestPage(t *testing.T) {
	t.Parallel()
	small, large := graph.New(), graph.New()
	for g, size := range map[*graph.Graph]int{small: 3, large: 1500} {
		for n := range size {
			shoot := graph.Vertex{Kind: graph.Shoot, Namespace: "garden-meadow", Name: fmt.Sprintf("shoot-%d", n)}
			seed := graph.Vertex{Kind: graph.Seed, Name: fmt.Sprintf("seed-%d", n)}
			g.Set(shoot, []graph.Edge{{From: shoot, To: seed}})
		}
	}
	cases := map[string]struct {
		reason string
		graph  *graph.Graph
		query  string
		has    []string
		lacks  []string
		method string
		status int
	}{
		"GAC-GR-13 all":       {reason: "a small graph is shown whole", graph: small, has: []string{"6 objects, 3 references", "Shoot garden-meadow/shoot-1", "Seed seed-1"}},
		"GAC-GR-13 kind":      {reason: "by kind", graph: small, query: "?kind=Seed", has: []string{"<td>Seed seed-1</td>"}, lacks: []string{"<td>Shoot"}},
		"GAC-GR-13 name":      {reason: "by name", graph: small, query: "?name=shoot-2", has: []string{"<td>Shoot garden-meadow/shoot-2</td>"}, lacks: []string{"shoot-1"}},
		"GAC-GR-13 namespace": {reason: "by namespace", graph: small, query: "?namespace=garden", has: []string{"0 objects shown"}},
		"GAC-GR-13 large":     {reason: "a large graph begins with seeds", graph: large, has: []string{"1500 objects shown", "<option selected>Seed"}, lacks: []string{"<td>Shoot"}},
		"GAC-GR-13 large all": {reason: "all of it is shown on demand", graph: large, query: "?kind=", has: []string{"3000 objects shown"}},
		"GAC-GR-13 escaped":   {reason: "what comes from the address is text", graph: small, query: "?name=%22%3E%3Cscript%3E", lacks: []string{"<script>"}},
		"GAC-GR-13 write":     {reason: "it is to be read", graph: small, method: http.MethodPost, status: http.StatusMethodNotAllowed},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tc.method == "" {
				tc.method = http.MethodGet
			}
			w := httptest.NewRecorder()
			graphpage.New(tc.graph).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), tc.method, graphpage.Path+tc.query, nil))
			if diff := cmp.Diff(max(tc.status, http.StatusOK), w.Code); diff != "" {
				t.Fatalf("%s\nstatus code (-want +got):\n%s", tc.reason, diff)
			}
			var found []string
			for _, text := range slices.Concat(tc.has, tc.lacks) {
				if strings.Contains(w.Body.String(), text) {
					found = append(found, text)
				}
			}
			if diff := cmp.Diff(tc.has, found); diff != "" {
				t.Errorf("%s\ntexts of the page (-want +got):\n%s\npage:\n%s", tc.reason, diff, w.Body)
			}
		})
	}
}
