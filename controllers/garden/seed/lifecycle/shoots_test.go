// SPDX-License-Identifier: Apache-2.0

package lifecycle_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/garden/seed/hosted"
	"github.com/terrarium-garden/terrarium/controllers/garden/seed/lifecycle"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

var (
	errBoom    = errors.New("boom")
	errRefused = errors.New("refused")
)

// TestWhichShoots_GCM_SEEDLIFE_5 looks at a seed that has been silent for long, with shoots that move to it and away from it. Neither a shoot
// nor the ManagedSeed that cannot be written holds up the others.
func TestWhichShoots_GCM_SEEDLIFE_5(t *testing.T) {
	t.Parallel()
	kinds, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	seed := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "eu"}}
	seed.Status.Conditions = []condition{{Type: "GardenletReady", Status: "Unknown", LastTransitionTime: metav1.NewTime(at(0))}}
	seed.Status.ClientCertificateExpirationTimestamp = new(metav1.NewTime(at(0)))
	objects := []client.Object{seed, &gardenseedmanagementv1alpha1.ManagedSeed{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "eu"}}}
	add := func(name string, spec, status *string) {
		s := &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: name}}
		s.Spec.SeedName, s.Status.SeedName = spec, status
		objects = append(objects, s)
	}
	add("a-refused", new("eu"), new("eu"))
	add("coming", new("eu"), new("us"))
	add("elsewhere", new("us"), new("us"))
	add("here", new("eu"), new("eu"))
	add("leaving", new("us"), new("eu"))
	add("new", new("eu"), nil)
	c := fake.NewClientBuilder().WithScheme(kinds).WithObjects(objects...).WithStatusSubresource(seed, &gardencorev1beta1.Shoot{}).
		WithIndex(&gardencorev1beta1.Shoot{}, hosted.Field, func(object client.Object) []string {
			if s, ok := object.(*gardencorev1beta1.Shoot); ok {
				return hosted.Seeds(s)
			}
			return nil
		}).
		WithInterceptorFuncs(interceptor.Funcs{
			Patch: func(context.Context, client.WithWatch, client.Object, client.Patch, ...client.PatchOption) error {
				return errRefused
			},
			SubResourcePatch: func(ctx context.Context, c client.Client, sub string, object client.Object, p client.Patch, o ...client.SubResourcePatchOption) error {
				if object.GetName() == "a-refused" {
					return errBoom
				}
				return c.SubResource(sub).Patch(ctx, object, p, o...)
			},
		}).Build()
	r := &lifecycle.Reconciler{
		Base: kit.Base{Client: c, Reader: c, Clock: clocktesting.NewFakeClock(at(200))},
		Config: gardenconfigv1alpha1.ServerSeedControllerConfiguration{
			SyncPeriod:         &metav1.Duration{Duration: 10 * time.Second},
			MonitorPeriod:      &metav1.Duration{Duration: 40 * time.Second},
			ShootMonitorPeriod: &metav1.Duration{Duration: 200 * time.Second},
		},
	}
	if _, err := reconcile.AsReconciler(c, r).Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(seed)}); !errors.Is(err, errBoom) || !errors.Is(err, errRefused) {
		t.Errorf("Reconcile(...) = %v, want the errors of the shoot and of the ManagedSeed that cannot be written", err)
	}
	shoots := &gardencorev1beta1.ShootList{}
	if err := c.List(t.Context(), shoots); err != nil {
		t.Fatal(err)
	}
	var unknown []string
	for i := range shoots.Items {
		if kit.ConditionIs(shoots.Items[i].Status.Conditions, "APIServerAvailable", "Unknown") {
			unknown = append(unknown, shoots.Items[i].Name)
		}
	}
	if diff := cmp.Diff([]string{"here", "leaving"}, unknown); diff != "" {
		t.Errorf("shoots of which the seed that is silent runs the control plane (-want +got):\n%s", diff)
	}
}
