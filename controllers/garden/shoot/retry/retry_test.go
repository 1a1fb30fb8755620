// SPDX-License-Identifier: Apache-2.0

package retry_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/garden/shoot/retry"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

func at(minute int) time.Time { return time.Date(2026, 1, 1, 12, minute, 0, 0, time.UTC) }

// throttled is a shoot that failed at noon because of rate limits.
func throttled(change func(*gardencorev1beta1.Shoot)) *gardencorev1beta1.Shoot {
	shoot := &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: "a", Generation: 2}}
	shoot.Status.ObservedGeneration = 2
	shoot.Status.LastOperation = &gardencorev1beta1.LastOperation{Type: "Reconcile", State: "Failed", LastUpdateTime: metav1.NewTime(at(0))}
	shoot.Status.LastErrors = []gardencorev1beta1.LastError{
		{Description: "other"}, {Description: "slow down", Codes: []gardencorev1beta1.ErrorCode{"ERR_CONFIGURATION_PROBLEM", "ERR_INFRA_RATE_LIMITS_EXCEEDED"}},
	}
	change(shoot)
	return shoot
}

func TestReconcile(t *testing.T) {
	t.Parallel()
	kinds, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	same := func(*gardencorev1beta1.Shoot) {}
	asked := func(operation string) func(*gardencorev1beta1.Shoot) {
		return func(s *gardencorev1beta1.Shoot) {
			metav1.SetMetaDataAnnotation(&s.ObjectMeta, "gardener.cloud/operation", operation)
		}
	}
	for name, tc := range map[string]struct {
		reason string
		change func(*gardencorev1beta1.Shoot)
		now    time.Time
		calm   bool
		want   string
		after  time.Duration
	}{
		"GCM-RETRY-1 due":        {reason: "the period is over", change: same, now: at(10), want: "retry"},
		"GCM-RETRY-1 later":      {reason: "it is retried after the rest of the period and a random time", change: same, now: at(4), after: 6*time.Minute + 90*time.Second},
		"GCM-RETRY-1 no jitter":  {reason: "without jitter it is the rest of the period", change: same, now: at(4), calm: true, after: 6 * time.Minute},
		"GCM-RETRY-1 other":      {reason: "other errors need somebody who mends them", now: at(10), change: func(s *gardencorev1beta1.Shoot) { s.Status.LastErrors = s.Status.LastErrors[:1] }},
		"GCM-RETRY-1 runs":       {reason: "an operation under way is not retried", now: at(10), change: func(s *gardencorev1beta1.Shoot) { s.Status.LastOperation.State = "Error" }},
		"GCM-RETRY-1 changed":    {reason: "a change starts an operation by itself", now: at(10), change: func(s *gardencorev1beta1.Shoot) { s.Generation = 3 }},
		"GCM-RETRY-1 new":        {reason: "nothing has been done yet", now: at(10), change: func(s *gardencorev1beta1.Shoot) { s.Status.LastOperation = nil }},
		"GCM-RETRY-1 reconcile":  {reason: "a failed shoot is not reconciled before it is retried", now: at(10), want: "retry", change: asked("reconcile")},
		"GCM-RETRY-1 rotation":   {reason: "a request that a retry would take away stays", now: at(10), want: "reconcile;rotate-ssh-keypair", change: asked("reconcile;rotate-ssh-keypair")},
		"GCM-RETRY-1 deletion":   {reason: "a failed deletion is retried as well", now: at(10), want: "retry", change: func(s *gardencorev1beta1.Shoot) { s.Status.LastOperation.Type = "Delete" }},
		"GCM-RETRY-1 far behind": {reason: "after a long stop it is retried at once", change: same, now: at(59), want: "retry"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shoot := throttled(tc.change)
			c := fake.NewClientBuilder().WithScheme(kinds).WithObjects(shoot).WithStatusSubresource(shoot).Build()
			config := &gardenconfigv1alpha1.ServerConfiguration{}
			config.SetDefaults()
			if tc.calm {
				config.Controllers.ShootRetry.RetryJitterPeriod.Duration = 0
			}
			r := &retry.Reconciler{
				Base:   kit.Base{Client: c, Clock: clocktesting.NewFakeClock(tc.now)},
				Config: config.Controllers.ShootRetry,
				Jitter: func(limit time.Duration) time.Duration {
					if limit <= 0 {
						t.Errorf("Jitter(%s): there is no random time below that", limit)
					}
					return limit * 3 / 10
				},
			}
			result, err := reconcile.AsReconciler(c, r).Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(shoot)})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(reconcile.Result{RequeueAfter: tc.after}, result); diff != "" {
				t.Errorf("%s\nresult (-want +got):\n%s", tc.reason, diff)
			}
			if err := c.Get(t.Context(), client.ObjectKeyFromObject(shoot), shoot); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, shoot.Annotations["gardener.cloud/operation"]); diff != "" {
				t.Errorf("%s\noperation (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestFuture_GCM_RETRY_1 has a failure whose time is a year ahead.
func TestFuture_GCM_RETRY_1(t *testing.T) {
	t.Parallel()
	kinds, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	shoot := throttled(func(s *gardencorev1beta1.Shoot) {
		s.Status.LastOperation.LastUpdateTime = metav1.NewTime(at(365 * 24 * 60))
	})
	c := fake.NewClientBuilder().WithScheme(kinds).WithObjects(shoot).WithStatusSubresource(shoot).Build()
	config := &gardenconfigv1alpha1.ServerConfiguration{}
	config.SetDefaults()
	config.Controllers.ShootRetry.RetryPeriod.Duration, config.Controllers.ShootRetry.RetryJitterPeriod.Duration = 15*time.Minute, 0
	clock := clocktesting.NewFakeClock(at(0))
	r := &retry.Reconciler{Base: kit.Base{Client: c, Clock: clock}, Config: config.Controllers.ShootRetry}
	for _, step := range []struct {
		reason  string
		minute  int
		failsAt int
		again   time.Duration
		retried bool
	}{
		{reason: "the period begins now", again: 10 * time.Minute},
		{reason: "and goes on", minute: 10, again: 5 * time.Minute},
		{reason: "another failure begins another one", minute: 14, failsAt: 1, again: 10 * time.Minute},
		{reason: "which goes on as well", minute: 24, again: 5 * time.Minute},
		{reason: "until it is over", minute: 29, retried: true},
	} {
		clock.SetTime(at(step.minute))
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(shoot), shoot); err != nil {
			t.Fatal(err)
		}
		if step.failsAt > 0 {
			shoot.Status.LastOperation.LastUpdateTime = metav1.NewTime(at(365*24*60 + step.failsAt))
			if err := c.Status().Update(t.Context(), shoot); err != nil {
				t.Fatal(err)
			}
		}
		result, err := r.Reconcile(t.Context(), shoot)
		if err != nil || result.RequeueAfter != step.again || (shoot.Annotations["gardener.cloud/operation"] == "retry") != step.retried {
			t.Errorf("after %d minutes: %s\nReconcile(...) = %v, %v with annotations %v, want another pass after %s and a retry: %t", step.minute, step.reason, result, err, shoot.Annotations, step.again, step.retried)
		}
	}
}
