// SPDX-License-Identifier: Apache-2.0

package shoot_test

import (
	"context"
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/shoot"
)

func savedState() *gardencorev1beta1.ShootState {
	return &gardencorev1beta1.ShootState{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: "a"}}
}

// TestStateIsDeleted_GLET_STATE_4 deletes what was saved of a control plane in a garden that wants the deletion confirmed.
func TestStateIsDeleted_GLET_STATE_4(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		saved  []*gardencorev1beta1.ShootState
	}{
		"Saved": {"it goes with its shoot", []*gardencorev1beta1.ShootState{savedState()}},
		"None":  {"nothing was saved", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLandscape(t, fresh())
			stored, ok := l.GardenClient.(client.WithWatch)
			if !ok {
				t.Fatalf("%T cannot be intercepted", l.GardenClient)
			}
			l.GardenClient = interceptor.NewClient(stored, interceptor.Funcs{
				Delete: func(ctx context.Context, c client.WithWatch, object client.Object, opts ...client.DeleteOption) error {
					state := savedState()
					if err := c.Get(ctx, client.ObjectKeyFromObject(object), state); err != nil {
						return err
					}
					if state.Annotations[confirmation] != "true" {
						return errors.New("not confirmed")
					}
					return c.Delete(ctx, object, opts...)
				},
			})
			for _, state := range tc.saved {
				if err := stored.Create(t.Context(), state); err != nil {
					t.Fatal(err)
				}
			}
			if err := shoot.RunTasks(t.Context(), l.Reconciler, fresh(), "shoot--dev--a", "shootstate-delete"); err != nil {
				t.Errorf("%s\nthe task fails: %v", tc.reason, err)
			}
			if err := stored.Get(t.Context(), client.ObjectKey{Namespace: "garden-dev", Name: "a"}, savedState()); !apierrors.IsNotFound(err) {
				t.Errorf("%s\nthe state is still there: %v", tc.reason, err)
			}
		})
	}
}
