// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"fmt"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// form is what the JSON of a field looks like.
type form string

const (
	formObject   form = "object"
	formMap      form = "map"
	formList     form = "list"
	formString   form = "string"
	formBytes    form = "bytes"
	formBool     form = "bool"
	formInt      form = "int"
	formQuantity form = "quantity"
	formDuration form = "duration"
	formTime     form = "time"
	formEither   form = "int-or-string"
	formAny      form = "any"
)

// field is one field of a kind: where it is, what it looks like, and what the object to vary has there.
type field struct {
	// path leads from the object to the value: names of fields, keys of maps, and indexes of lists.
	path []any
	form form
	// value is what the object has there; nil if it has nothing.
	value any
}

// String is the path as the API server writes it.
func (f field) String() string {
	var b strings.Builder
	for _, step := range f.path {
		switch s := step.(type) {
		case int:
			fmt.Fprintf(&b, "[%d]", s)
		case string:
			switch {
			case strings.ContainsAny(s, "./"):
				fmt.Fprintf(&b, "[%s]", s)
			case b.Len() > 0:
				b.WriteString("." + s)
			default:
				b.WriteString(s)
			}
		}
	}

	return b.String()
}

// fields lists the fields of a Go type in the order of their declaration, each before what is in it. Of a list it follows
// the first item. Where the object has nothing, the fields below are not listed: they are reached once it has something.
func fields(t reflect.Type, value any, path ...any) []field {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	f := formOf(t)
	var found []field
	if len(path) > 0 {
		found = append(found, field{path: append([]any(nil), path...), form: f, value: value})
	}
	switch f {
	case formObject:
		if object, ok := value.(map[string]any); ok {
			found = append(found, members(t, object, path)...)
		}
	case formList:
		if list, ok := value.([]any); ok && len(list) > 0 {
			found = append(found, fields(t.Elem(), list[0], append(path, 0)...)...)
		}
	case formMap:
		if object, ok := value.(map[string]any); ok {
			for _, key := range sorted(object)[:min(1, len(object))] {
				found = append(found, fields(t.Elem(), object[key], append(path, key)...)...)
			}
		}
	default:
	}

	return found
}

// members lists the fields of a struct; those of embedded structs as its own.
func members(t reflect.Type, object map[string]any, path []any) []field {
	var found []field
	for member := range t.Fields() {
		name, options, _ := strings.Cut(member.Tag.Get("json"), ",")
		switch {
		case name == "-" || served(name, path):
		case name == "" || options == "inline":
			found = append(found, members(member.Type, object, path)...)
		default:
			found = append(found, fields(member.Type, object[name], append(path, name)...)...)
		}
	}

	return found
}

// served reports whether a field of the object itself is not the client's to write in a request for the object.
func served(name string, path []any) bool {
	if len(path) > 0 {
		return false
	}

	return name == "status" || name == "metadata" || name == "kind" || name == "apiVersion"
}

func formOf(t reflect.Type) form {
	switch t {
	case reflect.TypeFor[resource.Quantity]():
		return formQuantity
	case reflect.TypeFor[metav1.Duration]():
		return formDuration
	case reflect.TypeFor[metav1.Time](), reflect.TypeFor[metav1.MicroTime]():
		return formTime
	case reflect.TypeFor[intstr.IntOrString]():
		return formEither
	case reflect.TypeFor[runtime.RawExtension]():
		return formAny
	}
	switch t.Kind() {
	case reflect.Struct:
		if t.NumField() == 1 && t.Field(0).Name == "Raw" {
			return formAny
		}

		return formObject
	case reflect.Map:
		return formMap
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return formBytes
		}

		return formList
	case reflect.String:
		return formString
	case reflect.Bool:
		return formBool
	default:
		return formInt
	}
}
