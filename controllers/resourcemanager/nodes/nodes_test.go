// SPDX-License-Identifier: Apache-2.0

package nodes_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/resourcemanager/nodes"
)

const taint = "node.gardener.cloud/critical-components-not-ready"

func critical() map[string]string {
	return map[string]string{"node.gardener.cloud/critical-component": "true"}
}

// node is a new one with a label and a taint of its owner.
func node() *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", UID: "n", Labels: map[string]string{"disk": "fast"}}, Spec: corev1.NodeSpec{Taints: []corev1.Taint{
		{Key: taint, Effect: corev1.TaintEffectNoSchedule},
		{Key: "mine", Value: "yes", Effect: corev1.TaintEffectNoExecute},
		{Key: "node.kubernetes.io/not-ready", Effect: corev1.TaintEffectNoSchedule},
	}}}
}

func daemonSet(change func(*appsv1.DaemonSet)) appsv1.DaemonSet {
	set := appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "proxy", UID: "uid-of-set", Labels: critical()}}
	set.Spec.Template.Labels = critical()
	set.Spec.Template.Spec.Tolerations = []corev1.Toleration{{Key: "mine", Operator: corev1.TolerationOpEqual, Value: "yes"}}
	if change != nil {
		change(&set)
	}
	return set
}

// pod is a ready one of the DaemonSet on the node.
func pod(change func(*corev1.Pod)) corev1.Pod {
	p := corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "kube-system", Name: "proxy-1", Labels: critical(),
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: "proxy", UID: "uid-of-set", Controller: new(true)}},
	}}
	p.Spec.NodeName = "n"
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	if change != nil {
		change(&p)
	}
	return p
}

func unready(p *corev1.Pod) { p.Status.Conditions[0].Status = corev1.ConditionFalse }

func waitsForDriver(p *corev1.Pod) {
	p.Annotations = map[string]string{"node.gardener.cloud/wait-for-csi-node-disks": "disks.example.org"}
}

func TestJudge_GRM_NODE_1(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		state  nodes.State
		want   string
	}{
		"Nothing": {reason: "nothing is critical"},
		"Ready":   {reason: "the pod runs", state: nodes.State{DaemonSets: []appsv1.DaemonSet{daemonSet(nil)}, Pods: []corev1.Pod{pod(nil)}}},
		"NoPod": {
			reason: "the DaemonSet has no pod there yet", state: nodes.State{DaemonSets: []appsv1.DaemonSet{daemonSet(nil)}},
			want: "UnscheduledNodeCriticalDaemonSets These DaemonSets have no pod on the node yet: proxy",
		},
		"OthersPod": {
			reason: "a pod of another owner is none of it", want: "UnscheduledNodeCriticalDaemonSets These DaemonSets have no pod on the node yet: proxy",
			state: nodes.State{DaemonSets: []appsv1.DaemonSet{daemonSet(nil)}, Pods: []corev1.Pod{pod(func(p *corev1.Pod) { p.OwnerReferences = nil })}},
		},
		"OtherNodes": {reason: "it does not run on such nodes", state: nodes.State{DaemonSets: []appsv1.DaemonSet{daemonSet(func(s *appsv1.DaemonSet) {
			s.Spec.Template.Spec.NodeSelector = map[string]string{"disk": "slow"}
		})}}},
		"ThisNode": {
			reason: "it runs on such nodes only", want: "UnscheduledNodeCriticalDaemonSets These DaemonSets have no pod on the node yet: proxy",
			state: nodes.State{DaemonSets: []appsv1.DaemonSet{daemonSet(func(s *appsv1.DaemonSet) { s.Spec.Template.Spec.NodeSelector = map[string]string{"disk": "fast"} })}},
		},
		"NotTolerated": {reason: "it does not tolerate the node", state: nodes.State{DaemonSets: []appsv1.DaemonSet{daemonSet(func(s *appsv1.DaemonSet) {
			s.Spec.Template.Spec.Tolerations[0].Value = "no"
		})}}},
		"PlainTemplate": {reason: "its pods are not critical", state: nodes.State{DaemonSets: []appsv1.DaemonSet{daemonSet(func(s *appsv1.DaemonSet) {
			s.Spec.Template.Labels = nil
		})}}},
		"Unready": {
			reason: "the pod is not ready", state: nodes.State{DaemonSets: []appsv1.DaemonSet{daemonSet(nil)}, Pods: []corev1.Pod{pod(unready)}},
			want: "UnreadyNodeCriticalPods These pods are not ready: proxy-1",
		},
		"UnreadyWithoutOwner": {
			reason: "a critical pod of something else counts too", state: nodes.State{Pods: []corev1.Pod{pod(unready)}}, want: "UnreadyNodeCriticalPods These pods are not ready: proxy-1",
		},
		"NoDriver": {
			reason: "a driver is not registered", state: nodes.State{Pods: []corev1.Pod{pod(waitsForDriver)}, Drivers: []string{"others.example.org"}},
			want: "UnreadyRequiredCSIDrivers These storage drivers are not registered: disks.example.org",
		},
		"Driver": {reason: "it is", state: nodes.State{Pods: []corev1.Pod{pod(waitsForDriver)}, Drivers: []string{"disks.example.org"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reason, message := nodes.Judge(node(), tc.state)
			got := reason
			if message != "" {
				got += " " + message
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nJudge(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestOpen follows a node from its registration until it takes pods.
func TestOpen_GRM_NODE_1(t *testing.T) {
	t.Parallel()
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	set, starting, csi := daemonSet(nil), pod(unready), &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: "n"}}
	waitsForDriver(&starting)
	elsewhere := pod(func(p *corev1.Pod) { unready(p); p.Name, p.Spec.NodeName = "proxy-2", "other" })
	c := fake.NewClientBuilder().WithScheme(types).WithObjects(node(), &set, &elsewhere, csi).
		WithIndex(&corev1.Pod{}, "spec.nodeName", func(o client.Object) []string {
			if p, ok := o.(*corev1.Pod); ok {
				return []string{p.Spec.NodeName}
			}
			return nil
		}).Build()
	look := func(waits bool, taints ...string) {
		t.Helper()
		live := &corev1.Node{}
		if err := c.Get(t.Context(), client.ObjectKey{Name: "n"}, live); err != nil {
			t.Fatal(err)
		}
		for range 2 { // Another look changes nothing.
			got, err := nodes.Open(t.Context(), c, live)
			if err != nil || got != waits {
				t.Errorf("Open(...) = %t, %v, want %t", got, err, waits)
			}
			if err := c.Get(t.Context(), client.ObjectKey{Name: "n"}, live); err != nil {
				t.Fatal(err)
			}
		}
		var have []string
		for _, one := range live.Spec.Taints {
			have = append(have, one.Key)
		}
		if diff := cmp.Diff(taints, have); diff != "" {
			t.Errorf("taints (-want +got):\n%s", diff)
		}
	}
	look(true, taint, "mine", "node.kubernetes.io/not-ready")
	if err := c.Create(t.Context(), &starting); err != nil {
		t.Fatal(err)
	}
	look(true, taint, "mine", "node.kubernetes.io/not-ready")
	starting.Status.Conditions[0].Status = corev1.ConditionTrue
	if err := c.Status().Update(t.Context(), &starting); err != nil {
		t.Fatal(err)
	}
	look(true, taint, "mine", "node.kubernetes.io/not-ready")
	csi.Spec.Drivers = []storagev1.CSINodeDriver{{Name: "disks.example.org", NodeID: "n"}}
	if err := c.Update(t.Context(), csi); err != nil {
		t.Fatal(err)
	}
	look(false, "mine", "node.kubernetes.io/not-ready")

	events := &corev1.EventList{}
	if err := c.List(t.Context(), events, client.InNamespace("default")); err != nil {
		t.Fatal(err)
	}
	var reasons []string
	for i := range events.Items {
		reasons = append(reasons, events.Items[i].Reason)
	}
	slices.Sort(reasons)
	want := []string{"NodeCriticalComponentsReady", "UnreadyNodeCriticalPods", "UnreadyRequiredCSIDrivers", "UnscheduledNodeCriticalDaemonSets"}
	if diff := cmp.Diff(want, reasons); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}
