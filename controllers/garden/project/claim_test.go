// SPDX-License-Identifier: Apache-2.0

package project_test

import (
	"context"
	"errors"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/garden/project"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// TestNameThatIsRefused_GCM_PROJECT_9 computes a name for a namespace that the server refuses, as it does for a project with a dot in its name.
// That fails the project like all else that fails, and the spec stays empty.
func TestNameThatIsRefused_GCM_PROJECT_9(t *testing.T) {
	t.Parallel()
	kinds, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	errRefused := errors.New("refused")
	odd := &gardencorev1beta1.Project{ObjectMeta: metav1.ObjectMeta{Name: "a.b", UID: "1", Finalizers: []string{"gardener"}}}
	odd.Status.Phase = gardencorev1beta1.ProjectPhasePending
	c := fake.NewClientBuilder().WithScheme(kinds).WithObjects(odd).WithStatusSubresource(odd).WithInterceptorFuncs(interceptor.Funcs{
		Patch: func(context.Context, client.WithWatch, client.Object, client.Patch, ...client.PatchOption) error {
			return errRefused
		},
	}).Build()
	recorder := events.NewFakeRecorder(10)
	r := &project.Reconciler{Base: kit.Base{Client: c, Reader: c, Recorder: recorder}}
	key := client.ObjectKeyFromObject(odd)
	if _, err := reconcile.AsReconciler(c, r).Reconcile(t.Context(), reconcile.Request{NamespacedName: key}); !errors.Is(err, errRefused) {
		t.Errorf("Reconcile(...) = %v, want the refusal, so that it is tried again", err)
	}
	if err := c.Get(t.Context(), key, odd); err != nil || odd.Status.Phase != gardencorev1beta1.ProjectPhaseFailed || odd.Spec.Namespace != nil {
		t.Errorf("phase %q, namespace %v, %v; want a failed project without a namespace", odd.Status.Phase, odd.Spec.Namespace, err)
	}
}
