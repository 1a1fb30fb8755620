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

// opaque are the fields with documents that only extensions understand. The core hands them on (EXT-GEN-3).
func opaque() []string {
	return []string{"ProviderConfig", "ProviderStatus", "InfrastructureConfig", "ControlPlaneConfig", "InfrastructureProviderStatus"}
}

// opener may look into such a document, and why.
type opener struct {
	path, reason string
}

func openers() []opener {
	return []opener{
		{"controllers/garden/reference/holders.go", "the field of a ControllerDeployment: where its chart is, which is the core's own"},
		{"controllers/garden/controllerregistration/installation.go", "the same field, of which a checksum is made"},
		{"controllers/gardenlet/workloadidentity/issuer.go", "copies the document into a Secret as it is"},
		{"controllers/gardenlet/bastion/status.go", "publishes the host keys of a bastion, for which there is no other field"},
	}
}

// TestDocumentsOfProvidersAreHandedOn_EXT_GEN_3 finds controllers of the core that read what only an extension understands.
func TestDocumentsOfProvidersAreHandedOn_EXT_GEN_3(t *testing.T) {
	t.Parallel()
	met := map[string]bool{}
	for path, source := range files(t, "controllers") {
		if strings.HasPrefix(path, "controllers/provider/") {
			continue // It is an extension.
		}
		found := opened(t, source)
		met[path] = len(found) > 0
		if len(found) > 0 && !slices.ContainsFunc(openers(), func(o opener) bool { return o.path == path }) {
			t.Errorf("%s does more with %s than to hand it on: only the extension understands it", path, strings.Join(found, ", "))
		}
	}
	for _, o := range openers() {
		if !met[o.path] {
			t.Errorf("%s looks into no document any more: take it off the list", o.path)
		}
	}
}

// TestOpenedDocumentsAreFound shows that the test above can fail.
func TestOpenedDocumentsAreFound(t *testing.T) {
	t.Parallel()
	source := `package a
func _() {
	obj.Spec.Type, obj.Spec.ProviderConfig = one.Type, one.ProviderConfig
	_ = Worker{ProviderConfig: w.Status.ProviderStatus, Name: w.Name}
	obj.Spec.InfrastructureProviderStatus = infrastructure.Get(ctx).Status.ProviderStatus
	if obj.Spec.ProviderConfig != nil {
		obj.Spec.ProviderConfig = nil
	}
	read(one.ProviderConfig.Raw)
	decode(two.InfrastructureConfig)
	later := three.ControlPlaneConfig
	_ = *four.ProviderStatus
	_ = []any{five.ProviderConfig}
}`
	want := []string{"one.ProviderConfig", "two.InfrastructureConfig", "three.ControlPlaneConfig", "four.ProviderStatus", "five.ProviderConfig"}
	if diff := cmp.Diff(want, opened(t, []byte(source))); diff != "" {
		t.Errorf("opened(...) (-want +got):\n%s", diff)
	}
}

// opened are the documents that a file does more with than to assign them to a field, to put them into a new object, or to see whether
// they are there.
func opened(t *testing.T, source []byte) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "", source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	ast.PreorderStack(file, nil, func(n ast.Node, stack []ast.Node) bool {
		if selector, ok := n.(*ast.SelectorExpr); ok && slices.Contains(opaque(), selector.Sel.Name) && !handedOn(selector, stack[len(stack)-1]) {
			of := "…"
			if x, named := selector.X.(*ast.Ident); named {
				of = x.Name
			}
			found = append(found, of+"."+selector.Sel.Name)
		}
		return true
	})
	return found
}

// handedOn reports whether a document is used in a way for which nobody has to read it.
func handedOn(document *ast.SelectorExpr, parent ast.Node) bool {
	switch p := parent.(type) {
	case *ast.AssignStmt:
		at := slices.Index(p.Rhs, ast.Expr(document))
		if at < 0 || len(p.Lhs) != len(p.Rhs) {
			return at < 0
		}
		_, field := p.Lhs[at].(*ast.SelectorExpr)
		return field
	case *ast.KeyValueExpr:
		return true
	case *ast.BinaryExpr:
		other, isName := p.Y.(*ast.Ident)
		return isName && other.Name == "nil"
	default:
		return false
	}
}
