// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/garden/seed/check"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// TestReconcile lets a finding turn bad and waits for the threshold.
func TestReconcile(t *testing.T) {
	t.Parallel()
	kinds, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	other := gardencorev1beta1.Condition{Type: gardencorev1beta1.ConditionTypeGardenletReady, Status: "True"}
	seed := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "eu"}, Status: gardencorev1beta1.SeedStatus{Conditions: []gardencorev1beta1.Condition{other}}}
	c := fake.NewClientBuilder().WithScheme(kinds).WithObjects(seed).WithStatusSubresource(seed).Build()
	clk := clocktesting.NewFakeClock(time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC))
	found := &gardencorev1beta1.Condition{Status: gardencorev1beta1.ConditionTrue}
	r := &check.Reconciler{
		Base: kit.Base{Client: c, Clock: clk},
		Config: gardenconfigv1alpha1.ServerSeedCheckConfiguration{
			SyncPeriod: &metav1.Duration{Duration: 30 * time.Second},
			ConditionThresholds: []gardenconfigv1alpha1.ConditionThreshold{
				{Type: string(gardencorev1beta1.ConditionTypeBackupBucketsReady), Duration: metav1.Duration{Duration: time.Minute}},
			},
		},
		Check: check.Check{
			Condition: gardencorev1beta1.ConditionTypeBackupBucketsReady,
			Judge: func(context.Context, client.Reader, *gardencorev1beta1.Seed) (*gardencorev1beta1.Condition, error) {
				return found.DeepCopy(), nil
			},
		},
	}
	for _, step := range []struct {
		reason string
		after  time.Duration
		found  *gardencorev1beta1.Condition
		want   gardencorev1beta1.ConditionStatus
	}{
		{reason: "GCM-SEEDBB-1: what is found is said", found: &gardencorev1beta1.Condition{Status: "True"}, want: "True"},
		{reason: "GCM-SEEDBB-3: a bad finding shows as Progressing first", found: &gardencorev1beta1.Condition{Status: "False"}, want: "Progressing"},
		{reason: "GCM-SEEDBB-3: and stays so for the threshold", after: time.Minute, found: &gardencorev1beta1.Condition{Status: "False"}, want: "Progressing"},
		{reason: "GCM-SEEDBB-3: and is said then", after: time.Second, found: &gardencorev1beta1.Condition{Status: "False"}, want: "False"},
		{reason: "a seed that there is nothing to say of has no condition"},
	} {
		clk.Step(step.after)
		found = step.found
		result, err := reconcile.AsReconciler(c, r).Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(seed)})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(reconcile.Result{RequeueAfter: 30 * time.Second}, result); diff != "" {
			t.Errorf("GCM-SEEDBB-1: the seed is judged again after the sync period (-want +got):\n%s", diff)
		}
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(seed), seed); err != nil {
			t.Fatal(err)
		}
		want := []gardencorev1beta1.Condition{other}
		if step.want != "" {
			want = append(want, gardencorev1beta1.Condition{Type: gardencorev1beta1.ConditionTypeBackupBucketsReady, Status: step.want})
		}
		times := cmpopts.IgnoreFields(gardencorev1beta1.Condition{}, "LastTransitionTime", "LastUpdateTime")
		if diff := cmp.Diff(want, seed.Status.Conditions, times, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.reason, diff)
		}
	}
}

// TestUnread_GCM_SEEDEXT_1 has lists that fail: a seed is not judged by what is not known.
func TestUnread_GCM_SEEDEXT_1(t *testing.T) {
	t.Parallel()
	kinds, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	errBoom := errors.New("boom")
	for name, of := range map[string]check.Check{"extensions": check.Extensions(), "backup buckets": check.BackupBuckets()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := gardencorev1beta1.Condition{Type: of.Condition, Status: "True", Reason: "Before"}
			seed := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "eu"}, Status: gardencorev1beta1.SeedStatus{Conditions: []gardencorev1beta1.Condition{before}}}
			c := fake.NewClientBuilder().WithScheme(kinds).WithObjects(seed).WithStatusSubresource(seed).WithInterceptorFuncs(interceptor.Funcs{
				List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error { return errBoom },
			}).Build()
			r := &check.Reconciler{
				Base: kit.Base{Client: c, Clock: clocktesting.NewFakeClock(time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC))}, Check: of,
				Config: gardenconfigv1alpha1.ServerSeedCheckConfiguration{SyncPeriod: &metav1.Duration{Duration: 30 * time.Second}},
			}
			key := client.ObjectKeyFromObject(seed)
			if _, err := reconcile.AsReconciler(c, r).Reconcile(t.Context(), reconcile.Request{NamespacedName: key}); !errors.Is(err, errBoom) {
				t.Errorf("Reconcile(...) = %v, want %v", err, errBoom)
			}
			if err := c.Get(t.Context(), key, seed); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]gardencorev1beta1.Condition{before}, seed.Status.Conditions); diff != "" {
				t.Errorf("conditions (-want +got):\n%s", diff)
			}
		})
	}
}
