// SPDX-License-Identifier: Apache-2.0

package resourcemanager_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/clusterautoscaler"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/resourcemanager"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// written are objects of a component as manifests.
func (s *stage) written(objects []client.Object) manifests {
	s.t.Helper()
	of := manifests{}
	for i, object := range objects {
		kind, err := s.GroupVersionKindFor(object)
		if err != nil {
			s.t.Fatal(err)
		}
		object.GetObjectKind().SetGroupVersionKind(kind)
		text, err := yaml.Marshal(object)
		if err != nil {
			s.t.Fatal(err)
		}
		of[fmt.Sprintf("%d.yaml", i)] = string(text)
	}

	return of
}

// TestStatusGoesWithTheAutoscaler delivers what an autoscaler has in its shoot. The status that it writes there stays while the rest
// changes, and goes when the shoot has no autoscaler any more [EXT-WORKER-7].
func TestStatusGoesWithTheAutoscaler(t *testing.T) {
	t.Parallel()
	s := newStage(t, func(*resourcemanager.Options) {})
	rights := func(priority *int32) manifests {
		f := facts.Shoot{Namespace: home, Shoot: &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Name: "a"}}}
		f.Shoot.Spec.Provider = gardencorev1beta1.Provider{Type: "local", Workers: []gardencorev1beta1.Worker{{Name: "small", Minimum: 1, Maximum: 3, Priority: priority}}}
		objects, err := clusterautoscaler.Inside().Render(f, &component.Inputs{})
		if err != nil {
			t.Fatal(err)
		}

		return s.written(objects)
	}
	status := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "cluster-autoscaler-status"}}
	priorities := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "cluster-autoscaler-priority-expander"}}
	exists := func(what string, object client.Object) {
		t.Helper()
		harness.Eventually(t, what, func(ctx context.Context) error { return s.Get(ctx, client.ObjectKeyFromObject(object), object) })
	}

	mr := s.deliver("scaler", "seed", rights(nil))
	exists("the status has a place", status)
	status.Data = map[string]string{"status": "autoscalerStatus: Running"}
	metav1.SetMetaDataAnnotation(&status.ObjectMeta, "cluster-autoscaler.kubernetes.io/last-updated", "now")
	if err := s.Update(t.Context(), status); err != nil {
		t.Fatal(err)
	}
	s.rewrite("scaler", rights(new(int32(20))))
	exists("what else there is has changed", priorities)
	exists("the status stays", status)
	if diff := cmp.Diff(map[string]string{"status": "autoscalerStatus: Running"}, status.Data); diff != "" {
		t.Errorf("content of the status (-want +got):\n%s", diff)
	}
	if status.Annotations["cluster-autoscaler.kubernetes.io/last-updated"] != "now" {
		t.Errorf("annotations of the status: %v", status.Annotations)
	}

	if err := s.Delete(t.Context(), mr); err != nil {
		t.Fatal(err)
	}
	s.gone(mr)
	if err := s.Get(t.Context(), client.ObjectKeyFromObject(status), status); !apierrors.IsNotFound(err) {
		t.Errorf("the status without an autoscaler: got %v, want that it is gone", err)
	}
}
