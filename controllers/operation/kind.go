// SPDX-License-Identifier: Apache-2.0

package operation

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
)

// Kind says how operations on the objects of one kind are shown.
type Kind[T client.Object] struct {
	// Name is the name of the kind.
	Name string
	// Noun is what an object is called in descriptions: "the seed".
	Noun string
	// Fields finds the fields of the status.
	Fields func(object T) Fields
	// Hint adds to the description of an error that the operation is tried again.
	Hint bool
	// Begun is the progress of an operation that has begun, Pending that of one that waits or has failed, for kinds that have
	// no tasks to count. Zero keeps the progress of the tasks.
	Begun, Pending int32
}

// Fields point into the status of one object. A field that the kind does not have is nil.
type Fields struct {
	// LastOperation is required.
	LastOperation **gardencorev1beta1.LastOperation
	// LastErrors holds an error for each task, LastError the error of the operation.
	LastErrors *[]gardencorev1beta1.LastError
	LastError  **gardencorev1beta1.LastError
	// RetryCycle is when the operation was tried first. Operations of kinds without it are tried again forever.
	RetryCycle **metav1.Time
	// Observe records the generation, for kinds that do so at the end of an operation.
	Observe func()
	// Conditions are all lists of conditions. Others write them as well.
	Conditions []*[]gardencorev1beta1.Condition
}

// errors is a copy of the errors.
func (f Fields) errors() []gardencorev1beta1.LastError {
	var all []gardencorev1beta1.LastError
	if f.LastErrors != nil {
		for i := range *f.LastErrors {
			all = append(all, *(*f.LastErrors)[i].DeepCopy())
		}
	}
	if f.LastError != nil && *f.LastError != nil {
		all = append(all, *(*f.LastError).DeepCopy())
	}
	return all
}

// Shoots is the kind Shoot.
func Shoots() Kind[*gardencorev1beta1.Shoot] {
	return Kind[*gardencorev1beta1.Shoot]{Name: "Shoot", Noun: "the shoot cluster", Hint: true, Fields: func(object *gardencorev1beta1.Shoot) Fields {
		s := &object.Status
		return Fields{
			LastOperation: &s.LastOperation, LastErrors: &s.LastErrors, RetryCycle: &s.RetryCycleStartTime,
			Conditions: []*[]gardencorev1beta1.Condition{&s.Conditions, &s.Constraints},
		}
	}}
}

// Seeds is the kind Seed.
func Seeds() Kind[*gardencorev1beta1.Seed] {
	return Kind[*gardencorev1beta1.Seed]{Name: "Seed", Noun: "the seed", Hint: true, Fields: func(object *gardencorev1beta1.Seed) Fields {
		s := &object.Status
		return Fields{LastOperation: &s.LastOperation, Conditions: []*[]gardencorev1beta1.Condition{&s.Conditions}}
	}}
}

// Extensions is a kind of extension objects. The controller that asked for the operation decides how long it is tried and shows its
// error, so the error has no hint.
func Extensions[T gardenextensionsv1alpha1.Object](name string) Kind[T] {
	return Kind[T]{Name: name, Noun: "the extension object", Begun: 1, Pending: 50, Fields: func(object T) Fields {
		s := object.GetExtensionStatus()
		return Fields{
			LastOperation: &s.LastOperation, LastError: &s.LastError, Conditions: []*[]gardencorev1beta1.Condition{&s.Conditions},
			Observe: func() { s.ObservedGeneration = object.GetGeneration() },
		}
	}}
}
