// SPDX-License-Identifier: Apache-2.0

package layers_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/apis/extensions"
)

const (
	homeOfQuestions = module + "/apis/core/query"
	homeOfKinds     = module + "/apis/extensions"
)

// asker is a package, or a folder of them, that asks a home rather than answering by itself.
type asker struct {
	reason, from, home string
}

func askers() []asker {
	return []asker{
		{"the scheduler and admission agree on what speaks against a seed", module + "/controllers/scheduler", homeOfQuestions},
		{"the scheduler and admission agree on what speaks against a seed", module + "/appliance/admission/shootvalidator", homeOfQuestions},
		{"names of shoots are looked at in one way", module + "/appliance/admission/shootdns", homeOfQuestions},
		{"the gardenlet sees a shoot as the garden does", module + "/controllers/gardenlet/shoot", homeOfQuestions},
		{"the gardenlet sees a shoot as the garden does", module + "/controllers/gardenlet/care", homeOfQuestions},
		{"what is installed, what is asked for and what is waited for is the same", module + "/controllers/garden/controllerregistration", homeOfKinds},
		{"what is installed, what is asked for and what is waited for is the same", module + "/controllers/gardenlet/shoot", homeOfKinds},
		{"what is installed, what is asked for and what is waited for is the same", module + "/appliance/admission/extensionvalidator", homeOfKinds},
		{"labels name the extensions that are installed", module + "/appliance/admission/extensionlabels", homeOfKinds},
		{"the table says which kinds keep an extension", module + "/controllers/gardenlet/controllerinstallation/required", homeOfKinds},
		{"the table says which kinds report", module + "/controllers/gardenlet/care", homeOfKinds},
		{"the table says how long is waited", module + "/controllers/extension", homeOfKinds},
		{"the table says which kinds can be registered", module + "/apis/core/validation", homeOfKinds},
	}
}

// missing says what is wrong with an asker: it does not import its home, or is not there.
func (a asker) missing(world map[string][]string) string {
	imports, there := world[a.from]
	switch {
	case !there:
		return a.from + " does not exist: move the row with it"
	case !slices.Contains(imports, a.home):
		return a.from + " does not ask " + a.home
	default:
		return ""
	}
}

func TestDomainQuestionsAreAskedAtHome(t *testing.T) {
	t.Parallel()
	direct := list(t, `{{.ImportPath}}{{range .Imports}} {{.}}{{end}}`)
	for _, a := range askers() {
		if broken := a.missing(direct); broken != "" {
			t.Errorf("%s: %s", a.reason, broken)
		}
	}
}

// finder looks through the source for an answer that belongs to a home.
type finder struct {
	reason string
	// find returns what is found in a declaration of a file.
	find func(ast.Node) string
	// except are the folders, as they begin a path, where it may stand.
	except []string
}

func finders() []finder {
	return []finder{
		{
			reason: "kinds of extensions are listed in apis/extensions only", find: listOfKinds,
			except: []string{
				"apis/extensions/",
				// What the local provider acts on, and what a test registers.
				"controllers/provider/local/kinds.go", "appliance/admission/admissiontest/",
			},
		},
		{
			reason: "the name of a kind is written in apis/extensions/kind", find: nameOfKind,
			except: []string{
				"apis/extensions/",
				// These are kinds of the garden's own API that have the same name.
				"appliance/authorization/graph/vertex.go", "appliance/admission/chain.go", "appliance/admission/resourcereference/list.go",
				"storage/registry/security/workloadidentity/context.go", "apis/operator/validation/garden_gardener.go", "apis/operations/v1alpha1/register.go",
				"apis/core/v1beta1/fieldlabels.go",
				// The object of a test that is a package.
				"appliance/admission/admissiontest/",
			},
		},
		{
			reason: "whether a shoot has workers is asked as query.Workerless", find: countOfWorkers,
			// Package query is built on the types and their defaults.
			except: []string{"apis/core/query/", "apis/core/v1beta1/"},
		},
	}
}

// nameOfKind finds the name of a kind of extension as a string.
func nameOfKind(n ast.Node) string {
	literal, ok := n.(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return ""
	}
	name, err := strconv.Unquote(literal.Value)
	if err != nil || !slices.Contains(extensions.Names(), name) {
		return ""
	}
	return literal.Value
}

// listOfKinds finds a list, or a map, with three or more kinds, be it of their names or of their objects.
func listOfKinds(n ast.Node) string {
	const few = 3
	composite, ok := n.(*ast.CompositeLit)
	if !ok {
		return ""
	}
	switch composite.Type.(type) {
	case *ast.ArrayType, *ast.MapType:
	default:
		return ""
	}
	var kinds []string
	for _, element := range composite.Elts {
		if name := kindIn(element); name != "" && !slices.Contains(kinds, name) {
			kinds = append(kinds, name)
		}
	}
	if len(kinds) < few {
		return ""
	}
	return "a list of " + strings.Join(kinds, ", ")
}

// kindIn is the kind of extension that an element of a list is about.
func kindIn(element ast.Expr) string {
	switch e := element.(type) {
	case *ast.KeyValueExpr:
		return kindIn(e.Key)
	case *ast.BasicLit:
		return strings.Trim(nameOfKind(e), `"`)
	case *ast.UnaryExpr:
		return kindIn(e.X)
	case *ast.CompositeLit:
		return kindIn(e.Type)
	case *ast.SelectorExpr:
		of, ok := e.X.(*ast.Ident)
		name := strings.TrimSuffix(e.Sel.Name, "List")
		if ok && (of.Name == "kind" || of.Name == "gardenextensionsv1alpha1") && slices.Contains(extensions.Names(), name) {
			return name
		}
	}
	return ""
}

// countOfWorkers finds len(….Provider.Workers) compared with 0.
func countOfWorkers(n ast.Node) string {
	comparison, ok := n.(*ast.BinaryExpr)
	if !ok {
		return ""
	}
	zero, ok := comparison.Y.(*ast.BasicLit)
	if !ok || zero.Value != "0" {
		return ""
	}
	call, ok := comparison.X.(*ast.CallExpr)
	if !ok || len(call.Args) != 1 {
		return ""
	}
	workers, ok := call.Args[0].(*ast.SelectorExpr)
	if !ok || workers.Sel.Name != "Workers" {
		return ""
	}
	provider, ok := workers.X.(*ast.SelectorExpr)
	if !ok || provider.Sel.Name != "Provider" {
		return ""
	}
	return "a count of spec.provider.workers"
}

// found lists where an answer stands in a file, unless it may.
func (f finder) found(path string, file *ast.File, set *token.FileSet) []string {
	if slices.ContainsFunc(f.except, func(root string) bool { return strings.HasPrefix(path, root) }) {
		return nil
	}
	var places []string
	ast.Inspect(file, func(n ast.Node) bool {
		if n == nil {
			return false
		}
		if what := f.find(n); what != "" {
			places = append(places, path+":"+strconv.Itoa(set.Position(n.Pos()).Line)+" has "+what)
		}
		return true
	})
	return places
}

// TestDomainAnswersStandAtHome looks for answers that were written anew, as far as they can be told by their form.
func TestDomainAnswersStandAtHome(t *testing.T) {
	t.Parallel()
	looked := files(t, "apis", "appliance", "controllers", "storage")
	for path, source := range looked {
		if strings.HasPrefix(filepath.Base(path), "zz_") {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, source, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range finders() {
			for _, place := range f.found(path, file, set) {
				t.Errorf("%s: %s", f.reason, place)
			}
		}
	}
	if len(looked) < 500 {
		t.Errorf("only %d files were looked at", len(looked))
	}
}

// TestDomainRulesCanFail keeps the proof honest, as TestRulesCanFail does.
func TestDomainRulesCanFail(t *testing.T) {
	t.Parallel()
	a := asker{from: module + "/x", home: homeOfKinds}
	for name, world := range map[string]map[string][]string{
		"gone": {}, "silent": {a.from: {"fmt"}}, "another home": {a.from: {homeOfQuestions}},
	} {
		if a.missing(world) == "" {
			t.Errorf("%s: nothing is missing", name)
		}
	}
	if got := a.missing(map[string][]string{a.from: {homeOfKinds}}); got != "" {
		t.Errorf("who asks is missing: %s", got)
	}
	const source = `package x
func a(s Spec) bool { return len(s.Provider.Workers) == 0 }
func b() []string { return []string{"Infrastructure", kind.Worker, kind.Network} }
func c() map[string]any { return map[string]any{kind.Worker: 1, kind.Network: 2, kind.DNSRecord: 3} }
func d() []any { return []any{&gardenextensionsv1alpha1.WorkerList{}, &gardenextensionsv1alpha1.NetworkList{}, &gardenextensionsv1alpha1.DNSRecordList{}} }
func harmless(s Spec) bool { return len(s.Provider.Workers) == 1 || s.Kind == kind.Worker || s.Name == "worker" || list("a", "b", "c") }
`
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "x.go", source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{3, 1, 1} {
		f := finders()[i]
		got := f.found("controllers/x/x.go", file, set)
		if diff := cmp.Diff(want, len(got)); diff != "" {
			t.Errorf("%s: number of places %q (-want +got):\n%s", f.reason, got, diff)
		}
		if diff := cmp.Diff([]string(nil), f.found("apis/extensions/x.go", file, set)); i < 2 && diff != "" {
			t.Errorf("%s: places at home (-want +got):\n%s", f.reason, diff)
		}
	}
}
