// SPDX-License-Identifier: Apache-2.0

package seedrestriction

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperationsv1alpha1 "github.com/terrarium-garden/terrarium/apis/operations/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/reach"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
	"github.com/terrarium-garden/terrarium/appliance/authorization/graph"
)

// unheld are limits for objects that a client of a seed does not hold with finalizers of its choice: a project, or the namespace of a seed,
// could not be deleted when the client is gone and nobody removes them. Of what only gardenlets may write, not even operators could.
func unheld(l limits) limits {
	l.create, l.update = noForeignFinalizer(l.create), noForeignFinalizer(l.update)

	return l
}

// noForeignFinalizer rejects new finalizers but those that gardenlets need, once the request is judged otherwise: that an object is there
// is told only to clients that may write it.
func noForeignFinalizer(first judge) judge {
	return func(ctx context.Context, r *request) error {
		if first != nil {
			if err := first(ctx, r); err != nil {
				return err
			}
		}
		object, err := meta.Accessor(r.GetObject())
		if err != nil {
			return fmt.Errorf("%w: %w", world.ErrUnreadable, err)
		}
		var before []string
		if old, ok := r.GetOldObject().(metav1.ObjectMetaAccessor); ok {
			before = old.GetObjectMeta().GetFinalizers()
		}
		for _, f := range object.GetFinalizers() {
			if !slices.Contains(before, f) && !needed(r, object, f) {
				return fmt.Errorf("metadata.finalizers: %q cannot be added: %w", f, reach.ErrOthers)
			}
		}

		return nil
	}
}

// needed reports whether a gardenlet holds an object with a finalizer while it works with it: Bastions, and credentials of its own or its seed's.
func needed(r *request, object metav1.Object, finalizer string) bool {
	switch r.GetResource().GroupResource() {
	case gardenoperationsv1alpha1.Resource("bastions"):
		return finalizer == gardencorev1beta1.FinalizerGardener
	case corev1.Resource("secrets"):
		namespace := object.GetNamespace()

		return (finalizer == gardencorev1beta1.FinalizerGardener || ownFinalizer(namespace, finalizer)) &&
			!ofShoot(graph.Vertex{Kind: graph.Secret, Namespace: namespace, Name: object.GetName()})
	default:
		return false
	}
}
