// SPDX-License-Identifier: Apache-2.0

package unserved

import (
	"reflect"
	"strings"
)

// Rows is the table in a form in which it is quick to say that an object has nothing of it, as nearly all have. It can be used by
// many at once.
type Rows struct{ of map[reflect.Type][]compiled }

// compiled is a row with the way to its values.
type compiled struct {
	Row

	way []turn
}

// turn is one step on the way to a value: an item of a list, a key of a map, or a field of a struct.
type turn struct {
	items bool
	key   reflect.Value
	field []int
}

// Compile returns the rows of the table.
func Compile() *Rows {
	rows := &Rows{of: map[reflect.Type][]compiled{}}
	for _, row := range Table() {
		rows.of[row.of] = append(rows.of[row.of], compiled{Row: row, way: wayTo(row)})
	}
	return rows
}

// wayTo returns nil for a row about a kind.
func wayTo(row Row) []turn {
	var way []turn
	at := row.of.Elem()
	for _, step := range steps(row.Field) {
		var next turn
		switch {
		case step == "[]":
			next.items, at = true, at.Elem()
		case strings.HasPrefix(step, "["):
			next.key, at = reflect.ValueOf(strings.Trim(step, "[]")).Convert(at.Key()), at.Elem()
		default:
			next.field = fieldNamed(at, step)
			at = at.FieldByIndex(next.field).Type
		}
		if at.Kind() == reflect.Pointer {
			at = at.Elem()
		}
		way = append(way, next)
	}
	return way
}

// In is the function In, but quick.
func (r *Rows) In(obj any) []Finding {
	var found []Finding
	for i := range r.of[reflect.TypeOf(obj)] {
		row := &r.of[reflect.TypeOf(obj)][i]
		if row.Field == "" || row.applies(obj, reflect.ValueOf(obj).Elem(), row.way) {
			found = append(found, row.in(obj)...)
		}
	}
	return found
}

// Set is the function Set, but quick.
func (r *Rows) Set(obj, old any) []Finding {
	found := r.In(obj)
	if len(found) == 0 || old == nil || reflect.ValueOf(old).IsNil() {
		return found
	}
	return added(found, r.In(old))
}

// applies reports whether the row applies to a value at the end of the way.
func (c *compiled) applies(obj any, at reflect.Value, way []turn) bool {
	if at.Kind() == reflect.Pointer {
		if at.IsNil() {
			return false
		}
		at = at.Elem()
	}
	if len(way) == 0 {
		return c.counts(obj, at)
	}
	switch next := way[0]; {
	case next.items:
		for i := range at.Len() {
			if c.applies(obj, at.Index(i), way[1:]) {
				return true
			}
		}
		return false
	case next.key.IsValid():
		value := at.MapIndex(next.key)
		return value.IsValid() && c.applies(obj, value, way[1:])
	default:
		return c.applies(obj, at.FieldByIndex(next.field), way[1:])
	}
}
