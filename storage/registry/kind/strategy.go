// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/storage/names"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// strategy is how the main resource of a kind is created and updated.
type strategy[T Object] struct {
	runtime.ObjectTyper
	names.NameGenerator

	rules Rules[T]
}

// NamespaceScoped reports whether objects have namespaces.
func (s strategy[T]) NamespaceScoped() bool { return s.rules.Namespaced }

// AllowCreateOnUpdate is false for every kind (API-STRAT-8).
func (strategy[T]) AllowCreateOnUpdate() bool { return false }

// AllowUnconditionalUpdate reports whether an update may come without a resource version (API-STRAT-8).
func (s strategy[T]) AllowUnconditionalUpdate() bool { return s.rules.Unconditional }

// PrepareForCreate clears the status and starts the generation (API-STRAT-1).
func (s strategy[T]) PrepareForCreate(ctx context.Context, obj runtime.Object) {
	o := cast[T](obj)
	if s.rules.Generation {
		o.SetGeneration(1)
	}
	if s.rules.Status != nil {
		s.rules.Status.Reset(o, s.rules.New())
	}
	if s.rules.PrepareCreate != nil {
		s.rules.PrepareCreate(ctx, o)
	}
}

// PrepareForUpdate keeps the status and lets the generation grow (API-RES-7, API-STRAT-2).
func (s strategy[T]) PrepareForUpdate(ctx context.Context, obj, old runtime.Object) {
	o, was := cast[T](obj), cast[T](old)
	if s.rules.Status != nil {
		s.rules.Status.Reset(o, was)
	}
	if s.rules.PrepareUpdate != nil {
		s.rules.PrepareUpdate(ctx, o, was)
	}
	if s.rules.Generation {
		s.grow(o, was)
	}
}

func (s strategy[T]) grow(obj, old T) {
	obj.SetGeneration(old.GetGeneration())
	// Every reason is asked, because asking consumes operation annotations.
	grows := s.rules.SpecChanged(obj, old)
	if obj.GetDeletionTimestamp() != nil && old.GetDeletionTimestamp() == nil {
		grows = true
	}
	if s.rules.MustGrow != nil && s.rules.MustGrow(obj, old) {
		grows = true
	}
	if grows {
		obj.SetGeneration(old.GetGeneration() + 1)
	}
}

// Validate checks a new object alone.
func (s strategy[T]) Validate(_ context.Context, obj runtime.Object) field.ErrorList {
	if s.rules.Validate == nil {
		return nil
	}
	return few(s.rules.Validate(cast[T](obj)))
}

// ValidateUpdate checks an updated object alone and against its former self.
func (s strategy[T]) ValidateUpdate(_ context.Context, obj, old runtime.Object) field.ErrorList {
	if s.rules.ValidateUpdate == nil {
		return nil
	}
	return few(s.rules.ValidateUpdate(cast[T](obj), cast[T](old)))
}

// mostErrors is the number of errors that are told of one object. Nobody reads more, and the library joins their messages one by one, in a
// time that grows with the square of their number.
const mostErrors = 100

// few cuts errors off, and says so.
func few(errs field.ErrorList) field.ErrorList {
	if len(errs) <= mostErrors {
		return errs
	}
	return append(errs[:mostErrors:mostErrors], field.Forbidden(field.NewPath(""), fmt.Sprintf("%d more errors", len(errs)-mostErrors)))
}

// Canonicalize brings an accepted object into its stored form.
func (s strategy[T]) Canonicalize(obj runtime.Object) {
	if s.rules.Canonicalize != nil {
		s.rules.Canonicalize(cast[T](obj))
	}
}

// WarningsOnCreate says what is worth a word about a new object.
func (s strategy[T]) WarningsOnCreate(_ context.Context, obj runtime.Object) []string {
	var none T
	if s.rules.Warn == nil {
		return nil
	}
	return s.rules.Warn(cast[T](obj), none)
}

// WarningsOnUpdate says what is worth a word about an updated object.
func (s strategy[T]) WarningsOnUpdate(_ context.Context, obj, old runtime.Object) []string {
	if s.rules.Warn == nil {
		return nil
	}
	return s.rules.Warn(cast[T](obj), cast[T](old))
}

// GetResetFields tells server-side apply that a writer of the main resource never owns the status.
func (s strategy[T]) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	if s.rules.Status == nil {
		return nil
	}
	return resets(s.rules.GroupVersion.String(), "status")
}

// statusStrategy is how the status of a kind is updated.
type statusStrategy[T Object] struct{ strategy[T] }

// PrepareForUpdate keeps everything but the status: neither the spec nor labels, annotations, finalizers and owners can
// be changed by a status writer, so that what guards them need not look at status writes.
func (s statusStrategy[T]) PrepareForUpdate(ctx context.Context, obj, old runtime.Object) {
	o, was := cast[T](obj), cast[T](old)
	s.rules.Status.KeepSpec(o, was)
	metav1.ResetObjectMetaForStatus(o, was)
	if s.rules.Status.PrepareUpdate != nil {
		s.rules.Status.PrepareUpdate(ctx, o, was)
	}
}

// ValidateUpdate checks a status update.
func (s statusStrategy[T]) ValidateUpdate(_ context.Context, obj, old runtime.Object) field.ErrorList {
	if s.rules.Status.Validate == nil {
		return nil
	}
	return few(s.rules.Status.Validate(cast[T](obj), cast[T](old)))
}

// WarningsOnUpdate has nothing to say: the status is written by machines.
func (statusStrategy[T]) WarningsOnUpdate(context.Context, runtime.Object, runtime.Object) []string {
	return nil
}

// GetResetFields tells server-side apply that a status writer never owns spec and metadata.
func (s statusStrategy[T]) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return resets(s.rules.GroupVersion.String(), "spec", "metadata")
}

func resets(version string, parts ...string) map[fieldpath.APIVersion]*fieldpath.Set {
	set := fieldpath.NewSet()
	for _, part := range parts {
		set.Insert(fieldpath.MakePathOrDie(part))
	}
	return map[fieldpath.APIVersion]*fieldpath.Set{fieldpath.APIVersion(version): set}
}

// cast panics on a foreign type: the store of one kind is only ever handed objects of that kind by the machinery.
func cast[T Object](obj runtime.Object) T {
	return obj.(T)
}
