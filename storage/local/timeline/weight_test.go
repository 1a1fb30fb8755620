// SPDX-License-Identifier: Apache-2.0

package timeline_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/terrarium-garden/terrarium/storage/local/timeline"
)

// TestWeight gives one field of an entry after the other long texts, and long lists: if one was left out, many entries with just that would take
// more memory than is known.
func TestWeight(t *testing.T) {
	t.Parallel()
	for name, shape := range map[string]struct{ length, items int }{"long texts": {length: 10_000, items: 3}, "long lists": {length: 1, items: 200}} {
		for i := range fields(&timeline.Entry{}) {
			e := &timeline.Entry{}
			fill(reflect.ValueOf(fields(e)[i]).Elem(), strings.Repeat("x", shape.length), shape.items)
			size, err := timeline.Size(e)
			if err != nil {
				t.Fatal(err)
			}
			// The file has the namespace and the names of the subject more than once.
			if weight := timeline.Weight(e); weight < size*2/5 || i > 0 && weight < size*9/10 || weight > 20*size {
				t.Errorf("%s in field %d: Weight(...) = %d, want about what the entry takes in the file, which is %d", name, i, weight, size)
			}
		}
	}
}

// fields are those of an entry that have texts.
func fields(e *timeline.Entry) []any {
	return []any{
		&struct{ Namespace, Kind, Within, Name *string }{&e.Namespace, &e.Subject.Kind, &e.Subject.Namespace, &e.Subject.Name},
		&e.UID, &e.Type, &e.User, &e.RequestedBy, &e.Subject.UID, &e.Request, &e.Operation, &e.Condition, &e.LastErrors, &e.Task,
	}
}

// fill sets all texts in a value, and gives its lists some items.
func fill(v reflect.Value, text string, items int) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		fill(v.Elem(), text, items)
	case reflect.Struct:
		for _, field := range v.Fields() {
			if field.CanSet() {
				fill(field, text, items)
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), items, items))
		for i := range items {
			fill(v.Index(i), text, items)
		}
	default:
	}
}
