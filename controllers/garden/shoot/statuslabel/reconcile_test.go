// SPDX-License-Identifier: Apache-2.0

package statuslabel_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/garden/shoot/statuslabel"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// TestReconcile_GCM_STATUSLABEL_3 passes over a shoot whose reconciliation has failed.
func TestReconcile_GCM_STATUSLABEL_3(t *testing.T) {
	t.Parallel()
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	boom := errors.New("boom")
	const label = "shoot.gardener.cloud/status"
	for name, tc := range map[string]struct {
		reason  string
		labels  map[string]string
		refusal error
		want    map[string]string
		writes  int
		fails   error
	}{
		"new":   {reason: "it gets the label", want: map[string]string{label: "unhealthy"}, writes: 1},
		"wrong": {reason: "only that label is written", labels: map[string]string{label: "healthy", "a": "b"}, want: map[string]string{label: "unhealthy", "a": "b"}, writes: 1},
		"right": {reason: "nothing is to do", labels: map[string]string{label: "unhealthy"}, want: map[string]string{label: "unhealthy"}},
		"gone":  {reason: "a shoot that is gone needs no label", refusal: apierrors.NewNotFound(gardencorev1beta1.Resource("shoots"), "a"), writes: 1},
		"fails": {reason: "it is tried again", refusal: boom, writes: 1, fails: boom},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shoot := &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: "a", Labels: tc.labels}}
			shoot.Status.LastOperation = &gardencorev1beta1.LastOperation{Type: "Reconcile", State: "Failed"}
			writes := 0
			c := fake.NewClientBuilder().WithScheme(types).WithObjects(shoot).WithInterceptorFuncs(interceptor.Funcs{
				Patch: func(ctx context.Context, c client.WithWatch, object client.Object, p client.Patch, o ...client.PatchOption) error {
					if writes++; tc.refusal != nil {
						return tc.refusal
					}
					return c.Patch(ctx, object, p, o...)
				},
			}).Build()
			r := &statuslabel.Reconciler{Base: kit.Base{Client: c}}
			if _, err := r.Reconcile(t.Context(), shoot.DeepCopy()); !errors.Is(err, tc.fails) {
				t.Errorf("%s\nReconcile(...) = %v, want %v", tc.reason, err, tc.fails)
			}
			if err := c.Get(t.Context(), client.ObjectKeyFromObject(shoot), shoot); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, shoot.Labels); diff != "" || writes != tc.writes {
				t.Errorf("%s\n%d writes, want %d; labels (-want +got):\n%s", tc.reason, writes, tc.writes, diff)
			}
		})
	}
}
