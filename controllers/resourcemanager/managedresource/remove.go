// SPDX-License-Identifier: Apache-2.0

package managedresource

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
)

// remover deletes objects of one ManagedResource from one cluster.
type remover struct {
	target client.Client
	clock  clock.PassiveClock
	origin string
	// claims says whether the volumes of StatefulSets are deleted with them.
	claims bool
	// keepGarbage leaves what the garbage collector looks after to it.
	keepGarbage bool
}

// remove deletes the objects in the reverse order of their installation, and returns those that still exist. The caller repeats it
// until there are none.
func (r remover) remove(ctx context.Context, references []reference) ([]reference, error) {
	ordered := slices.Clone(references)
	slices.SortStableFunc(ordered, func(a, b reference) int { return position(b.Kind) - position(a.Kind) })
	var left []reference
	var errs []error
	for i, object := range ordered {
		if err := ctx.Err(); err != nil { // All others would fail as well.
			return append(left, ordered[i:]...), errors.Join(append(errs, err)...)
		}
		exists, err := r.removeOne(ctx, object)
		if err != nil {
			errs = append(errs, err)
		}
		if exists || err != nil {
			left = append(left, object)
		}
	}
	return left, errors.Join(errs...)
}

// removeOne deletes an object, and reports whether it still exists.
func (r remover) removeOne(ctx context.Context, object reference) (bool, error) {
	live, err := r.find(ctx, object)
	if err != nil || live == nil || r.spared(live) {
		return false, err
	}
	if live.DeletionTimestamp != nil {
		return true, r.finalize(ctx, live)
	}
	if err := r.removeClaims(ctx, live); err != nil {
		return true, err
	}
	options := []client.DeleteOption{client.Preconditions{UID: &live.UID}, client.PropagationPolicy(metav1.DeletePropagationBackground)}
	switch groupVersionKind(object).Group { // dependents of workloads go first (GRM-DEL-6)
	case "apps", "extensions", "batch":
		options[1] = client.PropagationPolicy(metav1.DeletePropagationForeground)
	}
	if err := r.target.Delete(ctx, live, options...); err != nil && !gone(err) {
		return true, fmt.Errorf("delete %s: %w", describe(object), err)
	}
	live, err = r.find(ctx, object)
	return live != nil, err
}

// find reads the metadata of an object, or returns nil if there is none.
func (r remover) find(ctx context.Context, object reference) (*metav1.PartialObjectMetadata, error) {
	live := &metav1.PartialObjectMetadata{}
	live.SetGroupVersionKind(groupVersionKind(object))
	err := r.target.Get(ctx, client.ObjectKey{Namespace: object.Namespace, Name: object.Name}, live)
	if gone(err) {
		return nil, nil //nolint:nilnil // nil says that there is none
	}
	if err != nil {
		return nil, fmt.Errorf("get %s: %w", describe(object), err)
	}
	return live, nil
}

// spared reports whether an object stays: it asks for that, another ManagedResource has taken it over, or the garbage collector
// deletes it when nobody needs it any more (GRM-DEL-5).
func (r remover) spared(live *metav1.PartialObjectMetadata) bool {
	origin := live.Annotations[gardenresourcesv1alpha1.AnnotationOrigin]
	collected := live.GroupVersionKind().Group == corev1.GroupName && (live.Kind == "ConfigMap" || live.Kind == "Secret") &&
		live.Labels[gardenresourcesv1alpha1.LabelGarbageCollectable] == "true"
	return truthy(live.Annotations[gardenresourcesv1alpha1.AnnotationKeepObject]) ||
		origin != "" && origin != r.origin ||
		collected && r.keepGarbage
}

// removeClaims deletes the volumes of a StatefulSet (GRM-DEL-7).
func (r remover) removeClaims(ctx context.Context, live *metav1.PartialObjectMetadata) error {
	if !r.claims || live.Kind != "StatefulSet" || live.GroupVersionKind().Group != appsv1.GroupName {
		return nil
	}
	set := &appsv1.StatefulSet{}
	if err := r.target.Get(ctx, client.ObjectKeyFromObject(live), set); err != nil {
		return client.IgnoreNotFound(err)
	}
	selector, err := metav1.LabelSelectorAsSelector(set.Spec.Selector)
	if err != nil {
		return fmt.Errorf("read the selector of StatefulSet %q: %w", live.Name, err)
	}
	err = r.target.DeleteAllOf(ctx, &corev1.PersistentVolumeClaim{}, client.InNamespace(live.Namespace), client.MatchingLabelsSelector{Selector: selector})
	if err != nil {
		return fmt.Errorf("delete the volumes of StatefulSet %q: %w", live.Name, err)
	}
	return nil
}

// finalize removes the finalizers of an object that has been in deletion for longer than it asks for (GRM-DEL-8).
func (r remover) finalize(ctx context.Context, live *metav1.PartialObjectMetadata) error {
	patience, err := time.ParseDuration(live.Annotations[gardenresourcesv1alpha1.AnnotationFinalizeDeletionAfter])
	if err != nil || r.clock.Since(live.DeletionTimestamp.Time) < patience {
		return nil //nolint:nilerr // without a time, the owner of the finalizer removes it
	}
	if live.Kind == "Namespace" && live.GroupVersionKind().Group == corev1.GroupName {
		home := &corev1.Namespace{}
		if err := r.target.Get(ctx, client.ObjectKey{Name: live.Name}, home); err != nil {
			return client.IgnoreNotFound(err)
		}
		home.Spec.Finalizers = nil
		err = r.target.SubResource("finalize").Update(ctx, home)
	}
	if err == nil && len(live.Finalizers) > 0 {
		err = r.target.Patch(ctx, live, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`)))
	}
	if err = client.IgnoreNotFound(err); err != nil {
		return fmt.Errorf("remove the finalizers of %s %q: %w", live.Kind, live.Name, err)
	}
	return nil
}
