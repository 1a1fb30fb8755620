// SPDX-License-Identifier: Apache-2.0

package unserved

import (
	"fmt"
	"reflect"
	"strings"
)

// place is a value in an object.
type place struct {
	path  string
	value reflect.Value
}

// lookUp returns the values at a path. Nil pointers and missing keys of a map have no values.
func lookUp(obj reflect.Value, path string) []place {
	places := []place{{value: obj}}
	for _, step := range steps(path) {
		var next []place
		for _, p := range places {
			next = append(next, p.step(step)...)
		}
		places = next
	}
	return places
}

// steps splits a path into names of fields, [] for lists and [key] for maps. A key may contain dots.
func steps(path string) []string {
	var all []string
	for path != "" {
		end := strings.IndexAny(path, ".[")
		switch {
		case strings.HasPrefix(path, "["):
			end = strings.Index(path, "]") + 1
		case end < 0:
			end = len(path)
		}
		all = append(all, path[:end])
		path = strings.TrimPrefix(path[end:], ".")
	}
	return all
}

func (p place) step(step string) []place {
	switch {
	case step == "[]":
		var items []place
		for i := range p.value.Len() {
			items = append(items, place{path: fmt.Sprintf("%s[%d]", p.path, i), value: p.value.Index(i)}.set()...)
		}
		return items
	case strings.HasPrefix(step, "["):
		key := reflect.ValueOf(strings.Trim(step, "[]")).Convert(p.value.Type().Key())
		value := p.value.MapIndex(key)
		if !value.IsValid() {
			return nil
		}
		return place{path: p.path + step, value: value}.set()
	default:
		index := fieldNamed(p.value.Type(), step)
		if index == nil {
			return nil
		}
		path := step
		if p.path != "" {
			path = p.path + "." + step
		}
		return place{path: path, value: p.value.FieldByIndex(index)}.set()
	}
}

// set dereferences a pointer; it returns nothing for a nil pointer.
func (p place) set() []place {
	if p.value.Kind() != reflect.Pointer {
		return []place{p}
	}
	if p.value.IsNil() {
		return nil
	}
	return []place{{path: p.path, value: p.value.Elem()}}
}

// fieldNamed finds the field of a struct by its name in JSON, also in structs that are inlined.
func fieldNamed(t reflect.Type, name string) []int {
	for i := range t.NumField() {
		field := t.Field(i)
		tag, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if tag == name {
			return field.Index
		}
		if field.Anonymous && strings.Contains(options, "inline") {
			if inner := fieldNamed(field.Type, name); inner != nil {
				return append([]int{i}, inner...)
			}
		}
	}
	return nil
}
