// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardenappliancev1alpha1 "github.com/terrarium-garden/terrarium/apis/appliance/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/check"
	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/storage/local/timeline"
)

// The bounds of what is recorded of one change. A gardenlet may write into a status as much as a request takes, and many entries are read
// at once.
const (
	// maxFields bounds the list of changed fields in an entry, maxErrors that of errors, and maxCodes that of the codes of an error.
	maxFields = 20
	maxErrors = 20
	maxCodes  = 10
	// maxConditions is the number of conditions and constraints that are looked at. No object has as many.
	maxConditions = 100
)

func subjectOf(kind string, obj metav1.Object) gardenappliancev1alpha1.TimelineSubject {
	return gardenappliancev1alpha1.TimelineSubject{
		Kind: kind, Namespace: obj.GetNamespace(), Name: obj.GetName(), UID: obj.GetUID(),
	}
}

// difference returns what a change adds to the timeline. Before is nil for a new object, after for one that was removed.
func difference(before, after *picture) []*timeline.Entry {
	if after == nil {
		return []*timeline.Entry{{Type: gardenappliancev1alpha1.TimelineEntryRemoved}}
	}
	if before == nil {
		return []*timeline.Entry{requested(gardenappliancev1alpha1.TimelineCreate, after)}
	}
	var all []*timeline.Entry
	switch {
	case after.deleting && !before.deleting:
		all = append(all, requested(gardenappliancev1alpha1.TimelineDelete, after))
	case after.generation != before.generation:
		all = append(all, requested(gardenappliancev1alpha1.TimelineUpdate, after, changedFields(before.spec, after.spec)...))
	case after.confined: // Else every change of a specification makes a new generation.
		if fields := changedFields(before.spec, after.spec); len(fields) > 0 {
			all = append(all, requested(gardenappliancev1alpha1.TimelineUpdate, after, fields...))
		}
	}
	if entry := operation(before.operation, after.operation); entry != nil {
		all = append(all, entry)
	}
	if !sameErrors(before.errors, after.errors) {
		all = append(all, &timeline.Entry{Type: gardenappliancev1alpha1.TimelineEntryErrors, LastErrors: copied(after.errors)})
	}

	return append(all, conditions(before.conditions, after.conditions)...)
}

func requested(verb gardenappliancev1alpha1.TimelineVerb, after *picture, fields ...string) *timeline.Entry {
	return &timeline.Entry{
		Type:    gardenappliancev1alpha1.TimelineEntryRequest,
		Request: &gardenappliancev1alpha1.TimelineRequest{Verb: verb, Fields: fields, Generation: after.generation},
	}
}

// operation returns an entry for another type or state of the last operation, and for another description unless it is in
// progress: then the tasks say more.
func operation(before, after *gardencorev1beta1.LastOperation) *timeline.Entry {
	if after == nil {
		return nil
	}
	what := &gardenappliancev1alpha1.TimelineOperation{
		Type: word(after.Type), State: word(after.State), Progress: after.Progress, Description: bounded(after.Description),
	}
	if before != nil {
		same := before.Type == after.Type && before.State == after.State
		if same && (after.State == gardencorev1beta1.LastOperationStateProcessing || before.Description == after.Description) {
			return nil
		}
		what.From = word(before.State)
	}

	return &timeline.Entry{Type: gardenappliancev1alpha1.TimelineEntryOperation, Operation: what}
}

// conditions returns an entry for each condition whose status or reason changed, and for each that was removed.
func conditions(before, after []gardencorev1beta1.Condition) []*timeline.Entry {
	before, after = before[:min(len(before), maxConditions)], after[:min(len(after), maxConditions)]
	var all []*timeline.Entry
	add := func(what *gardenappliancev1alpha1.TimelineCondition) {
		all = append(all, &timeline.Entry{Type: gardenappliancev1alpha1.TimelineEntryCondition, Condition: what})
	}
	for _, now := range after {
		what := &gardenappliancev1alpha1.TimelineCondition{
			Type: word(now.Type), Status: word(now.Status), Reason: word(now.Reason), Message: bounded(now.Message),
		}
		if was := query.FindCondition(before, now.Type); was != nil {
			if was.Status == now.Status && was.Reason == now.Reason {
				continue
			}
			what.From = word(was.Status)
		}
		add(what)
	}
	for _, was := range before {
		if query.FindCondition(after, was.Type) == nil {
			add(&gardenappliancev1alpha1.TimelineCondition{Type: word(was.Type), From: word(was.Status)})
		}
	}

	return all
}

func copied(errors []gardencorev1beta1.LastError) []gardencorev1beta1.LastError {
	var all []gardencorev1beta1.LastError
	for _, one := range errors[:min(len(errors), maxErrors)] {
		short := gardencorev1beta1.LastError{Description: bounded(one.Description), LastUpdateTime: one.LastUpdateTime.DeepCopy()}
		for _, code := range one.Codes[:min(len(one.Codes), maxCodes)] {
			short.Codes = append(short.Codes, word(code))
		}
		if one.TaskID != nil {
			short.TaskID = new(word(*one.TaskID))
		}
		all = append(all, short)
	}
	if more := len(errors) - maxErrors; more > 0 {
		all = append(all, gardencorev1beta1.LastError{Description: fmt.Sprintf("%d more errors", more)})
	}

	return all
}

// word cuts a text that is one word, unless somebody means harm.
func word[S ~string](text S) S { return S(cutTo(string(text), gardenappliancev1alpha1.MaxTimelineID)) }

// sameErrors compares errors without their times, which change with each attempt.
func sameErrors(a, b []gardencorev1beta1.LastError) bool {
	return slices.EqualFunc(a, b, func(a, b gardencorev1beta1.LastError) bool {
		return a.Description == b.Description && slices.Equal(a.Codes, b.Codes) && check.Equal(a.TaskID, b.TaskID)
	})
}

// changedFields returns the paths of the fields of two specifications that differ, two levels deep.
func changedFields(before, after any) []string {
	var paths []string
	b, a := reflect.ValueOf(before).Elem(), reflect.ValueOf(after).Elem()
	for field, fb := range b.Fields() {
		fa := a.FieldByIndex(field.Index)
		if check.EqualValues(fb, fa) {
			continue
		}
		path := "spec." + jsonName(field)
		below := changedBelow(fb, fa)
		if len(below) == 0 {
			paths = append(paths, path)
		}
		for _, name := range below {
			paths = append(paths, path+"."+name)
		}
	}
	if len(paths) > maxFields {
		paths = append(paths[:maxFields], "…")
	}

	return paths
}

// changedBelow returns the names of the fields of two structs that differ, or nothing for other types.
func changedBelow(b, a reflect.Value) []string {
	if b.Kind() == reflect.Pointer {
		if b.IsNil() || a.IsNil() {
			return nil
		}
		b, a = b.Elem(), a.Elem()
	}
	if b.Kind() != reflect.Struct {
		return nil
	}
	var names []string
	for field, fb := range b.Fields() {
		if !field.IsExported() {
			return nil // A value such as a quantity.
		}
		if !check.EqualValues(fb, a.FieldByIndex(field.Index)) {
			names = append(names, jsonName(field))
		}
	}

	return names
}

func jsonName(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	if name == "" {
		return field.Name
	}

	return name
}
