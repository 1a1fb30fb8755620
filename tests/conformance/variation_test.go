// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
)

// variation is one change of a field.
type variation struct {
	// name says what is done, for the line of the answer.
	name string
	// value is what the field is set to, unless it is removed.
	value   any
	removed bool
}

// long is a text that is longer than any name or label may be.
var long = strings.Repeat("a", 300)

// atCreation lists what is tried of a field of an object to be created.
func atCreation(f field) []variation {
	var tried []variation
	if f.value != nil {
		tried = append(tried, variation{name: "left out", removed: true})
	}
	tried = append(tried, variation{name: "wrong type", value: wrongType(f.form)})

	return append(tried, values(f)...)
}

// values lists values of the right type that are most likely out of range or of a wrong form.
func values(f field) []variation {
	switch f.form {
	case formObject, formMap:
		return []variation{{name: "empty", value: map[string]any{}}, {name: "unknown field", value: withMember(f.value, "unknown", "x")}}
	case formList:
		tried := []variation{{name: "empty", value: []any{}}}
		if list, ok := f.value.([]any); ok && len(list) > 0 {
			tried = append(tried, variation{name: "duplicate", value: append(slices.Clone(list), clone(list[0]))})
		}

		return tried
	case formString:
		return []variation{
			{name: "empty", value: ""},
			{name: "words", value: "Not a Value!"},
			{name: "word", value: "value"},
			{name: "long", value: long},
		}
	case formBytes:
		return []variation{{name: "empty", value: ""}}
	case formBool:
		return []variation{{name: "true", value: true}, {name: "false", value: false}}
	case formInt:
		return []variation{
			{name: "-1", value: int64(-1)},
			{name: "0", value: int64(0)},
			{name: "1", value: int64(1)},
			{name: "2147483647", value: int64(2147483647)},
		}
	case formQuantity:
		return []variation{{name: "words", value: "lots"}, {name: "-1", value: "-1"}, {name: "0", value: "0"}, {name: "1Pi", value: "1Pi"}}
	case formDuration:
		return []variation{{name: "words", value: "soon"}, {name: "-1s", value: "-1s"}, {name: "0s", value: "0s"}, {name: "1s", value: "1s"}, {name: "9000h", value: "9000h0m0s"}}
	case formTime:
		return []variation{{name: "words", value: "soon"}, {name: "past", value: "2001-02-03T04:05:06Z"}, {name: "future", value: "2201-02-03T04:05:06Z"}}
	case formEither:
		return []variation{{name: "-1", value: int64(-1)}, {name: "0", value: int64(0)}, {name: "words", value: "some"}, {name: "101%", value: "101%"}}
	case formAny:
		return []variation{{name: "empty", value: map[string]any{}}, {name: "text", value: "text"}}
	default:
		return nil
	}
}

// atUpdate lists what is tried of a field of an object that exists.
func atUpdate(f field) []variation {
	if f.value == nil {
		return nil
	}
	tried := []variation{{name: "removed", removed: true}}
	if value, ok := changed(f); ok {
		tried = append(tried, variation{name: "changed", value: value})
	}
	list, ok := f.value.([]any)
	if ok && len(list) > 1 {
		tried = append(tried, variation{name: "one item less", value: list[:len(list)-1]})
	}

	return tried
}

// changed is another value that may well be valid, where there is one.
func changed(f field) (any, bool) {
	switch v := f.value.(type) {
	case string:
		return changedText(f.form, v)
	case bool:
		return !v, true
	case int64:
		return v + 1, true
	case float64:
		return v + 1, true
	default:
		return nil, false
	}
}

func changedText(f form, v string) (any, bool) {
	switch f {
	case formQuantity:
		q, err := resource.ParseQuantity(v)
		if err != nil {
			return nil, false
		}
		q.Add(q)

		return q.String(), true
	case formDuration:
		return "1m1s", v != "1m1s"
	case formTime:
		return "2202-02-03T04:05:06Z", true
	default:
		return v + "x", true
	}
}

// wrongType is a value that JSON allows and the Go type does not.
func wrongType(f form) any {
	switch f {
	case formString, formBytes, formDuration, formTime:
		return int64(7)
	case formBool, formInt, formList:
		return "text"
	case formQuantity, formEither:
		return true
	default:
		return []any{"text"}
	}
}

// with returns a copy of an object in which a field is varied.
func with(object map[string]any, path []any, v variation) map[string]any {
	varied, _ := set(runtime.DeepCopyJSON(object), path, v).(map[string]any)

	return varied
}

// set varies what the path leads to in node, and returns node as it then is.
func set(node any, path []any, v variation) any {
	if len(path) == 0 {
		return v.value
	}
	last := len(path) == 1
	switch step := path[0].(type) {
	case string:
		object, _ := node.(map[string]any)
		if object == nil {
			object = map[string]any{}
		}
		if last && v.removed {
			delete(object, step)
		} else {
			object[step] = set(object[step], path[1:], v)
		}

		return object
	case int:
		list, _ := node.([]any)
		if last && v.removed {
			return slices.Delete(list, step, step+1)
		}
		list[step] = set(list[step], path[1:], v)

		return list
	default:
		return node
	}
}

func withMember(value any, name string, member any) any {
	object, _ := clone(value).(map[string]any)
	if object == nil {
		object = map[string]any{}
	}
	object[name] = member

	return object
}

func clone(value any) any { return runtime.DeepCopyJSONValue(normal(value)) }

// normal gives a value the types that DeepCopyJSONValue knows.
func normal(value any) any {
	if value == nil {
		return nil
	}
	raw, err := json.Marshal(value)
	if err != nil {
		panic(err) // values come from JSON
	}
	var out any
	if err := json.Unmarshal(raw, &out); err != nil {
		panic(err)
	}

	return out
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
