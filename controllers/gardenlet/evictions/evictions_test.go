// SPDX-License-Identifier: Apache-2.0

package evictions_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/terrarium-garden/terrarium/controllers/component/vertical"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/evictions"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const (
	restriction = "eviction-requirements.autoscaling.gardener.cloud/downscale-restriction"
	window      = "shoot.gardener.cloud/maintenance-window"
)

func noon() time.Time { return time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC) }

func autoscaler(annotations map[string]string) *unstructured.Unstructured {
	vpa := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"updatePolicy": map[string]any{"updateMode": "Recreate"}}}}
	vpa.SetGroupVersionKind(vertical.Kind())
	vpa.SetNamespace("shoot--dev--a")
	vpa.SetName("etcd-main")
	vpa.SetLabels(map[string]string{"autoscaling.gardener.cloud/eviction-requirements": "managed-by-controller"})
	vpa.SetAnnotations(annotations)
	return vpa
}

// seed has one autoscaler and the controller of a gardenlet.
type seed struct {
	client.Client

	clock      *clocktesting.FakeClock
	reconciler *evictions.Reconciler
}

func newSeed(vpa *unstructured.Unstructured) *seed {
	s := &seed{Client: fake.NewClientBuilder().WithScheme(runtime.NewScheme()).WithObjects(vpa).Build(), clock: clocktesting.NewFakeClock(noon())}
	s.reconciler = &evictions.Reconciler{SeedBase: kit.SeedBase{SeedClient: s.Client}}
	s.reconciler.Clock = s.clock
	return s
}

func (s *seed) run(t *testing.T) (reconcile.Result, error) {
	t.Helper()
	return s.reconciler.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Namespace: "shoot--dev--a", Name: "etcd-main"}})
}

// policy is the update policy of the autoscaler.
func (s *seed) policy(t *testing.T) map[string]any {
	t.Helper()
	vpa := autoscaler(nil)
	if err := s.Get(t.Context(), client.ObjectKeyFromObject(vpa), vpa); err != nil {
		t.Fatal(err)
	}
	policy, _, err := unstructured.NestedMap(vpa.Object, "spec", "updatePolicy")
	if err != nil {
		t.Fatal(err)
	}
	return policy
}

func held() map[string]any {
	return map[string]any{"updateMode": "Recreate", "evictionRequirements": []any{
		map[string]any{"resources": []any{"cpu", "memory"}, "changeRequirement": "TargetHigherThanRequests"},
	}}
}

func free() map[string]any { return map[string]any{"updateMode": "Recreate"} }

func TestReconcile_GLET_VPA_1(t *testing.T) {
	t.Parallel()
	within := func(w string) map[string]string {
		return map[string]string{restriction: "in-maintenance-window-only", window: w}
	}
	for name, tc := range map[string]struct {
		reason      string
		annotations map[string]string
		want        map[string]any
		again       time.Duration
	}{
		"Free":     {reason: "nothing restricts it", want: free()},
		"Never":    {reason: "it never shrinks", annotations: map[string]string{restriction: "never"}, want: held()},
		"Outside":  {reason: "the window begins in two hours", annotations: within("140000+0000,150000+0000"), want: held(), again: 2 * time.Hour},
		"Inside":   {reason: "the window is open", annotations: within("130000+0200,143000+0200"), want: free(), again: 30*time.Minute + time.Second},
		"Ends":     {reason: "it is open up to its end", annotations: within("110000+0000,121000+0000"), want: free(), again: 10*time.Minute + time.Second},
		"NoWindow": {reason: "without a window there is no time for it", annotations: map[string]string{restriction: "in-maintenance-window-only"}, want: held()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSeed(autoscaler(tc.annotations))
			result, err := s.run(t)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, s.policy(t)); diff != "" {
				t.Errorf("%s\nupdate policy (-want +got):\n%s", tc.reason, diff)
			}
			if result.RequeueAfter != tc.again {
				t.Errorf("%s\nlooks again after %s, want %s", tc.reason, result.RequeueAfter, tc.again)
			}
		})
	}
}

// TestWindowOpensAndCloses: what was written for one time goes at the next.
func TestWindowOpensAndCloses_GLET_VPA_1(t *testing.T) {
	t.Parallel()
	s := newSeed(autoscaler(map[string]string{restriction: "in-maintenance-window-only", window: "140000+0000,150000+0000"}))
	for _, want := range []map[string]any{held(), free(), held()} {
		result, err := s.run(t)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, s.policy(t)); diff != "" {
			t.Errorf("at %s: update policy (-want +got):\n%s", s.clock.Now(), diff)
		}
		s.clock.Step(result.RequeueAfter)
	}
}

// TestForeign: an autoscaler without the label is somebody else's, and a word that nobody knows is no permission.
func TestForeign_GLET_VPA_1(t *testing.T) {
	t.Parallel()
	foreign := autoscaler(map[string]string{restriction: "never"})
	foreign.SetLabels(nil)
	s := newSeed(foreign)
	if _, err := s.run(t); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(free(), s.policy(t)); diff != "" {
		t.Errorf("somebody else's autoscaler is changed (-want +got):\n%s", diff)
	}
	if _, err := newSeed(autoscaler(map[string]string{restriction: "sometimes"})).run(t); err == nil || !strings.Contains(err.Error(), `"sometimes"`) {
		t.Errorf("Reconcile(...) = %v, want an error about the annotation", err)
	}
}
