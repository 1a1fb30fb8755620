// SPDX-License-Identifier: Apache-2.0

package project_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/garden/project"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// ending returns a project that is being deleted, and the kinds that its controller needs.
func ending(t *testing.T) (*runtime.Scheme, *gardencorev1beta1.Project) {
	t.Helper()
	kinds, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	leaving := dev()
	leaving.DeletionTimestamp, leaving.Finalizers = new(metav1.Now()), []string{"gardener"}

	return kinds, leaving
}

// TestLeavesForeign_GCM_PROJECT_11 deletes a project whose namespace an operator has given to others by its labels. The garbage collector would
// delete it with the project if that still owned it.
func TestLeavesForeign_GCM_PROJECT_11(t *testing.T) {
	t.Parallel()
	kinds, leaving := ending(t)
	other := metav1.OwnerReference{APIVersion: "v1", Kind: "Team", Name: "a", UID: "other"}
	foreign := namespace(map[string]string{"team": "a"}, map[string]string{"namespace.gardener.cloud/project": string(leaving.UID)})
	foreign.OwnerReferences = []metav1.OwnerReference{other, {APIVersion: "core.gardener.cloud/v1beta1", Kind: "Project", Name: "dev", UID: leaving.UID, Controller: new(true)}}
	c := fake.NewClientBuilder().WithScheme(kinds).WithObjects(leaving, foreign).WithStatusSubresource(&gardencorev1beta1.Project{}).Build()
	r := &project.Reconciler{Base: kit.Base{Client: c, Reader: c, Recorder: events.NewFakeRecorder(10)}}
	if _, err := reconcile.AsReconciler(c, r).Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(leaving)}); err != nil {
		t.Fatal(err)
	}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(leaving), leaving); !apierrors.IsNotFound(err) {
		t.Errorf("the project does not go: %v, finalizers %v", err, leaving.Finalizers)
	}
	want := foreign.DeepCopy()
	want.OwnerReferences = []metav1.OwnerReference{other}
	got := &corev1.Namespace{}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(foreign), got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(metav1.ObjectMeta{}, "ResourceVersion")); diff != "" {
		t.Errorf("the namespace of others (-want +got):\n%s", diff)
	}
}

// TestLeavesBeforeItAdopts_GCM_PROJECT_11 deletes a project before its first pass has made it the owner of the namespace that it names, and
// that is to be kept.
func TestLeavesBeforeItAdopts_GCM_PROJECT_11(t *testing.T) {
	t.Parallel()
	kinds, leaving := ending(t)
	kept := namespace(ours(), map[string]string{"namespace.gardener.cloud/keep-after-project-deletion": "true"})
	c := fake.NewClientBuilder().WithScheme(kinds).WithObjects(leaving, kept).WithStatusSubresource(&gardencorev1beta1.Project{}).Build()
	r := &project.Reconciler{Base: kit.Base{Client: c, Reader: c, Recorder: events.NewFakeRecorder(10)}}
	if _, err := reconcile.AsReconciler(c, r).Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(leaving)}); err != nil {
		t.Errorf("Reconcile(...) = %v, but there is nothing to take away from the namespace that it does not have", err)
	}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(leaving), leaving); !apierrors.IsNotFound(err) {
		t.Errorf("the project does not go: %v, finalizers %v", err, leaving.Finalizers)
	}
	left := &corev1.Namespace{}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(kept), left); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"team": "a"}, left.Labels); diff != "" {
		t.Errorf("labels of the namespace that stays (-want +got):\n%s", diff)
	}
}
