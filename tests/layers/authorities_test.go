// SPDX-License-Identifier: Apache-2.0

package layers_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestExtensionsUseNoAuthorityOfTheCore_EXT_SEC_3 finds extensions, and what they are built from, that name a Secret with an authority of
// the core. These names change with each rotation; what an extension may use it finds in the generic kubeconfig, or makes for itself.
func TestExtensionsUseNoAuthorityOfTheCore_EXT_SEC_3(t *testing.T) {
	t.Parallel()
	looked := files(t, "controllers/provider", "controllers/extension/webhook", "tests/extension", "tests/badge")
	for path, source := range looked {
		if names := authorities(t, source); len(names) > 0 {
			t.Errorf("%s names %s: an extension has authorities of its own", path, strings.Join(names, ", "))
		}
	}
	if len(looked) < 50 {
		t.Errorf("only %d files were looked at", len(looked))
	}
}

// TestAuthoritiesAreFound shows that the test above can fail.
func TestAuthoritiesAreFound(t *testing.T) {
	t.Parallel()
	source := "package a\nvar _ = []string{v1.SecretCACluster, \"ca-client\", v1.SecretCloudProvider, \"ca.crt\", \"ca-mine-webhook\"}"
	if diff := cmp.Diff([]string{"SecretCACluster", `"ca-client"`}, authorities(t, []byte(source))); diff != "" {
		t.Errorf("authorities(...) (-want +got):\n%s", diff)
	}
}

// authorities are the constants and texts in a file that name an authority of the core.
func authorities(t *testing.T, source []byte) []string {
	t.Helper()
	names := []string{`"ca"`, `"ca-client"`, `"ca-front-proxy"`, `"ca-kubelet"`, `"ca-etcd"`, `"ca-etcd-peer"`}
	return named(t, source, func(selector string) bool { return strings.HasPrefix(selector, "SecretCA") }, names...)
}

// named are the selectors in a file that match, and those of the literals that are in it, in their order.
func named(t *testing.T, source []byte, matches func(selector string) bool, literals ...string) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "", source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if matches(n.Sel.Name) {
				found = append(found, n.Sel.Name)
			}
		case *ast.BasicLit:
			if slices.Contains(literals, n.Value) {
				found = append(found, n.Value)
			}
		}
		return true
	})
	return found
}
