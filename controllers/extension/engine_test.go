// SPDX-License-Identifier: Apache-2.0

package extension_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/extensions"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/extension"
	"github.com/terrarium-garden/terrarium/controllers/operation"
)

func newEngine(t *testing.T, objs ...client.Object) extension.Engine {
	t.Helper()
	s, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	return extension.Engine{
		Client: fake.NewClientBuilder().WithScheme(s).WithObjects(objs...).WithStatusSubresource(objs...).Build(),
		Clock:  clock.RealClock{},
	}
}

func infrastructure() *gardenextensionsv1alpha1.Infrastructure {
	return &gardenextensionsv1alpha1.Infrastructure{ObjectMeta: metav1.ObjectMeta{Namespace: "shoot--dev--a", Name: "a"}}
}

// answered is an object as an extension leaves it.
func answered(change func(*gardenextensionsv1alpha1.Infrastructure)) *gardenextensionsv1alpha1.Infrastructure {
	obj := infrastructure()
	obj.Spec.Type, obj.Spec.Region = "local", "here"
	obj.Status.LastOperation = &gardencorev1beta1.LastOperation{
		State: gardencorev1beta1.LastOperationStateSucceeded, LastUpdateTime: metav1.Date(2026, 3, 1, 12, 0, 5, 0, time.UTC),
	}
	if change != nil {
		change(obj)
	}
	return obj
}

// timestamp has the object asked for at a time.
func timestamp(at string) func(*gardenextensionsv1alpha1.Infrastructure) {
	return func(o *gardenextensionsv1alpha1.Infrastructure) {
		o.Annotations = map[string]string{"gardener.cloud/timestamp": at}
	}
}

func TestApplyAsksToAct_EXT_AGENT_1_2(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason  string
		have    *gardenextensionsv1alpha1.Infrastructure
		trigger extension.Trigger
		region  string
		asked   bool
	}{
		"New":         {reason: "a new object asks at once", trigger: extension.WhenNeeded, region: "here", asked: true},
		"Always":      {reason: "most kinds are asked in every run", have: answered(nil), trigger: extension.Always, region: "here", asked: true},
		"NothingToDo": {reason: "expensive kinds rest while nothing changes", have: answered(nil), trigger: extension.WhenNeeded, region: "here"},
		"Changed":     {reason: "another wish", have: answered(nil), trigger: extension.WhenNeeded, region: "there", asked: true},
		"NeverActed":  {reason: "no operation recorded", have: answered(func(o *gardenextensionsv1alpha1.Infrastructure) { o.Status.LastOperation = nil }), trigger: extension.WhenNeeded, region: "here", asked: true},
		"FailedBefore": {reason: "the last operation failed", have: answered(func(o *gardenextensionsv1alpha1.Infrastructure) {
			o.Status.LastOperation.State = gardencorev1beta1.LastOperationStateError
		}), trigger: extension.WhenNeeded, region: "here", asked: true},
		"SameSecond": {
			reason: "times in the status have no fractions of a second", have: answered(timestamp("2026-03-01T12:00:05.9Z")),
			trigger: extension.WhenNeeded, region: "here",
		},
		"Lost": {
			reason: "the extension took the request off and did not act, or its clock was behind", have: answered(timestamp("2026-03-01T12:00:06.1Z")),
			trigger: extension.WhenNeeded, region: "here", asked: true,
		},
		"NoTime": {
			reason: "no operation can be newer than a time that cannot be read", have: answered(timestamp("yesterday")),
			trigger: extension.WhenNeeded, region: "here", asked: true,
		},
		"NotObserved": {reason: "the extension has not seen the last change", have: answered(func(o *gardenextensionsv1alpha1.Infrastructure) {
			o.Generation = 2
		}), trigger: extension.WhenNeeded, region: "here", asked: true},
		"ReportedError": {reason: "an error remains beside a success", have: answered(func(o *gardenextensionsv1alpha1.Infrastructure) {
			o.Status.LastError = &gardencorev1beta1.LastError{Description: "quota used up"}
		}), trigger: extension.WhenNeeded, region: "here", asked: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEngine(t)
			if tc.have != nil {
				e = newEngine(t, tc.have)
			}
			obj := infrastructure()
			err := e.Apply(t.Context(), obj, tc.trigger, func() error {
				obj.Spec.Type, obj.Spec.Region = "local", tc.region
				return nil
			})
			if err != nil {
				t.Fatalf("%s\nApply(...) returned %v", tc.reason, err)
			}
			got := infrastructure()
			if err := e.Client.Get(t.Context(), client.ObjectKeyFromObject(got), got); err != nil {
				t.Fatal(err)
			}
			if got.Spec.Region != tc.region {
				t.Errorf("%s\nspec.region = %q, want %q", tc.reason, got.Spec.Region, tc.region)
			}
			if asked := got.Annotations["gardener.cloud/operation"] == "reconcile"; asked != tc.asked {
				t.Errorf("%s\nasked: %v, want %v (annotations %v)", tc.reason, asked, tc.asked, got.Annotations)
			}
			if _, err := time.Parse(time.RFC3339Nano, got.Annotations["gardener.cloud/timestamp"]); tc.asked && err != nil {
				t.Errorf("%s\nthe time of the request cannot be read: %v", tc.reason, err)
			}
		})
	}
}

// TestRequestIsNotLost_EXT_AGENT_1: the extension takes the request before this one off, between the moments at which the gardenlet reads and
// writes the object. It acts on the old spec then.
func TestRequestIsNotLost_EXT_AGENT_1(t *testing.T) {
	t.Parallel()
	e := newEngine(t, answered(func(o *gardenextensionsv1alpha1.Infrastructure) {
		o.Annotations = map[string]string{"gardener.cloud/operation": "reconcile", "gardener.cloud/timestamp": "2026-03-01T12:00:06Z"}
	}))
	seed, _ := e.Client.(client.WithWatch)
	e.Client = interceptor.NewClient(seed, interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
			taken := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"gardener.cloud/operation":null}}}`))
			return errors.Join(c.Patch(ctx, infrastructure(), taken), c.Patch(ctx, obj, patch, opts...))
		},
	})
	obj := infrastructure()
	err := e.Apply(t.Context(), obj, extension.Always, func() error {
		obj.Spec.Region = "there"
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	got := infrastructure()
	if err := e.Client.Get(t.Context(), client.ObjectKeyFromObject(got), got); err != nil {
		t.Fatal(err)
	}
	if got.Annotations["gardener.cloud/operation"] != "reconcile" || got.Spec.Region != "there" {
		t.Errorf("region %q, annotations %v: nobody acts on the new region", got.Spec.Region, got.Annotations)
	}
}

func TestReady_EXT_AGENT_3(t *testing.T) {
	t.Parallel()
	type object = gardenextensionsv1alpha1.Infrastructure
	cases := map[string]struct {
		change func(*object)
		want   string
	}{
		"Ready": {},
		"LastError": {change: func(o *object) {
			o.Status.LastError = &gardencorev1beta1.LastError{Description: "quota used up"}
			o.Generation = 2
		}, want: `extension "local" reports: quota used up`},
		"Generation": {change: func(o *object) {
			o.Generation = 2
			o.Annotations = map[string]string{"gardener.cloud/operation": "reconcile"}
		}, want: "its generation 2 is not observed, only 0"},
		"Operation": {change: func(o *object) {
			o.Annotations = map[string]string{"gardener.cloud/operation": "reconcile"}
			o.Status.LastOperation = nil
		}, want: `its operation "reconcile" is not picked up by an extension of type "local" yet`},
		"NoOperation": {change: func(o *object) { o.Status.LastOperation = nil }, want: "no operation is recorded yet"},
		"Processing": {change: func(o *object) {
			o.Status.LastOperation.State, o.Status.LastOperation.Description = gardencorev1beta1.LastOperationStateProcessing, "creating the network"
		}, want: "its operation is in state Processing: creating the network"},
		"Stale":      {change: timestamp("2026-03-01T12:00:06.1Z"), want: "its last operation is older than the request"},
		"SameSecond": {change: timestamp("2026-03-01T12:00:05.9Z")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ""
			if err := extension.Ready(answered(tc.change)); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("Ready(...) (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWaitToleratesErrorsForAWhile_GLET_FLOW_10(t *testing.T) {
	t.Parallel()
	failing := answered(func(o *gardenextensionsv1alpha1.Infrastructure) {
		o.Status.LastError = &gardencorev1beta1.LastError{Description: "no credentials", Codes: []gardencorev1beta1.ErrorCode{gardencorev1beta1.ErrorCodeInfraUnauthenticated}}
	})
	silent := answered(func(o *gardenextensionsv1alpha1.Infrastructure) { o.Status.LastOperation = nil })
	cases := map[string]struct {
		reason string
		have   *gardenextensionsv1alpha1.Infrastructure
		after  [2]time.Duration
		want   string
		codes  []gardencorev1beta1.ErrorCode
	}{
		"Severe": {
			reason: "an error that lasts ends the wait early, with its codes", have: failing, after: [2]time.Duration{3 * time.Minute, 3*time.Minute + 10*time.Second},
			want: `Infrastructure "a" is not ready: extension "local" reports: no credentials`, codes: []gardencorev1beta1.ErrorCode{"ERR_INFRA_UNAUTHENTICATED"},
		},
		"Silence": {
			reason: "no extension answers", have: silent, after: [2]time.Duration{10 * time.Minute, 10 * time.Minute},
			want: `Infrastructure "a" is not ready: not within 10m0s: no operation is recorded yet`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEngine(t, tc.have)
			synctest.Test(t, func(t *testing.T) {
				begin := clock.RealClock{}.Now()
				obj := infrastructure()
				err := e.Wait(t.Context(), obj, extensions.KindOf(obj).Patience)
				if err == nil || err.Error() != tc.want {
					t.Errorf("%s\nWait(...) = %v, want %s", tc.reason, err, tc.want)
				}
				if took := (clock.RealClock{}).Since(begin); took < tc.after[0] || took > tc.after[1] {
					t.Errorf("%s\nended after %s, want %s to %s", tc.reason, took, tc.after[0], tc.after[1])
				}
				if diff := cmp.Diff(tc.codes, operation.Codes(fmt.Errorf("infrastructure: %w", err))); diff != "" {
					t.Errorf("%s\ncodes (-want +got):\n%s", tc.reason, diff)
				}
			})
		})
	}
}

func TestWaitReturnsTheAnswer(t *testing.T) {
	t.Parallel()
	for after, within := range map[time.Duration]time.Duration{
		time.Second: 1500 * time.Millisecond, 3 * time.Second: 3500 * time.Millisecond,
		// A machine that stops takes as long, and with it a shoot that falls asleep.
		13 * time.Second: 14500 * time.Millisecond,
	} {
		t.Run(after.String(), func(t *testing.T) {
			t.Parallel()
			answersAfter(t, after, within)
		})
	}
}

// answersAfter has an extension answer after a time, and sees that this is noticed within another.
func answersAfter(t *testing.T, after, within time.Duration) {
	t.Helper()
	have := answered(func(o *gardenextensionsv1alpha1.Infrastructure) { o.Status.LastOperation = nil })
	e := newEngine(t, have)
	synctest.Test(t, func(t *testing.T) {
		done := make(chan error)
		go func() {
			<-clock.RealClock{}.After(after)
			ready := answered(func(o *gardenextensionsv1alpha1.Infrastructure) { o.Status.NodesCIDR = new("10.98.0.0/16") })
			done <- e.Client.Status().Patch(t.Context(), ready, client.MergeFrom(have))
		}()
		begin := clock.RealClock{}.Now()
		obj := infrastructure()
		if err := e.Wait(t.Context(), obj, extensions.KindOf(obj).Patience); err != nil {
			t.Errorf("Wait(...) returned %v", err)
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if obj.Status.NodesCIDR == nil || *obj.Status.NodesCIDR != "10.98.0.0/16" {
			t.Error("the answer of the extension is not in the object")
		}
		if took := (clock.RealClock{}).Since(begin); took > within {
			t.Errorf("an answer after %s was seen after %s only", after, took)
		}
	})
}

func TestDeleteConfirmsFirst_EXT_AGENT_5(t *testing.T) {
	t.Parallel()
	have := answered(func(o *gardenextensionsv1alpha1.Infrastructure) {
		o.Finalizers = []string{"extensions.gardener.cloud/infrastructure"}
	})
	e := newEngine(t, have)
	for range 2 {
		if err := e.Delete(t.Context(), infrastructure()); err != nil {
			t.Fatalf("Delete(...) returned %v", err)
		}
	}
	got := infrastructure()
	if err := e.Client.Get(t.Context(), client.ObjectKeyFromObject(got), got); err != nil {
		t.Fatal(err)
	}
	if got.Annotations["confirmation.gardener.cloud/deletion"] != "true" || got.DeletionTimestamp == nil {
		t.Errorf("the object is not confirmed and in deletion: %v, %v", got.Annotations, got.DeletionTimestamp)
	}
	synctest.Test(t, func(t *testing.T) {
		err := e.WaitGone(t.Context(), infrastructure(), extensions.Patience{Interval: time.Second, Severe: time.Second, Timeout: 10 * time.Second})
		if want := `Infrastructure "a" still exists: not within 10s: it waits for its extension`; err == nil || err.Error() != want {
			t.Errorf("WaitGone(...) = %v, want %s", err, want)
		}
	})
}

func TestWhatIsGoneNeedsNoDeletion_EXT_AGENT_5(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	if err := e.Delete(t.Context(), infrastructure()); err != nil {
		t.Errorf("Delete(...) of nothing = %v", err)
	}
	if err := e.WaitGone(t.Context(), infrastructure(), extensions.Patience{}); err != nil {
		t.Errorf("WaitGone(...) of nothing = %v", err)
	}
}

func TestWaitEndsWithItsContext(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("the gardenlet stops")
	cancel(stopped)
	err := e.Wait(ctx, infrastructure(), extensions.Patience{Interval: time.Second, Timeout: time.Minute})
	if !errors.Is(err, stopped) || !strings.Contains(err.Error(), "it does not exist") {
		t.Errorf("Wait(...) = %v, want what was missing and the cause", err)
	}
}
