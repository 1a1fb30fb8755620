// SPDX-License-Identifier: Apache-2.0

package kit_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/terrarium-garden/terrarium/controllers/kit"
)

func configMap(name, value string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: name}, Data: map[string]string{"value": value}}
}

func value(config *corev1.ConfigMap) any { return config.Data["value"] }

// enqueued lists what a handler puts into the queue when an object is created.
func enqueued(t *testing.T, enqueue handler.EventHandler, object client.Object) []string {
	t.Helper()
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	defer queue.ShutDown()
	enqueue.Create(t.Context(), event.CreateEvent{Object: object}, queue)
	var keys []string
	for queue.Len() > 0 {
		request, _ := queue.Get()
		keys = append(keys, request.String())
	}
	return keys
}

func TestEnqueue(t *testing.T) {
	t.Parallel()
	garden := fake.NewClientBuilder().WithObjects(configMap("a", "same"), configMap("b", "other"), configMap("c", "same")).Build()
	named := kit.EnqueueNamed(func(config *corev1.ConfigMap) []types.NamespacedName {
		return kit.Keys("garden", new(config.Data["value"]), nil, &config.Name)
	})
	matching := kit.EnqueueMatching(garden, &corev1.ConfigMapList{}, func(changed client.Object, candidate *corev1.ConfigMap) bool {
		return changed.GetName() != candidate.Name && candidate.Data["value"] == "same"
	})
	for name, tc := range map[string]struct {
		reason  string
		enqueue handler.EventHandler
		object  client.Object
		want    []string
	}{
		"Named":     {reason: "names that are nil are left out", enqueue: named, object: configMap("x", "y"), want: []string{"garden/y", "garden/x"}},
		"OtherKind": {reason: "an object of another kind names nothing", enqueue: named, object: &corev1.Secret{}},
		"Matching":  {reason: "each object is compared with the changed one", enqueue: matching, object: configMap("a", ""), want: []string{"garden/c"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, enqueued(t, tc.enqueue, tc.object)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestPredicates(t *testing.T) {
	t.Parallel()
	matching := kit.Matching(func(config *corev1.ConfigMap) bool { return value(config) == "yes" })
	touching := kit.Touching(func(config *corev1.ConfigMap) bool { return value(config) == "yes" })
	changed := kit.Changed(value)
	update := func(before, after string) event.UpdateEvent {
		return event.UpdateEvent{ObjectOld: configMap("a", before), ObjectNew: configMap("a", after)}
	}
	got := map[string]bool{
		"matching, created":        matching.Create(event.CreateEvent{Object: configMap("a", "yes")}),
		"matching, not":            matching.Create(event.CreateEvent{Object: configMap("a", "no")}),
		"matching, another kind":   matching.Create(event.CreateEvent{Object: &corev1.Secret{}}),
		"matching, matches now":    matching.Update(update("no", "yes")),
		"matching, matched before": matching.Update(update("yes", "no")),
		"touching, created":        touching.Create(event.CreateEvent{Object: configMap("a", "yes")}),
		"touching, not":            touching.Delete(event.DeleteEvent{Object: configMap("a", "no")}),
		"touching, another kind":   touching.Create(event.CreateEvent{Object: &corev1.Secret{}}),
		"touching, matches now":    touching.Update(update("no", "yes")),
		"touching, matched before": touching.Update(update("yes", "no")),
		"touching, never matched":  touching.Update(update("no", "no")),
		"changed, created":         changed.Create(event.CreateEvent{Object: configMap("a", "no")}),
		"changed, deleted":         changed.Delete(event.DeleteEvent{Object: configMap("a", "no")}),
		"changed, is another":      changed.Update(update("yes", "no")),
		"changed, is the same":     changed.Update(update("yes", "yes")),
	}
	want := map[string]bool{
		"matching, created": true, "matching, not": false, "matching, another kind": false,
		"matching, matches now": true, "matching, matched before": false,
		"touching, created": true, "touching, not": false, "touching, another kind": false,
		"touching, matches now": true, "touching, matched before": true, "touching, never matched": false,
		"changed, created": true, "changed, deleted": true, "changed, is another": true, "changed, is the same": false,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("which events pass (-want +got):\n%s", diff)
	}
}
