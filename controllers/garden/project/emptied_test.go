// SPDX-License-Identifier: Apache-2.0

package project_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/garden/project"
)

// TestEmptied_GCM_PROJECT_10 sees the last shoot of a project go. Nothing else tells the project that it can end, because what waits for shoots is
// not asked again by a timer.
func TestEmptied_GCM_PROJECT_10(t *testing.T) {
	t.Parallel()
	kinds, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	made := func(name string, namespace *string, ends bool) *gardencorev1beta1.Project {
		p := &gardencorev1beta1.Project{ObjectMeta: metav1.ObjectMeta{Name: name, Finalizers: []string{"gardener"}}, Spec: gardencorev1beta1.ProjectSpec{Namespace: namespace}}
		if ends {
			p.DeletionTimestamp = new(metav1.Now())
		}
		return p
	}
	for name, tc := range map[string]struct {
		project *gardencorev1beta1.Project
		want    int
	}{
		"ends":             {made("dev", new("garden-dev"), true), 1},
		"lives":            {made("dev", new("garden-dev"), false), 0},
		"another":          {made("prod", new("garden-prod"), true), 0},
		"has no namespace": {made("new", nil, true), 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cache := fake.NewClientBuilder().WithScheme(kinds).WithObjects(tc.project).Build()
			queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
			defer queue.ShutDown()
			shoot := &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: "last"}}
			project.Emptied(cache).Delete(t.Context(), event.DeleteEvent{Object: shoot}, queue)
			if diff := cmp.Diff(tc.want, queue.Len()); diff != "" {
				t.Errorf("projects that are looked at (-want +got):\n%s", diff)
			}
		})
	}
}
