// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	gardenappliancev1alpha1 "github.com/terrarium-garden/terrarium/apis/appliance/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/extensions/kind"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
)

// kindSeed is the only kind without a namespace.
const kindSeed = "Seed"

// kinds are the kinds of objects that have timelines, and their resources.
func kinds() map[string]schema.GroupResource {
	return map[string]schema.GroupResource{
		kind.BackupEntry: gardencorev1beta1.Resource("backupentries"),
		"ManagedSeed":    gardenseedmanagementv1alpha1.Resource("managedseeds"),
		kindSeed:         gardencorev1beta1.Resource("seeds"),
		"Shoot":          gardencorev1beta1.Resource("shoots"),
	}
}

// Resources are the resources whose objects have timelines.
func Resources() []schema.GroupResource { return slices.Collect(maps.Values(kinds())) }

// kindNames are the names of the kinds, in order.
func kindNames() []string { return slices.Sorted(maps.Keys(kinds())) }

// namespaceOf is the namespace of the entries of an object.
func namespaceOf(subject gardenappliancev1alpha1.TimelineSubject) string {
	if subject.Namespace == "" {
		return gardencorev1beta1.NamespaceGarden
	}

	return subject.Namespace
}

// picture is what matters of an object.
type picture struct {
	subject    gardenappliancev1alpha1.TimelineSubject
	generation int64
	deleting   bool
	spec       any
	// confined says that not every change of the specification makes a new generation.
	confined   bool
	operation  *gardencorev1beta1.LastOperation
	conditions []gardencorev1beta1.Condition
	errors     []gardencorev1beta1.LastError
	// seeds are those to which the object belongs.
	seeds []string
}

// pictureOf returns nil for an object that has no timeline.
func pictureOf(obj runtime.Object) *picture {
	switch o := obj.(type) {
	case *gardencorev1beta1.Shoot:
		return &picture{
			subject:    subjectOf("Shoot", o),
			generation: o.Generation, deleting: o.DeletionTimestamp != nil, spec: &o.Spec, operation: o.Status.LastOperation,
			conditions: slices.Concat(o.Status.Conditions, o.Status.Constraints), errors: o.Status.LastErrors,
			seeds: seedNames(o.Spec.SeedName, o.Status.SeedName), confined: query.Confined(&o.Spec),
		}
	case *gardencorev1beta1.Seed:
		return &picture{
			subject:    subjectOf(kindSeed, o),
			generation: o.Generation, deleting: o.DeletionTimestamp != nil, spec: &o.Spec, operation: o.Status.LastOperation,
			conditions: o.Status.Conditions, seeds: []string{o.Name},
		}
	case *gardencorev1beta1.BackupEntry:
		p := &picture{
			subject:    subjectOf(kind.BackupEntry, o),
			generation: o.Generation, deleting: o.DeletionTimestamp != nil, spec: &o.Spec, operation: o.Status.LastOperation,
			seeds: seedNames(o.Spec.SeedName, o.Status.SeedName),
		}
		if o.Status.LastError != nil {
			p.errors = []gardencorev1beta1.LastError{*o.Status.LastError}
		}

		return p
	case *gardenseedmanagementv1alpha1.ManagedSeed:
		return &picture{
			subject:    subjectOf("ManagedSeed", o),
			generation: o.Generation, deleting: o.DeletionTimestamp != nil, spec: &o.Spec, conditions: o.Status.Conditions,
		}
	default:
		return nil
	}
}

func seedNames(names ...*string) []string {
	var all []string
	for _, name := range names {
		if name != nil && !slices.Contains(all, *name) {
			all = append(all, *name)
		}
	}

	return all
}
