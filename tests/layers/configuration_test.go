// SPDX-License-Identifier: Apache-2.0

package layers_test

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/go/packages"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
)

const configuration = module + "/apis/config/v1alpha1"

// judges only look whether a value can be right; to be read by them is not to be acted upon.
func judges() []string {
	return []string{"/apis/", "/appliance/options/", "/appliance/gardenlet/validate.go", "/appliance/gardenlet/join/", "/appliance/cli/config_"}
}

// TestConfigurationIsRead finds fields of the configuration files that are accepted and then ignored. It looks, with the
// types that the compiler sees, for each field of both roles in the code that acts; those that only a check looks at, or
// that are only written, are ignored. A field that is known to be ignored is warned of, and must not be read.
func TestConfigurationIsRead(t *testing.T) {
	t.Parallel()
	loaded := load(t)
	read := map[string]bool{}
	for _, p := range loaded {
		if p.PkgPath != configuration {
			note(p, read)
		}
	}
	i := slices.IndexFunc(loaded, func(p *packages.Package) bool { return p.PkgPath == configuration })
	if i < 0 {
		t.Fatalf("package %s was not loaded", configuration)
	}
	seen := 0
	for kind, ignored := range map[string][]string{
		"ServerConfiguration": nil, "GardenletConfiguration": gardenconfigv1alpha1.GardenletFieldsIgnored(),
	} {
		w := walk{t: t, read: read, ignored: ignored, met: map[string]bool{}}
		w.fields(loaded[i].Types.Scope().Lookup(kind).Type(), "")
		if diff := cmp.Diff(slices.Sorted(slices.Values(ignored)), slices.Sorted(maps.Keys(w.met))); diff != "" {
			t.Errorf("%s: fields that are ignored, as listed and as they exist (-want +got):\n%s", kind, diff)
		}
		seen += w.seen
	}
	if seen < 100 {
		t.Errorf("only %d fields were looked at", seen)
	}
}

// load reads all packages of the product that know the configuration.
func load(t *testing.T) []*packages.Package {
	t.Helper()
	var paths []string
	for importer, imports := range list(t, `{{.ImportPath}}{{range .Imports}} {{.}}{{end}}`) {
		if slices.Contains(imports, configuration) && !strings.HasPrefix(importer, module+"/tests/") {
			paths = append(paths, importer)
		}
	}
	loaded, err := packages.Load(&packages.Config{
		Context: t.Context(),
		Mode:    packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedExportFile | packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo,
	}, append(paths, configuration)...)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range loaded {
		for _, e := range p.Errors {
			t.Errorf("%s: %v", p.PkgPath, e)
		}
	}
	return loaded
}

// note adds the fields that a package reads.
func note(p *packages.Package, read map[string]bool) {
	for _, file := range p.Syntax {
		name := filepath.ToSlash(p.Fset.Position(file.Pos()).Filename)
		if slices.ContainsFunc(judges(), func(part string) bool { return strings.Contains(name, part) }) {
			continue
		}
		written := writes(file)
		ast.Inspect(file, func(n ast.Node) bool {
			expression, ok := n.(*ast.SelectorExpr)
			if !ok || written[expression] {
				return true
			}
			if selection := p.TypesInfo.Selections[expression]; selection != nil {
				noteSelection(selection, read)
			}
			return true
		})
	}
}

// noteSelection adds the field that is selected. One of an embedded struct counts for the struct that it was selected from.
func noteSelection(selection *types.Selection, read map[string]bool) {
	if owner, fields := structOf(selection.Recv()); fields != nil {
		read[owner+"."+selection.Obj().Name()] = true
	}
}

// writes are the selections that an assignment goes through.
func writes(file *ast.File) map[*ast.SelectorExpr]bool {
	found := map[*ast.SelectorExpr]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		assignment, ok := n.(*ast.AssignStmt)
		if !ok || assignment.Tok != token.ASSIGN {
			return true
		}
		for _, left := range assignment.Lhs {
			for {
				selector, ok := left.(*ast.SelectorExpr)
				if !ok {
					break
				}
				found[selector] = true
				left = selector.X
			}
		}
		return true
	})
	return found
}

// structOf is the struct that a type is or leads to, with its name.
func structOf(t types.Type) (name string, fields *types.Struct) {
	switch u := types.Unalias(t).(type) {
	case *types.Pointer:
		return structOf(u.Elem())
	case *types.Slice:
		return structOf(u.Elem())
	case *types.Map:
		return structOf(u.Elem())
	case *types.Named:
		if s, ok := u.Underlying().(*types.Struct); ok {
			return u.Obj().Pkg().Path() + "." + u.Obj().Name(), s
		}
	}
	return "", nil
}

// walk goes through the fields of a configuration.
type walk struct {
	t       *testing.T
	read    map[string]bool
	ignored []string
	met     map[string]bool
	seen    int
}

// fields goes through the fields of a struct. The owners are the structs that it is embedded in, and itself.
func (w *walk) fields(of types.Type, path string, owners ...string) {
	owner, fields := structOf(of)
	if fields == nil || !strings.HasPrefix(owner, configuration+".") {
		return
	}
	owners = append(owners, owner)
	for i := range fields.NumFields() {
		field := fields.Field(i)
		if field.Embedded() {
			w.fields(field.Type(), path, owners...)
			continue
		}
		tag, _, _ := strings.Cut(reflect.StructTag(fields.Tag(i)).Get("json"), ",")
		child := strings.TrimPrefix(path+"."+tag, ".")
		w.seen++
		read := slices.ContainsFunc(owners, func(owner string) bool { return w.read[owner+"."+field.Name()] })
		if slices.Contains(w.ignored, child) {
			w.met[child] = true
			if read {
				w.t.Errorf("%s is read: it is not ignored any more", child)
			}
			continue
		}
		if !read {
			w.t.Errorf("%s (%s.%s) is accepted, and nobody acts on it", child, strings.TrimPrefix(owner, configuration+"."), field.Name())
		}
		if _, list := field.Type().Underlying().(*types.Slice); list {
			child += "[]"
		}
		w.fields(field.Type(), child)
	}
}
