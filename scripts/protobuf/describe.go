// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/types"
	"reflect"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// nullableMark makes a message of a named list or map, so that it can be empty and not be there.
const nullableMark = "+protobuf.nullable=true"

// message is a type with a protobuf form.
type message struct {
	name string
	// whole says that the type is a list or a map, which is the value of the only field.
	whole bool
	// kind says that the type is a kind of the API, which is read and written on its own.
	kind   bool
	fields []field
}

// field is a field of a message.
type field struct {
	number int
	name   string
	shape  shape
}

// form says how a value is written.
type form int

const (
	formString form = iota
	formBool
	formInt
	formFloat
	formBytes
	formMessage
	formForeign
	formExtension
	formJSON
	formList
	formMap
)

// shape is the Go type of a value, and how it is written.
type shape struct {
	form    form
	goType  types.Type
	pointer bool
	element *shape
}

// nullables returns the names of the types of a package that are messages but not structs.
func nullables(pkg *packages.Package) map[string]bool {
	marked := map[string]bool{}
	for _, file := range pkg.Syntax {
		for _, declaration := range file.Decls {
			general, ok := declaration.(*ast.GenDecl)
			if !ok || general.Doc == nil || !slices.ContainsFunc(general.Doc.List, isNullableMark) {
				continue
			}
			for _, spec := range general.Specs {
				if named, ok := spec.(*ast.TypeSpec); ok {
					marked[named.Name.Name] = true
				}
			}
		}
	}

	return marked
}

func isNullableMark(comment *ast.Comment) bool {
	return strings.TrimSpace(strings.TrimPrefix(comment.Text, "//")) == nullableMark
}

// describe returns the message that a type stands for, or nil where it is none.
func describe(declared *types.TypeName, nullable map[string]bool) (*message, error) {
	m := &message{name: declared.Name()}
	if nullable[m.name] {
		whole, err := shapeOf(declared.Type().Underlying(), declared.Pkg(), nullable)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.name, err)
		}
		m.whole = true
		m.fields = []field{{number: 1, shape: whole}}

		return m, nil
	}
	fields, ok := declared.Type().Underlying().(*types.Struct)
	if !ok {
		return nil, nil //nolint:nilnil // No message is what this reports.
	}
	var errs []error
	for i := range fields.NumFields() {
		one := fields.Field(i)
		if one.Embedded() && one.Name() == "TypeMeta" {
			m.kind = true

			continue
		}
		described, err := describeField(one, reflect.StructTag(fields.Tag(i)), nullable)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s.%s: %w", m.name, one.Name(), err))

			continue
		}
		m.fields = append(m.fields, described)
	}
	slices.SortFunc(m.fields, func(a, b field) int { return a.number - b.number })
	for i := 1; i < len(m.fields); i++ {
		if m.fields[i].number == m.fields[i-1].number {
			errs = append(errs, fmt.Errorf("%s: %s and %s have the same number", m.name, m.fields[i-1].name, m.fields[i].name))
		}
	}

	return m, errors.Join(errs...)
}

func describeField(v *types.Var, tags reflect.StructTag, nullable map[string]bool) (field, error) {
	tag, tagged := tags.Lookup("protobuf")
	if !tagged {
		return field{}, errors.New(`it has no tag such as protobuf:"bytes,1,opt,name=metadata"; numbers are never used twice, ` +
			"and those of fields of our own begin at 1001")
	}
	found, err := shapeOf(v.Type(), v.Pkg(), nullable)
	if err != nil {
		return field{}, err
	}
	described := field{name: v.Name(), shape: found}
	parts := strings.Split(tag, ",")
	if len(parts) != 4 {
		return field{}, fmt.Errorf("tag %q has not four parts", tag)
	}
	if _, err := fmt.Sscan(parts[1], &described.number); err != nil || described.number < 1 {
		return field{}, fmt.Errorf("tag %q has no number", tag)
	}
	name, _, _ := strings.Cut(tags.Get("json"), ",")
	if name == "" || name == "-" {
		name = strings.ToLower(v.Name()[:1]) + v.Name()[1:]
	}
	want := fmt.Sprintf("%s,%d,%s,name=%s", found.wireType(), described.number, found.times(), name)
	// An embedded struct has no name in JSON, so its protobuf name is free.
	if v.Embedded() && len(parts) == 4 && parts[0] == found.wireType() && parts[2] == found.times() {
		want = tag
	}
	if tag != want {
		return field{}, fmt.Errorf("its tag is %q, its type says %q", tag, want)
	}

	return described, nil
}

func (s shape) wireType() string {
	switch s.form {
	case formBool, formInt:
		return "varint"
	case formFloat:
		return "fixed64"
	default:
		if s.form == formList {
			return s.element.wireType()
		}

		return "bytes"
	}
}

func (s shape) times() string {
	if s.form == formList || s.form == formMap {
		return "rep"
	}

	return "opt"
}

// shapeOf tells how values of a type are written by code in a package.
func shapeOf(goType types.Type, home *types.Package, nullable map[string]bool) (shape, error) {
	if pointer, ok := goType.(*types.Pointer); ok {
		s, err := shapeOf(pointer.Elem(), home, nullable)
		if err != nil || s.pointer || s.form == formList || s.form == formMap {
			return shape{}, fmt.Errorf("%s has no protobuf form: %w", goType, errors.Join(err, errors.ErrUnsupported))
		}
		s.pointer = true

		return s, nil
	}
	if named, ok := types.Unalias(goType).(*types.Named); ok {
		switch name := named.Obj(); {
		case name.Pkg().Path() == "k8s.io/apimachinery/pkg/runtime" && name.Name() == "RawExtension":
			return shape{form: formExtension, goType: goType}, nil
		case name.Pkg().Path() == "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1" && name.Name() == "JSON":
			return shape{form: formJSON, goType: goType}, nil
		case name.Pkg() == home && nullable[name.Name()]:
			return shape{form: formMessage, goType: goType}, nil
		}
	}
	switch underlying := goType.Underlying().(type) {
	case *types.Basic:
		return basicShape(goType, underlying)
	case *types.Struct:
		if isOurs(goType, home) {
			return shape{form: formMessage, goType: goType}, nil
		}

		return shape{form: formForeign, goType: goType}, nil
	case *types.Slice:
		return listShape(goType, underlying, home, nullable)
	case *types.Map:
		return mapShape(goType, underlying, home, nullable)
	}

	return shape{}, fmt.Errorf("%s has no protobuf form", goType)
}

func basicShape(goType types.Type, basic *types.Basic) (shape, error) {
	switch basic.Kind() {
	case types.String:
		return shape{form: formString, goType: goType}, nil
	case types.Bool:
		return shape{form: formBool, goType: goType}, nil
	case types.Int32, types.Int64:
		return shape{form: formInt, goType: goType}, nil
	case types.Float64:
		return shape{form: formFloat, goType: goType}, nil
	default:
		return shape{}, fmt.Errorf("%s has no protobuf form", goType)
	}
}

func listShape(goType types.Type, slice *types.Slice, home *types.Package, nullable map[string]bool) (shape, error) {
	if basic, ok := slice.Elem().(*types.Basic); ok && basic.Kind() == types.Uint8 {
		return shape{form: formBytes, goType: goType}, nil
	}
	element, err := shapeOf(slice.Elem(), home, nullable)
	if err != nil {
		return shape{}, err
	}
	switch element.form {
	case formString, formMessage, formForeign:
		if !element.pointer {
			return shape{form: formList, goType: goType, element: &element}, nil
		}
	default:
	}

	return shape{}, fmt.Errorf("lists of %s are not written", slice.Elem())
}

func mapShape(goType types.Type, m *types.Map, home *types.Package, nullable map[string]bool) (shape, error) {
	key, ok := m.Key().Underlying().(*types.Basic)
	if !ok || key.Kind() != types.String {
		return shape{}, fmt.Errorf("maps of %s are not written", m.Key())
	}
	element, err := shapeOf(m.Elem(), home, nullable)
	if err != nil {
		return shape{}, err
	}
	if element.pointer || element.form == formList || element.form == formMap {
		return shape{}, fmt.Errorf("maps to %s are not written", m.Elem())
	}

	return shape{form: formMap, goType: goType, element: &element}, nil
}

// isOurs reports whether a type gets its protobuf form from this generator.
func isOurs(goType types.Type, home *types.Package) bool {
	named, ok := types.Unalias(goType).(*types.Named)
	if !ok || named.Obj().Pkg() == nil {
		return false
	}
	module, _, _ := strings.Cut(home.Path(), "/apis/")

	return strings.HasPrefix(named.Obj().Pkg().Path(), module+"/apis/")
}
