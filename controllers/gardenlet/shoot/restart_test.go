// SPDX-License-Identifier: Apache-2.0

package shoot_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/shoot"
)

const tasksKey = "shoot.gardener.cloud/tasks"

func TestControlPlaneIsRestarted_GCM_MAINT_9(t *testing.T) {
	t.Parallel()
	l := newLandscape(t, fresh(annotated(tasksKey, "restartControlPlanePods")))
	const namespace = "shoot--dev--a"
	pod := func(namespace, name, restart string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"maintenance.gardener.cloud/restart": restart}}}
	}
	for _, p := range []*corev1.Pod{pod(namespace, "kcm", "true"), pod(namespace, "etcd", "false"), pod("shoot--dev--b", "kcm", "true")} {
		if err := l.SeedClient.Create(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	if err := shoot.RunTasks(t.Context(), l.Reconciler, l.shoot(t), namespace, "restart-control-plane-pods"); err != nil {
		t.Fatal(err)
	}
	left := &corev1.PodList{}
	if err := l.SeedClient.List(t.Context(), left); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range left.Items {
		names = append(names, p.Namespace+"/"+p.Name)
	}
	if diff := cmp.Diff([]string{"shoot--dev--a/etcd", "shoot--dev--b/kcm"}, slices.Sorted(slices.Values(names))); diff != "" {
		t.Errorf("pods that ask for a restart are deleted, no others (-want +got):\n%s", diff)
	}
	if got := l.shoot(t).Annotations[tasksKey]; got != "" {
		t.Errorf("tasks = %q, want none after the restart", got)
	}
}

func TestDNSServersAreRestarted_GCM_MAINT_9(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason  string
		workers bool
	}{"Workers": {"the pods are replaced", true}, "Workerless": {"there is nothing to restart", false}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := fresh(annotated(tasksKey, "restartCoreAddons"))
			if tc.workers {
				withWorkers(s)
			}
			l := newLandscape(t, s)
			servers := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "coredns"}}
			if err := l.SeedClient.Create(t.Context(), servers); err != nil {
				t.Fatal(err)
			}
			if err := shoot.RunTasks(t.Context(), l.Reconciler, l.shoot(t), "shoot--dev--a", "restart-core-addons"); err != nil {
				t.Fatal(err)
			}
			if err := l.SeedClient.Get(t.Context(), client.ObjectKeyFromObject(servers), servers); err != nil {
				t.Fatal(err)
			}
			if got := servers.Spec.Template.Annotations["gardener.cloud/restarted-at"]; (got != "") != tc.workers {
				t.Errorf("%s: annotation of the pods is %q", tc.reason, got)
			}
			if got := l.shoot(t).Annotations[tasksKey]; got != "" {
				t.Errorf("%s: tasks = %q, want none", tc.reason, got)
			}
		})
	}
}

func TestRestartsAreDoneOnRequestOnly_GCM_MAINT_9(t *testing.T) {
	t.Parallel()
	g, err := shoot.ReconcileGraph(t.Context(), running(withWorkers, annotated(tasksKey, "restartControlPlanePods")), facts.Hosts{}, facts.Awake)
	if err != nil {
		t.Fatal(err)
	}
	dot := g.DOT()
	for task, want := range map[string]string{
		"restart-control-plane-pods": `"restart-control-plane-pods"` + "\n",
		"restart-core-addons":        `"restart-core-addons" [style=dashed]` + "\n",
	} {
		if !strings.Contains(dot, want) {
			t.Errorf("task %s: the graph has no %q", task, want)
		}
	}
}
