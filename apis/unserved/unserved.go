// SPDX-License-Identifier: Apache-2.0

package unserved

import (
	"fmt"
	"reflect"
	"slices"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// Severity says what is done about a setting that nobody acts upon.
type Severity string

const (
	// Note is for settings that are there by default: they are documented, and nobody is warned of them.
	Note Severity = "note"
	// Warn is for settings that are ignored while everything else works: whoever sets them is warned.
	Warn Severity = "warn"
	// Problem is for settings that somebody relies on for access, isolation or durability. Whoever sets them is warned, and
	// the status of the object reports them with the code ERR_CONFIGURATION_PROBLEM for as long as they are set. The rest
	// of the object is acted upon.
	Problem Severity = "configuration problem"
	// Refuse is for settings that would break a cluster that runs. The API refuses a change that sets one of them on a
	// shoot that has a seed. With an object that has it all the same, nothing is done but to report it with the code
	// ERR_CONFIGURATION_PROBLEM, and to delete it if that is asked for.
	Refuse Severity = "refuse"
)

// Row is something that the API accepts and nobody acts upon.
type Row struct {
	// Group and Kind are those of the objects.
	Group, Kind string
	// Field is the path of the field; [] stands for each item of a list, [key] for a key of a map. It is empty if nobody
	// acts upon the kind at all.
	Field string
	// Only says for which values the row counts; for each that is set when empty.
	Only string
	// Instead says what happens in its place; it continues the sentence "... is not served yet: ".
	Instead string
	// Severity says what is done about it.
	Severity Severity

	of   reflect.Type
	when func(obj, value any) bool
}

// Finding is a row that counts for an object.
type Finding struct {
	Row

	// Path is the path of the field in this object, with the index of each item; empty if the row is about its kind.
	Path string

	value any
}

// String is the sentence for whoever made the object.
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
	return slices.Concat(shootRows(), insideRows(), operationRows(), kubernetesRows(), workerRows(), seedRows(), kindRows(), otherRows())
}

// In returns what counts for an object, which is a pointer to a kind of the garden, in the order of the table.
func In(obj any) []Finding {
	var found []Finding
	for _, row := range Table() {
		if row.of != reflect.TypeOf(obj) {
			continue
		}
		if row.Field == "" {
			found = append(found, Finding{Row: row})
			continue
		}
		for _, at := range lookUp(reflect.ValueOf(obj).Elem(), row.Field) {
			if row.counts(obj, at.value) {
				found = append(found, Finding{Row: row, Path: at.path, value: at.value.Interface()})
			}
		}
	}
	return found
}

// Set returns what counts for an object and did not for the old one, or had another value there. Nothing is left out when
// old is nil.
func Set(obj, old any) []Finding {
	found := In(obj)
	if old == nil || reflect.ValueOf(old).IsNil() {
		return found
	}
	before := In(old)
	return slices.DeleteFunc(found, func(f Finding) bool {
		return slices.ContainsFunc(before, func(b Finding) bool {
			return b.Field == f.Field && b.Only == f.Only && reflect.DeepEqual(b.value, f.value)
		})
	})
}

// Problems returns what the status of a shoot has to report with the code ERR_CONFIGURATION_PROBLEM. Where one of them has
// the severity Refuse, no operation may begin.
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
