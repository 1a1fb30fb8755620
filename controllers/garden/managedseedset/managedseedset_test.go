// SPDX-License-Identifier: Apache-2.0

package managedseedset_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/terrarium-garden/terrarium/apis/scheme"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/garden/managedseedset"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

func TestReconcile(t *testing.T) {
	t.Parallel()
	kinds, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	set := &gardenseedmanagementv1alpha1.ManagedSeedSet{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "a", Generation: 3}}
	c := fake.NewClientBuilder().WithScheme(kinds).WithObjects(set).WithStatusSubresource(set).Build()
	r := &managedseedset.Reconciler{Base: kit.Base{Client: c}}
	pass := func() {
		t.Helper()
		if _, err := reconcile.AsReconciler(c, r).Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(set)}); err != nil {
			t.Fatal(err)
		}
	}
	pass()
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(set), set); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"gardener"}, set.Finalizers); diff != "" {
		t.Errorf("GCM-MSS-1: finalizers (-want +got):\n%s", diff)
	}
	if set.Status.ObservedGeneration != 3 {
		t.Errorf("GCM-MSS-1: observedGeneration = %d, want 3", set.Status.ObservedGeneration)
	}
	if err := c.Delete(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	pass()
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(set), set); !apierrors.IsNotFound(err) {
		t.Errorf("GCM-MSS-11: a set in deletion with nothing left is let go, got %v", err)
	}
	pass()
}
