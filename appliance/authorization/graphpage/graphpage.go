// SPDX-License-Identifier: Apache-2.0

// Package graphpage serves a page that shows which objects belong to which seed, to find out why a gardenlet may not do
// something (GAC-GR-13).
package graphpage

import (
	_ "embed"
	"fmt"
	"html/template"
	"net/http"

	"github.com/terrarium-garden/terrarium/appliance/authorization/graph"
)

// Path is the path of the page.
const Path = "/debug/resource-dependency-graph"

// manyVertices is the size above which the page shows only seeds at first.
const manyVertices = 2000

//go:embed page.html
var page string

// view is the data of the page.
type view struct {
	Kinds                 []graph.Kind
	Kind, Namespace, Name string
	Vertices, Edges       int
	Entries               []graph.Entry
}

// New returns the page.
func New(g *graph.Graph) http.Handler {
	body := template.Must(template.New("page").Parse(page))

	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			http.Error(w, fmt.Sprintf("%s is not allowed here; use GET", r.Method), http.StatusMethodNotAllowed)

			return
		}
		asked := r.URL.Query()
		v := view{Kinds: graph.Kinds(), Kind: asked.Get("kind"), Namespace: asked.Get("namespace"), Name: asked.Get("name")}
		v.Vertices, v.Edges = g.Size()
		if len(asked) == 0 && v.Vertices > manyVertices {
			v.Kind = graph.Seed.String()
		}
		v.Entries = g.Find(func(at graph.Vertex) bool {
			return (v.Kind == "" || v.Kind == at.Kind.String()) &&
				(v.Namespace == "" || v.Namespace == at.Namespace) && (v.Name == "" || v.Name == at.Name)
		})
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		body.Execute(w, v) //nolint:errcheck,gosec // The client has disconnected.
	})
}
