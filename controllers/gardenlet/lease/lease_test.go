// SPDX-License-Identifier: Apache-2.0

package lease_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/lease"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

var errBoom = errors.New("boom")

func TestHealth(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		act    func(h *lease.Health, clk *clocktesting.FakeClock)
		want   bool
	}{
		"New":     {reason: "nothing is known at the begin", act: func(*lease.Health, *clocktesting.FakeClock) {}},
		"Set":     {reason: "a flag that was set is true", act: func(h *lease.Health, _ *clocktesting.FakeClock) { h.Set(true) }, want: true},
		"InTime":  {reason: "it stays true within the window", act: func(h *lease.Health, c *clocktesting.FakeClock) { h.Set(true); c.Step(19 * time.Second) }, want: true},
		"TooLate": {reason: "and falls back at its end", act: func(h *lease.Health, c *clocktesting.FakeClock) { h.Set(true); c.Step(20 * time.Second) }},
		"Unset":   {reason: "it can be unset at once", act: func(h *lease.Health, _ *clocktesting.FakeClock) { h.Set(true); h.Set(false) }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clk := clocktesting.NewFakeClock(time.Unix(0, 0))
			health := lease.NewHealth(clk, 20*time.Second)
			tc.act(health, clk)
			if got := health.Healthy(); got != tc.want {
				t.Errorf("%s\nHealthy(): got %t, want %t", tc.reason, got, tc.want)
			}
		})
	}
}

func TestReconcile(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	seed := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "one", UID: "u-1"}}
	renewed := &coordinationv1.LeaseSpec{
		HolderIdentity: new("one"), LeaseDurationSeconds: new(int32(2)), RenewTime: &metav1.MicroTime{Time: now},
	}
	cases := map[string]struct {
		reason    string
		probe     error
		garden    error
		lease     *coordinationv1.Lease
		health    bool
		wantLease *coordinationv1.LeaseSpec
		ready     bool
	}{
		"First": {reason: "the first beat makes the lease and the condition", health: true, wantLease: renewed, ready: true},
		"Next": {
			reason: "further beats renew the lease",
			lease: &coordinationv1.Lease{
				ObjectMeta: metav1.ObjectMeta{Namespace: "gardener-system-seed-lease", Name: "one"},
				Spec:       coordinationv1.LeaseSpec{RenewTime: &metav1.MicroTime{Time: now.Add(-time.Hour)}},
			},
			health: true, wantLease: renewed, ready: true,
		},
		"SeedDown":   {reason: "without the seed there is no heartbeat, and the condition stays", probe: errBoom},
		"GardenDown": {reason: "without the garden there is none either", garden: errBoom},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := scheme.New()
			if err != nil {
				t.Fatal(err)
			}
			builder := fake.NewClientBuilder().WithScheme(s).WithObjects(seed.DeepCopy()).WithStatusSubresource(seed).
				WithInterceptorFuncs(interceptor.Funcs{
					Patch: func(ctx context.Context, c client.WithWatch, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
						if tc.garden != nil {
							return tc.garden
						}
						return c.Patch(ctx, obj, patch, opts...)
					},
				})
			if tc.lease != nil {
				builder = builder.WithObjects(tc.lease)
			}
			clk := clocktesting.NewFakeClock(now)
			health := lease.NewHealth(clk, time.Minute)
			health.Set(!tc.health)
			r := &lease.Reconciler{
				SeedBase: kit.SeedBase{GardenClient: builder.Build(), SeedName: "one", Clock: clk},
				Config:   &gardenconfigv1alpha1.SeedControllerConfiguration{LeaseResyncSeconds: new(int32(2))},
				Health:   health, Probe: func(context.Context) error { return tc.probe },
			}
			result, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Name: "one"}})
			if want := errors.Join(tc.probe, tc.garden) != nil; (err != nil) != want {
				t.Fatalf("%s\nReconcile(...): got error %v, want one: %t", tc.reason, err, want)
			}
			if err == nil && result.RequeueAfter != 2*time.Second {
				t.Errorf("%s\nReconcile(...): the next beat follows after %s, want 2s", tc.reason, result.RequeueAfter)
			}
			if got := health.Healthy(); got != tc.health {
				t.Errorf("%s\nHealthy(): got %t, want %t", tc.reason, got, tc.health)
			}
			checkLease(t, tc.reason, r.GardenClient, tc.wantLease)
			got := &gardencorev1beta1.Seed{}
			if err := r.GardenClient.Get(t.Context(), client.ObjectKey{Name: "one"}, got); err != nil {
				t.Fatal(err)
			}
			if ready := len(got.Status.Conditions) == 1 && got.Status.Conditions[0].Status == "True" && got.Status.Conditions[0].Type == "GardenletReady"; ready != tc.ready {
				t.Errorf("%s\nconditions: got %v, want GardenletReady: %t", tc.reason, got.Status.Conditions, tc.ready)
			}
		})
	}
}

func checkLease(t *testing.T, reason string, c client.Client, want *coordinationv1.LeaseSpec) {
	t.Helper()
	leases := &coordinationv1.LeaseList{}
	if err := c.List(t.Context(), leases); err != nil {
		t.Fatal(err)
	}
	if want == nil {
		if len(leases.Items) != 0 {
			t.Errorf("%s\nthere is a lease, want none", reason)
		}
		return
	}
	if len(leases.Items) != 1 {
		t.Fatalf("%s\nthere are %d leases, want 1", reason, len(leases.Items))
	}
	got := leases.Items[0]
	if diff := cmp.Diff(*want, got.Spec); diff != "" {
		t.Errorf("%s\nspec of the lease (-want +got):\n%s", reason, diff)
	}
	owner := []metav1.OwnerReference{{APIVersion: "core.gardener.cloud/v1beta1", Kind: "Seed", Name: "one", UID: "u-1"}}
	if diff := cmp.Diff(owner, got.OwnerReferences); diff != "" {
		t.Errorf("%s\nowners of the lease (-want +got):\n%s", reason, diff)
	}
	if got.Namespace != "gardener-system-seed-lease" || got.Name != "one" {
		t.Errorf("%s\nthe lease is %s/%s, want gardener-system-seed-lease/one", reason, got.Namespace, got.Name)
	}
}

func TestReconcileWithoutSeed(t *testing.T) {
	t.Parallel()
	r := &lease.Reconciler{
		SeedBase: kit.SeedBase{GardenClient: fakeGarden(t)}, Health: lease.NewHealth(clocktesting.NewFakeClock(time.Now()), time.Minute),
	}
	result, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Name: "one"}})
	if err != nil || result.RequeueAfter != 0 {
		t.Errorf("A seed that does not exist has no heartbeat: got %v and error %v", result, err)
	}
}

func fakeGarden(t *testing.T) client.Client {
	t.Helper()
	s, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	return fake.NewClientBuilder().WithScheme(s).Build()
}

func TestProbe(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]bool{http.StatusOK: true, http.StatusAccepted: false, http.StatusInternalServerError: false} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
		t.Cleanup(server.Close)
		probe, err := lease.NewProbe(&rest.Config{Host: server.URL})
		if err != nil {
			t.Fatal(err)
		}
		if err := probe(t.Context()); (err == nil) != want {
			t.Errorf("Only status 200 is success: status %d gave error %v", status, err)
		}
	}
}
