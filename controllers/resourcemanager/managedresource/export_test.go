// SPDX-License-Identifier: Apache-2.0

package managedresource

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// ApplyOne applies an object for a ManagedResource garden/test.
func ApplyOne(ctx context.Context, c client.Client, spec gardenresourcesv1alpha1.ManagedResourceSpec, object *unstructured.Unstructured) error {
	a := &applier{engine: deploy.Engine{Client: c, Owner: FieldOwner, Clock: clock.RealClock{}}, spec: &spec, origin: "garden/test"}
	return a.apply(ctx, object)
}

// RemoveOne removes an object for a ManagedResource garden/test at some time, and reports whether it is left.
func RemoveOne(ctx context.Context, c client.Client, now clock.PassiveClock, keepGarbage bool, object *unstructured.Unstructured) (bool, error) {
	r := remover{target: c, clock: now, origin: "garden/test", claims: true, keepGarbage: keepGarbage}
	left, err := r.remove(ctx, []reference{referenceOf(object)})
	return len(left) > 0, err
}

// SortForApply sorts objects.
func SortForApply(objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	return sortForApply(objects)
}

// Same reports whether two objects are one, with equivalences.
func Same(spec gardenresourcesv1alpha1.ManagedResourceSpec, a, b *unstructured.Unstructured) bool {
	return equivalencesOf(spec.Equivalences).same(referenceOf(a), referenceOf(b))
}

// FailedFor returns after which time a ManagedResource is tried again after an error, 0 if the pause grows with each failure, and its
// conditions.
func FailedFor(ctx context.Context, r *Reconciler, err error) (time.Duration, []gardencorev1beta1.Condition) {
	s := &scope{mr: &gardenresourcesv1alpha1.ManagedResource{}}
	outcome, err := r.failed(ctx, s, gardenresourcesv1alpha1.ReasonApplyFailed, err)
	result, _ := kit.Result(outcome, err)
	return result.RequeueAfter, s.mr.Status.Conditions
}
