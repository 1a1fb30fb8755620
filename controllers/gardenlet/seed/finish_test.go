// SPDX-License-Identifier: Apache-2.0

package seed_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/seed"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// TestFinish ends operations on a seed, after which its conditions are judged again, and a periodic pass, which is none.
func TestFinish_GLET_SEED_10(t *testing.T) {
	t.Parallel()
	const asked = "gardener.cloud/operation"
	for name, tc := range map[string]struct {
		reason string
		change func(*gardencorev1beta1.Seed)
		want   gardencorev1beta1.ConditionStatus
	}{
		"Periodic":   {reason: "a condition holds still", change: func(*gardencorev1beta1.Seed) {}, want: "True"},
		"Changed":    {reason: "the spec is another one", change: func(s *gardencorev1beta1.Seed) { s.Generation = 2 }, want: "Progressing"},
		"Asked":      {reason: "somebody asks for it", change: func(s *gardencorev1beta1.Seed) { s.Annotations = map[string]string{asked: "reconcile"} }, want: "Progressing"},
		"Repaired":   {reason: "the last operation has failed", change: func(s *gardencorev1beta1.Seed) { s.Status.LastOperation.State = "Error" }, want: "Progressing"},
		"Taken over": {reason: "another gardenlet was there", change: func(s *gardencorev1beta1.Seed) { s.Status.Gardener.ID = "other" }, want: "Progressing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			types, err := scheme.New()
			if err != nil {
				t.Fatal(err)
			}
			gardenlet := gardencorev1beta1.Gardener{ID: "this", Name: "gardenlet-0", Version: "1"}
			object := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "one", Generation: 1}}
			object.Status.ObservedGeneration, object.Status.Gardener = 1, new(gardenlet)
			object.Status.LastOperation = &gardencorev1beta1.LastOperation{Type: "Reconcile", State: "Succeeded", Progress: 100}
			object.Status.Conditions = []gardencorev1beta1.Condition{{Type: "SeedSystemComponentsHealthy", Status: "True"}}
			tc.change(object)
			garden := fake.NewClientBuilder().WithScheme(types).WithObjects(object).WithStatusSubresource(object).Build()
			r := &seed.Reconciler{
				SeedBase:  kit.SeedBase{GardenClient: garden, GardenReader: garden, Clock: clocktesting.NewFakeClock(time.Unix(1000, 0)), SeedName: "one"},
				Gardenlet: gardenlet, Config: &gardenconfigv1alpha1.SeedControllerConfiguration{SyncPeriod: &metav1.Duration{Duration: time.Minute}},
			}
			if err := garden.Get(t.Context(), client.ObjectKey{Name: "one"}, object); err != nil {
				t.Fatal(err)
			}
			if err := r.Finish(t.Context(), object); err != nil {
				t.Fatal(err)
			}
			if err := garden.Get(t.Context(), client.ObjectKey{Name: "one"}, object); err != nil {
				t.Fatal(err)
			}
			if got := object.Status.Conditions[0].Status; got != tc.want || object.Status.LastOperation.State != "Succeeded" {
				t.Errorf("%s\nthe condition is %s after an operation that is %s, want %s", tc.reason, got, object.Status.LastOperation.State, tc.want)
			}
		})
	}
}
