// SPDX-License-Identifier: Apache-2.0

package unserved

import (
	"fmt"
	"reflect"
	"slices"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// Severity says how the garden treats a setting that no controller acts upon.
type Severity string

const (
	// Note is for settings that have a default: they are documented, and there is no warning about them.
	Note Severity = "note"
	// Warn is for settings that are ignored while everything else works: users who set them get a warning.
	Warn Severity = "warn"
	// Problem is for settings that users rely on for access, isolation or durability. Users who set them get a warning, and the
	// status of the object reports them with the code ERR_CONFIGURATION_PROBLEM as long as they are set. The rest of the object
	// is reconciled.
	Problem Severity = "configuration problem"
	// Refuse is for settings that would break a running cluster. The API refuses a change that sets one of them on a shoot that
	// has a seed. An object that nevertheless has one is not reconciled, except for its deletion; the setting is reported with
	// the code ERR_CONFIGURATION_PROBLEM.
	Refuse Severity = "refuse"
)

// Row is a setting that the API accepts and no controller acts upon.
type Row struct {
	// Group and Kind are those of the objects.
	Group, Kind string
	// Field is the path of the field; [] stands for each item of a list, [key] for a key of a map. It is empty if no controller
	// acts upon the kind at all.
	Field string
	// Only says to which values the row applies; if it is empty, the row applies to every value that is set.
	Only string
	// Instead says what happens instead; it continues the sentence "... is not served yet: ".
	Instead string
	// Severity says how the garden treats it.
	Severity Severity

	of   reflect.Type
	when func(obj, value any) bool
}

// Finding is a row that applies to an object.
type Finding struct {
	Row

	// Path is the path of the field in this object, with the index of each item; empty if the row is about its kind.
	Path string

	value any
}

// String returns a sentence for the user who made the object.
func (f Finding) String() string {
	what := f.Path
	if what == "" {
		what = "kind " + f.Kind
	}
	if f.Only != "" {
		what += " (" + f.Only + ")"
	}
	return fmt.Sprintf("%s is not served yet: %s", what, f.Instead)
}

// Table returns all rows, in the order of the documentation.
func Table() []Row {
	return slices.Concat(shootRows(), insideRows(), annotationRows(), workerRows(), seedRows(), kindRows(), fieldRows())
}

// Lists reports whether a row is about a field of T, whatever values of it the row applies to. Controllers that would cause what
// is not served ask before they act.
func Lists[T any](field string) bool {
	return slices.ContainsFunc(Table(), func(row Row) bool { return row.of == reflect.TypeFor[*T]() && row.Field == field })
}

// In returns the rows that apply to an object, in the order of the table. The object is a pointer to a kind of the garden.
func In(obj any) []Finding {
	var found []Finding
	for _, row := range Table() {
		if row.of == reflect.TypeOf(obj) {
			found = append(found, row.in(obj)...)
		}
	}
	return found
}

// in returns the places in an object to which the row applies.
func (r Row) in(obj any) []Finding {
	if r.Field == "" {
		return []Finding{{Row: r}}
	}
	var found []Finding
	for _, at := range lookUp(reflect.ValueOf(obj).Elem(), r.Field) {
		if r.counts(obj, at.value) {
			found = append(found, Finding{Row: r, Path: at.path, value: at.value.Interface()})
		}
	}
	return found
}

// Set returns the rows that apply to an object and did not apply to the old one, or applied to another value. It returns all
// rows that apply if old is nil.
func Set(obj, old any) []Finding {
	found := In(obj)
	if old == nil || reflect.ValueOf(old).IsNil() {
		return found
	}
	return added(found, In(old))
}

// added returns the findings that were not there before.
func added(found, before []Finding) []Finding {
	return slices.DeleteFunc(found, func(f Finding) bool {
		return slices.ContainsFunc(before, func(b Finding) bool {
			return b.Field == f.Field && b.Only == f.Only && reflect.DeepEqual(b.value, f.value)
		})
	})
}

// Problems returns what the status of a shoot has to report with the code ERR_CONFIGURATION_PROBLEM. If one of the findings
// has the severity Refuse, no operation may begin.
func Problems(shoot *gardencorev1beta1.Shoot) []Finding {
	return slices.DeleteFunc(In(shoot), func(f Finding) bool { return f.Severity != Problem && f.Severity != Refuse })
}

func (r Row) counts(obj any, value reflect.Value) bool {
	if r.when != nil {
		return r.when(obj, value.Interface())
	}
	switch value.Kind() {
	case reflect.Bool:
		return value.Bool()
	case reflect.String, reflect.Slice, reflect.Map:
		return value.Len() > 0
	default:
		return true
	}
}
