// SPDX-License-Identifier: Apache-2.0

package kit_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// TestDeleteConfirmed deletes an object, unless somebody changes it before one of the two requests.
func TestDeleteConfirmed(t *testing.T) {
	t.Parallel()
	touch := func(ctx context.Context, c client.Client) {
		found := &corev1.ConfigMap{}
		if err := c.Get(ctx, client.ObjectKey{Namespace: "x", Name: "a"}, found); err != nil {
			t.Error(err)
		}
		found.Data = map[string]string{"touched": "yes"}
		if err := c.Update(ctx, found); err != nil {
			t.Error(err)
		}
	}
	for name, tc := range map[string]struct {
		reason               string
		confirm, remove      bool
		conflict, gone, asks bool
	}{
		"Deleted":       {reason: "nobody interferes", gone: true},
		"BeforeConfirm": {reason: "it was changed since it was read", confirm: true, conflict: true},
		"BeforeDelete":  {reason: "it was changed since it was confirmed", remove: true, conflict: true, asks: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "x", Name: "a", UID: "uid-1", Annotations: map[string]string{"keep": "me"}}}
			c := fake.NewClientBuilder().WithScheme(scheme.Scheme).WithObjects(object).Build()
			if err := c.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
				t.Fatal(err)
			}
			racing := interceptor.NewClient(c, interceptor.Funcs{
				Patch: func(ctx context.Context, w client.WithWatch, o client.Object, patch client.Patch, options ...client.PatchOption) error {
					if tc.confirm {
						touch(ctx, w)
					}
					return w.Patch(ctx, o, patch, options...)
				},
				Delete: func(ctx context.Context, w client.WithWatch, o client.Object, options ...client.DeleteOption) error {
					if tc.remove {
						touch(ctx, w)
					}
					return w.Delete(ctx, o, options...)
				},
			})
			err := kit.DeleteConfirmed(t.Context(), racing, object)
			if apierrors.IsConflict(err) != tc.conflict || (err != nil) != tc.conflict {
				t.Fatalf("%s\nDeleteConfirmed(...) = %v, want a conflict: %t", tc.reason, err, tc.conflict)
			}
			left := &corev1.ConfigMap{}
			err = c.Get(t.Context(), client.ObjectKeyFromObject(object), left)
			if apierrors.IsNotFound(err) != tc.gone {
				t.Fatalf("%s\nafterwards: %v, want gone: %t", tc.reason, err, tc.gone)
			}
			if tc.gone {
				return
			}
			want := map[string]string{"keep": "me"}
			if tc.asks {
				want["confirmation.gardener.cloud/deletion"] = "true"
			}
			if diff := cmp.Diff(want, left.Annotations); diff != "" {
				t.Errorf("%s\nannotations (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
