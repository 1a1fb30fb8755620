// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Object is what every served kind is.
type Object interface {
	runtime.Object
	metav1.Object
}

// Names are what a resource is called.
type Names struct {
	// GroupVersion is the version clients see.
	GroupVersion schema.GroupVersion
	// Plural and Singular are the lower-case resource names.
	Plural, Singular string
	// ShortNames and Categories are what kubectl accepts instead.
	ShortNames, Categories []string
}

// Rules are what a kind T (a pointer to its Go type) says about itself. A nil function has the generic behaviour that
// its comment names.
type Rules[T Object] struct {
	Names

	// New and NewList return empty objects.
	New     func() T
	NewList func() runtime.Object
	// Namespaced reports whether objects have namespaces.
	Namespaced bool
	// Unconditional allows updates that carry no resource version (API-STRAT-8).
	Unconditional bool
	// Turn is shared by kinds whose objects admission judges by other objects of these kinds; nil if it does not.
	Turn Turn
	// Generation tells that the server maintains metadata.generation (API-STRAT-1).
	Generation bool

	// PrepareCreate changes a new object before it is validated. The generic behaviour changes nothing.
	PrepareCreate func(ctx context.Context, obj T)
	// PrepareUpdate changes an updated object before it is validated.
	PrepareUpdate func(ctx context.Context, obj, old T)
	// SpecChanged reports whether the part that counts as spec differs. Required with Generation.
	SpecChanged func(obj, old T) bool
	// MustGrow tells of further reasons for a new generation, beside spec and deletion. It may change the object:
	// operation annotations are consumed here.
	MustGrow func(obj, old T) bool
	// Validate and ValidateUpdate check the object alone; nil accepts.
	Validate       func(obj T) field.ErrorList
	ValidateUpdate func(obj, old T) field.ErrorList
	// Warn says what is worth a word to the client about an object that is accepted; old is nil for a new one.
	Warn func(obj, old T) []string
	// Canonicalize brings an accepted object into the form that is stored.
	Canonicalize func(obj T)

	// Fields are the selectable fields beside metadata.name and metadata.namespace.
	Fields func(obj T) fields.Set
	// Indexes are those of Fields that the watch cache indexes.
	Indexes []string
	// LabelIndex is the prefix of labels by which many clients select, each with a key of its own and the value "true". The watch
	// cache indexes them; "" for none.
	LabelIndex string
	// Columns are what kubectl get prints after Name. Age comes last, unless it is among them as a column without Cell.
	Columns []Column[T]

	// Status describes the status subresource; nil means that there is none.
	Status *StatusRules[T]
}

// StatusRules are what a kind says about its status subresource.
type StatusRules[T Object] struct {
	// Reset makes the status of obj that of old; with a zero old it clears the status.
	Reset func(obj, old T)
	// KeepSpec makes the spec of obj, and what else is neither status nor metadata, that of old.
	KeepSpec func(obj, old T)
	// PrepareUpdate changes an updated object before it is validated, after KeepSpec.
	PrepareUpdate func(ctx context.Context, obj, old T)
	// Validate checks a status update; nil accepts.
	Validate func(obj, old T) field.ErrorList
}

// Column is one column of the table form.
type Column[T Object] struct {
	// Name is the head; kubectl prints it in capitals.
	Name string
	// Wide columns appear with -o wide only.
	Wide bool
	// Cell returns what is printed for one object; a nil one stands for the age.
	Cell func(obj T) string
}
