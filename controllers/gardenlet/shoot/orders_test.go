// SPDX-License-Identifier: Apache-2.0

package shoot_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/shoot"
)

// TestOrdersAreAwaited_EXT_WORKER_7 has an extension that says which machines there are to be, long before these are ready.
func TestOrdersAreAwaited_EXT_WORKER_7(t *testing.T) {
	t.Parallel()
	old := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	state := func(w *gardenextensionsv1alpha1.Worker, observed int64, last gardencorev1beta1.LastOperationState, ordered time.Time) {
		w.Status.ObservedGeneration, w.Status.LastOperation = observed, &gardencorev1beta1.LastOperation{State: last}
		w.Status.MachineDeployments = []gardenextensionsv1alpha1.MachineDeployment{{Name: "small"}}
		w.Status.MachineDeploymentsLastUpdateTime = new(metav1.NewTime(ordered))
	}
	cases := map[string]struct {
		reason string
		// status is that of the Worker of the second generation some time after the request.
		status func(w *gardenextensionsv1alpha1.Worker, after time.Duration)
		took   [2]time.Duration
		want   string
	}{
		"Ordered": {
			reason: "the extension is busy with the machines for an hour", took: [2]time.Duration{time.Minute, time.Minute + 6*time.Second},
			status: func(w *gardenextensionsv1alpha1.Worker, after time.Duration) {
				state(w, 1, "Processing", old)
				if after >= time.Minute {
					state(w, 1, "Processing", old.Add(time.Second))
				}
			},
		},
		"Unchanged": {
			reason: "what was ordered before is no answer, also if its generation is this one", took: [2]time.Duration{time.Minute, time.Minute + 6*time.Second},
			status: func(w *gardenextensionsv1alpha1.Worker, after time.Duration) {
				state(w, 2, "Processing", old)
				if after >= time.Minute {
					state(w, 2, "Processing", old.Add(time.Second))
				}
			},
		},
		"Done": {
			reason: "an extension that does not tell the time is done at some time", took: [2]time.Duration{time.Minute, time.Minute + 6*time.Second},
			status: func(w *gardenextensionsv1alpha1.Worker, after time.Duration) {
				state(w, 1, "Processing", old)
				if after >= time.Minute {
					state(w, 2, "Succeeded", old)
				}
			},
		},
		"Earlier": {
			reason: "an extension of earlier times tells the generation only", took: [2]time.Duration{time.Minute, time.Minute + 6*time.Second},
			status: func(w *gardenextensionsv1alpha1.Worker, after time.Duration) {
				state(w, 1, "Processing", old)
				if after >= time.Minute {
					state(w, 2, "Processing", old)
				}
				w.Status.MachineDeploymentsLastUpdateTime = nil
			},
		},
		"Error": {
			reason: "an error that lasts ends the wait", took: [2]time.Duration{30 * time.Second, 36 * time.Second}, want: "no quota",
			status: func(w *gardenextensionsv1alpha1.Worker, _ time.Duration) {
				state(w, 1, "Error", old)
				w.Status.LastError = &gardencorev1beta1.LastError{Description: "no quota"}
			},
		},
		"Silence": {
			reason: "nobody answers", took: [2]time.Duration{10 * time.Minute, 10 * time.Minute}, want: "not within 10m0s",
			status: func(w *gardenextensionsv1alpha1.Worker, _ time.Duration) { state(w, 1, "Succeeded", old) },
		},
	}
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				begin := clock.RealClock{}.Now()
				worker := &gardenextensionsv1alpha1.Worker{ObjectMeta: metav1.ObjectMeta{Namespace: "shoot--dev--a", Name: "a", Generation: 2}}
				seed := fake.NewClientBuilder().WithScheme(types).WithObjects(worker).WithInterceptorFuncs(interceptor.Funcs{
					Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, options ...client.GetOption) error {
						err := c.Get(ctx, key, obj, options...)
						if w, ok := obj.(*gardenextensionsv1alpha1.Worker); ok && err == nil {
							tc.status(w, (clock.RealClock{}).Since(begin))
						}
						return err
					},
				}).Build()
				err := shoot.AwaitOrders(t.Context(), seed, clock.RealClock{}, new(metav1.NewTime(old)))
				if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
					t.Errorf("%s\nerror: %v, want %q", tc.reason, err, tc.want)
				}
				if took := (clock.RealClock{}).Since(begin); took < tc.took[0] || took > tc.took[1] {
					t.Errorf("%s\nended after %s, want %s to %s", tc.reason, took, tc.took[0], tc.took[1])
				}
			})
		})
	}
}
