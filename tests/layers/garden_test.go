// SPDX-License-Identifier: Apache-2.0

package layers_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// beyond are the ways from a controller to a cluster other than the garden. Of clients that controllers make themselves see
// TestClientsAreMadeInOnePlace.
func beyond() map[string][]string {
	return map[string][]string{
		"kit":      {"SeedBase", "Shoots", "Shoot"},
		"clusters": {"Seed", "Shoots", "SeedName"},
	}
}

// TestGardenControllersReachTheGardenOnly finds controllers of the garden that act on seeds or shoots (GCM-PROC-2).
func TestGardenControllersReachTheGardenOnly(t *testing.T) {
	t.Parallel()
	for path, source := range files(t, "controllers/garden", "controllers/scheduler") {
		file, err := parser.ParseFile(token.NewFileSet(), path, source, 0)
		if err != nil {
			t.Fatal(err)
		}
		if found := ways(file); len(found) > 0 {
			t.Errorf("%s: controllers of the garden talk to the garden only; found %v", path, found)
		}
	}
}

// ways lists the ways beyond the garden in a file.
func ways(file *ast.File) []string {
	var found []string
	ast.Inspect(file, func(node ast.Node) bool {
		selector, ok := node.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if of, ok := selector.X.(*ast.Ident); ok && slices.Contains(beyond()[of.Name], selector.Sel.Name) {
			found = append(found, of.Name+"."+selector.Sel.Name)
		}
		return true
	})
	return found
}

// TestWaysAreFound shows the test above a controller that acts on a seed.
func TestWaysAreFound(t *testing.T) {
	t.Parallel()
	const source = `package x
type Reconciler struct{ kit.SeedBase }
func (r *Reconciler) AddToManager(clusters kit.Clusters) error { r.SeedClient = clusters.Seed.GetClient(); return nil }`
	file, err := parser.ParseFile(token.NewFileSet(), "x.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"kit.SeedBase", "clusters.Seed"}, ways(file)); diff != "" {
		t.Errorf("ways beyond the garden (-want +got):\n%s", diff)
	}
}
