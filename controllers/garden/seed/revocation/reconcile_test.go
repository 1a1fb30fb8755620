// SPDX-License-Identifier: Apache-2.0

package revocation_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/garden/seed/hosted"
	"github.com/terrarium-garden/terrarium/controllers/garden/seed/revocation"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// records say that one seed is shut out.
type records struct{ seed string }

func (records) Wait(context.Context) error { return nil }

func (r records) Revoked(seed string) (reason string, is bool) { return "stolen", seed == r.seed }

func (records) OnChange(func(string)) {}

// TestOneDoesNotHoldUpOthers marks the shoots of a seed, of which one cannot be written.
func TestOneDoesNotHoldUpOthers(t *testing.T) {
	t.Parallel()
	kinds, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	on := func(name, seed string) *gardencorev1beta1.Shoot {
		return &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: name}, Spec: gardencorev1beta1.ShootSpec{SeedName: &seed}}
	}
	c := interceptor.NewClient(fake.NewClientBuilder().WithScheme(kinds).WithObjects(on("a", "eu"), on("b", "eu"), on("c", "us")).
		WithStatusSubresource(&gardencorev1beta1.Shoot{}).
		WithIndex(&gardencorev1beta1.Shoot{}, hosted.Field, func(object client.Object) []string {
			shoot, _ := object.(*gardencorev1beta1.Shoot)
			return hosted.Seeds(shoot)
		}).Build(), interceptor.Funcs{
		SubResourcePatch: func(ctx context.Context, c client.Client, name string, object client.Object, p client.Patch, o ...client.SubResourcePatchOption) error {
			if object.GetName() == "a" {
				return errors.New("it changes all the time")
			}

			return c.SubResource(name).Patch(ctx, object, p, o...)
		},
	})
	r := &revocation.Reconciler{
		Base:    kit.Base{Client: c, Clock: clocktesting.NewFakeClock(time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC))},
		Records: records{"eu"},
	}
	_, err = r.Reconcile(t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Name: "eu"}})
	if err == nil || !strings.Contains(err.Error(), `mark shoot "garden-dev/a": it changes all the time`) {
		t.Errorf("Reconcile(...) = %v, want the error of the one that cannot be marked", err)
	}
	list := &gardencorev1beta1.ShootList{}
	if err := c.List(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	var marked []string
	for _, shoot := range list.Items {
		if len(shoot.Status.Constraints) > 0 {
			marked = append(marked, shoot.Name)
		}
	}
	if diff := cmp.Diff([]string{"b"}, marked); diff != "" {
		t.Errorf("marked shoots (-want +got):\n%s", diff)
	}
}
