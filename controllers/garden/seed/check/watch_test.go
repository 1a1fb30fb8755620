// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/garden/seed/check"
)

func of(seed string) func(*bucket) { return func(b *bucket) { b.Spec.SeedName = &seed } }

func tried(b *bucket) {
	b.Status.LastOperation = &gardencorev1beta1.LastOperation{State: gardencorev1beta1.LastOperationStateProcessing}
}

func labelled(b *bucket) { b.Labels = map[string]string{"a": "b"} }

// TestEvents has the changes of objects by which seeds are judged, and whether a seed is judged again at once.
func TestEvents(t *testing.T) {
	t.Parallel()
	buckets, extensions := check.BackupBuckets().Changes, check.Extensions().Changes
	bucketChange := func(before, after bucket) event.UpdateEvent {
		return event.UpdateEvent{ObjectOld: &before, ObjectNew: &after}
	}
	installed, lost := installation("a", "True", "True", "True", "False"), installation("a", "True", "True", "False", "False")
	other := installed
	other.Labels = map[string]string{"a": "b"}
	made := named("a")
	for reason, got := range map[string]bool{
		"GCM-SEEDBB-1: a bucket comes":                       buckets.Create(event.CreateEvent{Object: &made}),
		"GCM-SEEDBB-1: a bucket goes":                        buckets.Delete(event.DeleteEvent{Object: &made}),
		"GCM-SEEDBB-1: its last error changes":               buckets.Update(bucketChange(named("a"), named("a", broken))),
		"GCM-SEEDBB-1: its last error goes":                  buckets.Update(bucketChange(named("a", broken), named("a"))),
		"GCM-SEEDBB-2: somebody acts upon it":                buckets.Update(bucketChange(named("a", untouched), named("a"))),
		"GCM-SEEDBB-1: what else changes does not matter":    !buckets.Update(bucketChange(named("a"), named("a", tried, labelled))),
		"GCM-SEEDEXT-1: the conditions of an extension do":   extensions.Update(event.UpdateEvent{ObjectOld: &installed, ObjectNew: &lost}),
		"GCM-SEEDEXT-1: and nothing else of it":              !extensions.Update(event.UpdateEvent{ObjectOld: &installed, ObjectNew: &other}),
		"GCM-SEEDEXT-1: an extension comes":                  extensions.Create(event.CreateEvent{Object: &installed}),
		"GCM-SEEDEXT-1: an extension that has not come goes": extensions.Delete(event.DeleteEvent{Object: &lost}),
	} {
		if !got {
			t.Error(reason)
		}
	}
}

// TestWhichSeed has two seeds, and objects of one of them and of none.
func TestWhichSeed(t *testing.T) {
	t.Parallel()
	installed := func(name string, seed *corev1.ObjectReference) *gardencorev1beta1.ControllerInstallation {
		i := installation(name, "False", "False", "False", "False")
		i.Spec.SeedRef = seed
		return &i
	}
	mine, nobodys := named("mine", broken, of("eu")), named("nobodys", broken)
	of, free := installed("mine", &corev1.ObjectReference{Name: "eu"}), installed("free", nil)
	for name, tc := range map[string]struct {
		check     check.Check
		own, none client.Object
	}{
		"GCM-SEEDBB-2":  {check: check.BackupBuckets(), own: &mine, none: &nobodys},
		"GCM-SEEDEXT-2": {check: check.Extensions(), own: of, none: free},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kinds, err := scheme.New()
			if err != nil {
				t.Fatal(err)
			}
			garden := fake.NewClientBuilder().WithScheme(kinds).WithObjects(tc.own, tc.none).WithIndex(
				&gardencorev1beta1.ControllerInstallation{}, gardencorev1beta1.FieldSeedRefName, func(object client.Object) []string {
					if i, ok := object.(*gardencorev1beta1.ControllerInstallation); ok && i.Spec.SeedRef != nil {
						return []string{i.Spec.SeedRef.Name}
					}
					return nil
				}).Build()
			for seed, want := range map[string]gardencorev1beta1.ConditionStatus{"eu": "False", "us": "True"} {
				judged := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: seed}}
				got, err := tc.check.Judge(t.Context(), garden, judged)
				if err != nil {
					t.Fatal(err)
				}
				if got == nil { // A seed without backups and buckets is not judged by them.
					got = &gardencorev1beta1.Condition{Status: "True"}
				}
				if diff := cmp.Diff(want, got.Status); diff != "" {
					t.Errorf("a seed is judged by what is its own: seed %s is %s, want %s", seed, got.Status, want)
				}
			}
			queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
			defer queue.ShutDown()
			tc.check.Enqueue.Create(t.Context(), event.CreateEvent{Object: tc.none}, queue)
			if queue.Len() != 0 {
				t.Error("what belongs to no seed starts no judgement")
			}
			tc.check.Enqueue.Delete(t.Context(), event.DeleteEvent{Object: tc.own}, queue)
			if queue.Len() != 1 {
				t.Fatalf("%d seeds are judged again, want the one of the object", queue.Len())
			}
			if got, _ := queue.Get(); got.Name != "eu" || got.Namespace != "" {
				t.Errorf("seed %q is judged again, want eu", got.NamespacedName)
			}
		})
	}
}
