// SPDX-License-Identifier: Apache-2.0

package seed_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/seed"
)

func TestEventful(t *testing.T) {
	t.Parallel()
	me := gardencorev1beta1.Gardener{ID: "1", Name: "me", Version: "v1"}
	cases := map[string]struct {
		reason string
		change func(s *gardencorev1beta1.Seed)
		want   bool
	}{
		"Settled":   {reason: "a periodic pass has nothing to tell", change: func(*gardencorev1beta1.Seed) {}},
		"NewSpec":   {reason: "a new spec is worth a report", change: func(s *gardencorev1beta1.Seed) { s.Generation = 8 }, want: true},
		"Never":     {reason: "so is the first pass", change: func(s *gardencorev1beta1.Seed) { s.Status.LastOperation = nil }, want: true},
		"Failed":    {reason: "so is a pass after a failure", change: func(s *gardencorev1beta1.Seed) { s.Status.LastOperation.State = "Error" }, want: true},
		"OtherSelf": {reason: "so is the first pass of another process", change: func(s *gardencorev1beta1.Seed) { s.Status.Gardener.ID = "2" }, want: true},
		"Asked": {reason: "so is one that somebody asked for", change: func(s *gardencorev1beta1.Seed) {
			s.Annotations = map[string]string{"gardener.cloud/operation": "reconcile"}
		}, want: true},
		"OtherOrder": {reason: "other operations do not reconcile", change: func(s *gardencorev1beta1.Seed) {
			s.Annotations = map[string]string{"gardener.cloud/operation": "renew-kubeconfig"}
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Generation: 7}}
			s.Status = gardencorev1beta1.SeedStatus{ObservedGeneration: 7, Gardener: new(me), LastOperation: &gardencorev1beta1.LastOperation{Type: "Reconcile", State: "Succeeded"}}
			tc.change(s)
			if got := seed.Eventful(s, me); got != tc.want {
				t.Errorf("%s\nEventful(...): got %t, want %t", tc.reason, got, tc.want)
			}
		})
	}
}

func TestCheckVersion(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]string{
		"v1.36.3": "", "v1.31.0": "", "v1.33.4-gke.1245000": "", "v0.0.0-master+$Format:%H$": "",
		"v1.30.9": "v1.31.0 is the oldest", "v1.9.0": "is the oldest", "": "parse",
	} {
		err := seed.CheckVersion(version)
		if (err == nil) != (want == "") || (err != nil && !strings.Contains(err.Error(), want)) {
			t.Errorf("GLET-SEED-5: CheckVersion(%q): got error %v, want %q", version, err, want)
		}
	}
}

func TestAllocatable(t *testing.T) {
	t.Parallel()
	list := func(pairs ...string) corev1.ResourceList {
		l := corev1.ResourceList{}
		for i := 0; i < len(pairs); i += 2 {
			l[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
		}
		return l
	}
	cases := map[string]struct {
		reason                string
		resources             *gardenconfigv1alpha1.ResourcesConfiguration
		capacity, allocatable corev1.ResourceList
	}{
		"Nothing":  {reason: "nothing configured is nothing told"},
		"Reserved": {reason: "what is reserved cannot be allocated", resources: &gardenconfigv1alpha1.ResourcesConfiguration{Capacity: list("shoots", "100", "other", "5"), Reserved: list("shoots", "10")}, capacity: list("shoots", "100", "other", "5"), allocatable: list("shoots", "90", "other", "5")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			capacity, allocatable := seed.Allocatable(tc.resources)
			if diff := cmp.Diff(tc.capacity, capacity); diff != "" {
				t.Errorf("%s\ncapacity (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.allocatable, allocatable); diff != "" {
				t.Errorf("%s\nallocatable (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestReevaluate(t *testing.T) {
	t.Parallel()
	of := func(kind, status string) gardencorev1beta1.Condition {
		return gardencorev1beta1.Condition{Type: gardencorev1beta1.ConditionType(kind), Status: gardencorev1beta1.ConditionStatus(status)}
	}
	conditions := seed.Reevaluate([]gardencorev1beta1.Condition{
		of("GardenletReady", "True"), of("SeedSystemComponentsHealthy", "Unknown"), of("ExtensionsReady", "False"), of("Other", "True"),
	}, time.Unix(1, 0))
	got := map[string]string{}
	for _, c := range conditions {
		got[string(c.Type)] = string(c.Status)
	}
	want := map[string]string{"GardenletReady": "Progressing", "SeedSystemComponentsHealthy": "Progressing", "ExtensionsReady": "False", "Other": "True"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("GLET-SEED-10: what a change may have touched is looked at again, unless it is bad already (-want +got):\n%s", diff)
	}
}

func TestReferences(t *testing.T) {
	t.Parallel()
	shoot := func(name string, spec, status *string) gardencorev1beta1.Shoot {
		s := gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: "p", Name: name}}
		s.Spec.SeedName, s.Status.SeedName = spec, status
		return s
	}
	got := seed.References([]gardencorev1beta1.Shoot{
		shoot("c", new("one"), nil), shoot("a", new("two"), new("one")), shoot("b", new("two"), new("two")), shoot("d", nil, nil),
	}, "one")
	if diff := cmp.Diff([]string{"p/a", "p/c"}, got); diff != "" {
		t.Errorf("GLET-SEED-12: shoots that come and shoots that go both need the seed (-want +got):\n%s", diff)
	}
}

func TestReconcileGraph(t *testing.T) {
	t.Parallel()
	graph, err := seed.ReconcileGraph(deploy.Engine{}, "identity", seed.ResourceManagerOptions{Image: "image"}, seed.AddOns{
		Seed: &gardencorev1beta1.Seed{Spec: gardencorev1beta1.SeedSpec{Extensions: []gardencorev1beta1.Extension{{Type: "greeting"}}}},
	})
	if err != nil {
		t.Fatalf("ReconcileGraph(...): %v", err)
	}
	for _, want := range []string{
		`"definitions" -> "identity"`, `"namespace" -> "identity"`, `"identity" -> "resource-manager"`,
		`"resource-manager" -> "required-extensions"`, `"required-extensions" -> "extensions"`, `"referenced-resources" -> "extensions"`,
		`"extensions-wait" -> "referenced-resources-tidy"`, `"extensions-stale-delete-wait" -> "referenced-resources-tidy"`,
	} {
		if !strings.Contains(graph.DOT(), want) {
			t.Errorf("GLET-SEED-8: the graph has the edge %s:\n%s", want, graph.DOT())
		}
	}
}
