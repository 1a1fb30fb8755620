// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// mismatches compares a JSON document with the Go type that it will be decoded into and returns an error for each field that
// the type does not have or that has a value of another type. The standard decoders stop at the first error, and do not name
// the path for types with their own decoders, such as durations and quantities.
func mismatches(path string, want reflect.Type, document json.RawMessage) []error {
	if want.Kind() == reflect.Pointer {
		want = want.Elem()
	}

	if string(document) == "null" {
		return nil
	}

	decodesItself := reflect.PointerTo(want).Implements(reflect.TypeFor[json.Unmarshaler]())

	switch {
	case decodesItself:
		return scalarMismatch(path, want, document)
	case want.Kind() == reflect.Struct:
		return structMismatches(path, want, document)
	case want.Kind() == reflect.Map:
		return mapMismatches(path, want, document)
	case want.Kind() == reflect.Slice && want.Elem().Kind() != reflect.Uint8:
		return listMismatches(path, want, document)
	default:
		return scalarMismatch(path, want, document)
	}
}

func scalarMismatch(path string, want reflect.Type, document json.RawMessage) []error {
	if err := json.Unmarshal(document, reflect.New(want).Interface()); err != nil {
		return []error{fmt.Errorf("field %q: got %s, want %s", path, document, describe(want))}
	}

	return nil
}

func structMismatches(path string, want reflect.Type, document json.RawMessage) []error {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(document, &object); err != nil {
		return []error{fmt.Errorf("field %q: got %s, want an object", path, document)}
	}

	known := jsonFields(want)

	var errs []error

	for _, name := range slices.Sorted(maps.Keys(object)) {
		child := join(path, name)

		fieldType, found := known[name]
		if !found {
			errs = append(errs, fmt.Errorf("unknown field %q%s", child, suggestion(name, known)))

			continue
		}

		errs = append(errs, mismatches(child, fieldType, object[name])...)
	}

	return errs
}

func mapMismatches(path string, want reflect.Type, document json.RawMessage) []error {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(document, &object); err != nil {
		return []error{fmt.Errorf("field %q: got %s, want an object", path, document)}
	}

	var errs []error
	for _, key := range slices.Sorted(maps.Keys(object)) {
		errs = append(errs, mismatches(fmt.Sprintf("%s[%s]", path, key), want.Elem(), object[key])...)
	}

	return errs
}

func listMismatches(path string, want reflect.Type, document json.RawMessage) []error {
	var list []json.RawMessage
	if err := json.Unmarshal(document, &list); err != nil {
		return []error{fmt.Errorf("field %q: got %s, want a list", path, document)}
	}

	var errs []error
	for i, item := range list {
		errs = append(errs, mismatches(fmt.Sprintf("%s[%d]", path, i), want.Elem(), item)...)
	}

	return errs
}

// jsonFields maps the JSON names of a struct's fields, those of inlined structs included, to their types.
func jsonFields(of reflect.Type) map[string]reflect.Type {
	fields := map[string]reflect.Type{}

	for field := range of.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")

		switch {
		case name == "-":
		case name != "":
			fields[name] = field.Type
		case field.Anonymous:
			maps.Copy(fields, jsonFields(field.Type))
		}
	}

	return fields
}

// suggestion names a known field that differs from an unknown one in case only.
func suggestion(name string, known map[string]reflect.Type) string {
	for candidate := range known {
		if strings.EqualFold(candidate, name) {
			return fmt.Sprintf(", did you mean %q", candidate)
		}
	}

	return ""
}

func describe(t reflect.Type) string {
	switch t.Name() {
	case "Duration":
		return "a duration such as 30s"
	case "Quantity":
		return "a quantity such as 100Gi"
	case "Time":
		return "a time such as 2006-01-02T15:04:05Z"
	}

	switch t.Kind() {
	case reflect.Int, reflect.Int32, reflect.Int64:
		return "a whole number"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a string"
	case reflect.Slice:
		return "a string in base64"
	default:
		return "a value of type " + t.Name()
	}
}

func join(path, name string) string {
	if path == "" {
		return name
	}

	return path + "." + name
}
