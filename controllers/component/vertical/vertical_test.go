// SPDX-License-Identifier: Apache-2.0

package vertical_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/component/vertical"
)

func demand(amounts map[string]string) *gardencorev1beta1.ControlPlaneAutoscaling {
	a := &gardencorev1beta1.ControlPlaneAutoscaling{MinAllowed: map[string]resource.Quantity{}}
	for name, amount := range amounts {
		a.MinAllowed[name] = resource.MustParse(amount)
	}
	return a
}

func TestAtLeast(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason   string
		demanded *gardencorev1beta1.ControlPlaneAutoscaling
		want     map[string]string
	}{
		"Nothing": {reason: "nothing is demanded", want: map[string]string{"cpu": "50m", "memory": "256Mi"}},
		"More":    {reason: "more is demanded of one", demanded: demand(map[string]string{"memory": "1Gi"}), want: map[string]string{"cpu": "50m", "memory": "1Gi"}},
		"Bound":   {reason: "more is demanded than there is", demanded: demand(map[string]string{"cpu": "5000", "memory": "1Pi"}), want: map[string]string{"cpu": "4", "memory": "30Gi"}},
		"Other":   {reason: "what has no bound is not given", demanded: demand(map[string]string{"example.com/gpu": "1"}), want: map[string]string{"cpu": "50m", "memory": "256Mi"}},
		"Less":    {reason: "a demand makes nothing smaller", demanded: demand(map[string]string{"cpu": "10m", "memory": "100M"}), want: map[string]string{"cpu": "50m", "memory": "256Mi"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			own := component.Requests("50m", "256Mi")
			got := map[string]string{}
			for name, amount := range vertical.AtLeast(own, tc.demanded, vertical.Most("4", "30Gi")).Requests {
				got[string(name)] = amount.String()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nAtLeast(...) (-want +got):\n%s", tc.reason, diff)
			}
			if own.Requests.Memory().String() != "256Mi" {
				t.Error("AtLeast(...) changed what it was given")
			}
		})
	}
}

// TestShrinking: when a workload may become smaller (BAK-ETCD-9).
func TestShrinking_BAK_ETCD_9(t *testing.T) {
	t.Parallel()
	const restriction, window = "eviction-requirements.autoscaling.gardener.cloud/downscale-restriction", "shoot.gardener.cloud/maintenance-window"
	for name, tc := range map[string]struct {
		reason   string
		shrinks  string
		disabled string
		want     map[string]string
	}{
		"Anytime": {reason: "nothing holds it back"},
		"Window": {
			reason: "it shrinks while the shoot is maintained", shrinks: "in-maintenance-window-only",
			want: map[string]string{restriction: "in-maintenance-window-only", window: "220000+0100,230000+0100"},
		},
		"Never":    {reason: "it never shrinks", shrinks: "never", want: map[string]string{restriction: "never"}},
		"Disabled": {reason: "the owner of the shoot forbids it", shrinks: "in-maintenance-window-only", disabled: "true", want: map[string]string{restriction: "never"}},
		"Enabled":  {reason: "the owner of the shoot allows it", disabled: "false"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := facts.Shoot{Namespace: "shoot--dev--a", VerticalAutoscaling: true, Shoot: &gardencorev1beta1.Shoot{}}
			f.Shoot.Spec.Maintenance = &gardencorev1beta1.Maintenance{TimeWindow: &gardencorev1beta1.MaintenanceTimeWindow{Begin: "220000+0100", End: "230000+0100"}}
			if tc.disabled != "" {
				f.Shoot.Annotations = map[string]string{gardencorev1beta1.AnnotationShootScaleDownDisabled: tc.disabled}
			}
			w := vertical.Workload{Kind: vertical.Deployment, Name: "one", Labels: map[string]string{"app": "one"}, Shrinks: tc.shrinks}
			objs := vertical.Autoscaler(f, w)
			if len(objs) != 1 {
				t.Fatalf("%s\n%d autoscalers, want one", tc.reason, len(objs))
			}
			if diff := cmp.Diff(tc.want, objs[0].GetAnnotations()); diff != "" {
				t.Errorf("%s\nannotations (-want +got):\n%s", tc.reason, diff)
			}
			want := map[string]string{
				"app": "one", "autoscaling.gardener.cloud/eviction-requirements": "managed-by-controller",
				"vpa-in-place-updates.resources.gardener.cloud/skip": "true",
			}
			if diff := cmp.Diff(want, objs[0].GetLabels()); diff != "" {
				t.Errorf("labels (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(map[string]string{"app": "one"}, w.Labels); diff != "" {
				t.Errorf("the labels of the workload have changed:\n%s", diff)
			}
			f.VerticalAutoscaling = false
			if objs := vertical.Autoscaler(f, w); len(objs) != 0 {
				t.Errorf("a seed without autoscalers of pods gets %d", len(objs))
			}
		})
	}
}

// broken is a cluster that does not answer.
type broken struct {
	meta.RESTMapper

	err error
}

func (b broken) RESTMapping(schema.GroupKind, ...string) (*meta.RESTMapping, error) {
	return nil, b.err
}

// answering is a cluster that answers each list with one error.
type answering struct {
	client.Reader

	err error
}

func (a answering) List(context.Context, client.ObjectList, ...client.ListOption) error { return a.err }

// TestStillServed: a kind that has gone is not a failure, and a cluster that does not answer is one.
func TestStillServed(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	for name, tc := range map[string]struct {
		answer error
		served bool
		err    error
	}{
		"There":   {served: true},
		"Unknown": {answer: &meta.NoKindMatchError{GroupKind: vertical.Kind().GroupKind()}},
		"Gone":    {answer: apierrors.NewNotFound(schema.GroupResource{Group: vertical.Kind().Group, Resource: "verticalpodautoscalers"}, "")},
		"Broken":  {answer: boom, err: boom},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			served, err := vertical.StillServed(t.Context(), answering{err: tc.answer}, "shoot--dev--a")
			if served != tc.served || !errors.Is(err, tc.err) {
				t.Errorf("StillServed(...) = %t, %v, want %t, %v", served, err, tc.served, tc.err)
			}
		})
	}
}

func TestServed(t *testing.T) {
	t.Parallel()
	known := meta.NewDefaultRESTMapper(nil)
	known.Add(vertical.Kind(), meta.RESTScopeNamespace)
	if served, err := vertical.Served(known); !served || err != nil {
		t.Errorf("Served(...) = %t, %v for a cluster with the kind", served, err)
	}
	if served, err := vertical.Served(meta.NewDefaultRESTMapper(nil)); served || err != nil {
		t.Errorf("Served(...) = %t, %v for a cluster without the kind", served, err)
	}
	boom := errors.New("boom")
	if _, err := vertical.Served(broken{err: boom}); !errors.Is(err, boom) {
		t.Errorf("Served(...) = %v, want that the cluster does not answer", err)
	}
}
