// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/client-go/tools/cache"
)

const (
	// setLabel is the value of labels that say by their keys alone what an object belongs to.
	setLabel = "true"
	// byLabel begins the name of the index of the labels with a prefix. No field has such a name.
	byLabel = "metadata.labels:"
)

// indexers returns the indexes of the watch cache.
func indexers[T Object](rules Rules[T]) *cache.Indexers {
	all := cache.Indexers{}
	add := func(name string, values func(T) []string) {
		all[storage.FieldIndex(name)] = func(obj any) ([]string, error) {
			o, ok := obj.(T)
			if !ok {
				return nil, fmt.Errorf("index %q by %q: %T is another kind", rules.Plural, name, obj)
			}
			return values(o), nil
		}
	}
	for _, name := range rules.Indexes {
		add(name, func(o T) []string { return []string{rules.Fields(o)[name]} })
	}
	if prefix := rules.LabelIndex; prefix != "" {
		add(byLabel+prefix, func(o T) []string { return labelled(o.GetLabels(), prefix) })
	}
	return &all
}

// labelled returns the rest of each label with the prefix and the value "true".
func labelled(set map[string]string, prefix string) []string {
	var found []string
	for key, value := range set {
		if rest, is := strings.CutPrefix(key, prefix); is && value == setLabel {
			found = append(found, rest)
		}
	}
	return found
}

// indexed returns the field selector and the fields that the watch cache looks up in its indexes. The cache knows labels with fixed keys
// and fields only, so a label with the prefix is given to it as one more field that has to have a value.
func indexed[T Object](rules Rules[T], label labels.Selector, field fields.Selector) (fields.Selector, []string) {
	prefix := rules.LabelIndex
	if prefix == "" || label == nil || field == nil {
		return field, rules.Indexes
	}
	required, selectable := label.Requirements()
	for _, r := range required {
		rest, is := strings.CutPrefix(r.Key(), prefix)
		if selectable && is && requires(r, setLabel) {
			return labelSelector{Selector: field, name: byLabel + prefix, value: rest}, append(slices.Clone(rules.Indexes), byLabel+prefix)
		}
	}
	return field, rules.Indexes
}

// requires reports whether a label has to have the value.
func requires(r labels.Requirement, value string) bool {
	switch r.Operator() {
	case selection.Equals, selection.DoubleEquals, selection.In:
		values := r.ValuesUnsorted()
		return len(values) == 1 && values[0] == value
	default:
		return false
	}
}

// labelSelector is a field selector for whatever has a label: it selects what the field selector selects, and tells the watch cache
// in which of its indexes to look.
type labelSelector struct {
	fields.Selector

	name, value string
}

// RequiresExactMatch implements fields.Selector.
func (l labelSelector) RequiresExactMatch(field string) (value string, found bool) {
	if field == l.name {
		return l.value, true
	}
	return l.Selector.RequiresExactMatch(field)
}

// DeepCopySelector implements fields.Selector.
func (l labelSelector) DeepCopySelector() fields.Selector {
	l.Selector = l.Selector.DeepCopySelector()
	return l
}
