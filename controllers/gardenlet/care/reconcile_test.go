// SPDX-License-Identifier: Apache-2.0

package care_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/care"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// ward is a shoot that is checked.
type ward struct {
	*care.Reconciler

	clock  *clocktesting.FakeClock
	status int
	err    error
	writes int
}

func newWard(t *testing.T, s *gardencorev1beta1.Shoot, inSeed ...client.Object) *ward {
	t.Helper()
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	w := &ward{status: 200, clock: clocktesting.NewFakeClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))}
	garden := fake.NewClientBuilder().WithScheme(types).WithObjects(s).WithStatusSubresource(s).WithInterceptorFuncs(interceptor.Funcs{
		SubResourcePatch: func(ctx context.Context, c client.Client, name string, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
			w.writes++
			return c.SubResource(name).Patch(ctx, obj, patch, opts...)
		},
	}).Build()
	n := node(corev1.ConditionTrue)
	inShoot := fake.NewClientBuilder().WithScheme(types).WithObjects(&n).Build()
	seed := fake.NewClientBuilder().WithScheme(types).WithObjects(inSeed...).Build()
	w.Reconciler = &care.Reconciler{
		SeedBase: kit.SeedBase{
			GardenClient: garden, GardenReader: garden, SeedName: "eu-1", Clock: w.clock,
			SeedClient: seed,
			Shoots: &kit.Shoots{Seed: seed, Connect: func([]byte) (*kit.Shoot, error) {
				return &kit.Shoot{Client: inShoot, Healthz: func(context.Context) (int, error) { return w.status, w.err }}, nil
			}},
		},
		Config: &gardenconfigv1alpha1.ShootCareControllerConfiguration{
			SyncPeriod:          &metav1.Duration{Duration: time.Minute},
			ConditionThresholds: []gardenconfigv1alpha1.ConditionThreshold{{Type: "APIServerAvailable", Duration: metav1.Duration{Duration: 2 * time.Minute}}},
		},
	}
	return w
}

func controlPlane() []client.Object {
	w := healthy()
	objs := []client.Object{&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "shoot--dev--a", Name: "gardener"}, Data: map[string][]byte{"kubeconfig": []byte("k")}}}
	for i := range w.Deployments {
		objs = append(objs, &w.Deployments[i])
	}
	for i := range w.StatefulSets {
		objs = append(objs, &w.StatefulSets[i])
	}
	return objs
}

// look makes a check and returns the conditions as type=status reason.
func (w *ward) look(t *testing.T) []string {
	t.Helper()
	key := client.ObjectKey{Namespace: "garden-dev", Name: "a"}
	result, err := w.Reconcile(t.Context(), reconcile.Request{NamespacedName: key})
	if err != nil || result.RequeueAfter != time.Minute {
		t.Fatalf("Reconcile(...) = %v, %v, want another check after a minute", result, err)
	}
	live := &gardencorev1beta1.Shoot{}
	if err := w.GardenClient.Get(t.Context(), key, live); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, c := range live.Status.Conditions {
		lines = append(lines, fmt.Sprintf("%s=%s %s", c.Type, c.Status, c.Reason))
	}
	return lines
}

func TestConditionsHoldStill_GLET_CARE_1_4(t *testing.T) {
	t.Parallel()
	w := newWard(t, shoot(), controlPlane()...)
	want := []string{"APIServerAvailable=True HealthzRequestSucceeded", "ControlPlaneHealthy=True ControlPlaneRunning", "EveryNodeReady=True EveryNodeReady"}
	for range 3 {
		if diff := cmp.Diff(want, w.look(t)); diff != "" {
			t.Errorf("conditions (-want +got):\n%s", diff)
		}
		w.clock.Step(time.Minute)
	}
	if w.writes != 1 {
		t.Errorf("three equal findings were written %d times, want once", w.writes)
	}
}

func TestThreshold_GLET_THRESH_1(t *testing.T) {
	t.Parallel()
	w := newWard(t, shoot(), controlPlane()...)
	w.look(t)
	w.status, w.err = 0, errors.New("refused")
	var got []string
	for range 5 {
		w.clock.Step(time.Minute)
		got = append(got, w.look(t)[0])
	}
	want := []string{
		"APIServerAvailable=Progressing HealthzRequestError", "APIServerAvailable=Progressing HealthzRequestError", "APIServerAvailable=Progressing HealthzRequestError",
		"APIServerAvailable=False HealthzRequestError", "APIServerAvailable=False HealthzRequestError",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("an API server that stays away, minute by minute (-want +got):\n%s", diff)
	}
}

func TestNothingThere_GLET_CARE_6(t *testing.T) {
	t.Parallel()
	w := newWard(t, shoot())
	want := []string{"APIServerAvailable=False APIServerDown", "ControlPlaneHealthy=False EtcdMissing", "EveryNodeReady=Unknown APIServerDown"}
	if diff := cmp.Diff(want, w.look(t)); diff != "" {
		t.Errorf("conditions (-want +got):\n%s", diff)
	}
}

func TestWorkerlessShootHasNoNodeCondition_GLET_CARE_4(t *testing.T) {
	t.Parallel()
	w := newWard(t, shoot(func(s *gardencorev1beta1.Shoot) { s.Spec.Provider.Workers = nil }), controlPlane()...)
	want := []string{"APIServerAvailable=True HealthzRequestSucceeded", "ControlPlaneHealthy=True ControlPlaneRunning"}
	if diff := cmp.Diff(want, w.look(t)); diff != "" {
		t.Errorf("conditions (-want +got):\n%s", diff)
	}
}

func TestOtherConditionsStay_GLET_CARE_3(t *testing.T) {
	t.Parallel()
	w := newWard(t, shoot(func(s *gardencorev1beta1.Shoot) {
		s.Status.Conditions = []gardencorev1beta1.Condition{{Type: "Custom", Status: "True", Reason: "Theirs"}}
	}), controlPlane()...)
	if got := w.look(t); got[0] != "Custom=True Theirs" || len(got) != 4 {
		t.Errorf("a condition of another writer was lost: %v", got)
	}
}

func TestSleeping(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*gardencorev1beta1.Shoot){
		"falls asleep": func(s *gardencorev1beta1.Shoot) {
			s.Spec.Hibernation = &gardencorev1beta1.Hibernation{Enabled: new(true)}
		},
		"wakes up": func(s *gardencorev1beta1.Shoot) { s.Status.Hibernated = true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := shoot()
			change(s)
			w := newWard(t, s)
			w.err = errors.New("nobody answers")
			if _, err := w.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(s)}); err != nil {
				t.Fatal(err)
			}
			if err := w.GardenClient.Get(t.Context(), client.ObjectKeyFromObject(s), s); err != nil {
				t.Fatal(err)
			}
			if len(s.Status.Conditions) == 0 {
				t.Error("GLET-CARE-5: there are no conditions")
			}
			for _, c := range s.Status.Conditions {
				if c.Status != gardencorev1beta1.ConditionTrue || c.Reason != "ConditionNotChecked" {
					t.Errorf("GLET-CARE-5: %s is %s (%s), want True (ConditionNotChecked)", c.Type, c.Status, c.Reason)
				}
			}
		})
	}
}
