// SPDX-License-Identifier: Apache-2.0

package autoscaler_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardenmachinev1alpha1 "github.com/terrarium-garden/terrarium/apis/machine/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/autoscaler"
)

// two makes a pool of two machines, of which the second has little to do.
func two(t *testing.T, idle ...client.Object) *world {
	t.Helper()
	w := newWorld(t, autoscaler.Bounds{Name: "small", Minimum: 2, Maximum: 3})
	w.scaler.Options.Groups[0].Minimum = 1
	w.joins(t, "one")
	w.joins(t, "two")
	w.make(t, pod("busy", "3", "one"))
	w.make(t, idle...)
	return w
}

func (w *world) priority(t *testing.T, machine string) string {
	t.Helper()
	m := &gardenmachinev1alpha1.Machine{}
	if err := w.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: machine}, m); err != nil {
		t.Fatal(err)
	}
	return m.Annotations[gardenmachinev1alpha1.AnnotationPriority]
}

// TestIdleMachineGoes: it goes when it was not needed for long enough, and it is the one that goes.
func TestIdleMachineGoes(t *testing.T) {
	t.Parallel()
	w := two(t, pod("idle", "500m", "two"))
	w.pass(t)
	w.clock.Step(9 * time.Minute)
	w.pass(t)
	w.wants(t, "small", 2, "the node was not needed for 9 of 10 minutes")
	w.clock.Step(time.Minute)
	w.pass(t)
	w.wants(t, "small", 1, "the node was not needed for 10 minutes")
	if diff := cmp.Diff([]string{"", "1"}, []string{w.priority(t, "one"), w.priority(t, "two")}); diff != "" {
		t.Errorf("priorities of the machines (-want +got):\n%s", diff)
	}
	w.said(t, "ScaleDown", "node is removed by the cluster autoscaler")
	w.pass(t)
	w.wants(t, "small", 1, "the minimum holds, and one removal is waited for")
}

// TestPodsMoveOn: of two nodes whose pods fit elsewhere one after the other only, one goes. The simulation moves the pod of the first to the
// second, from where it has to go on when that is looked at.
func TestPodsMoveOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, autoscaler.Bounds{Name: "small", Minimum: 3, Maximum: 3})
	w.scaler.Options.Groups[0].Minimum = 0
	w.scaler.Options.MaxDrainParallelism = 3
	for _, name := range []string{"a", "b", "c"} {
		w.joins(t, name)
	}
	w.make(t, pod("first", "1200m", "a"), pod("second", "1300m", "b"), pod("busy", "2400m", "c"))
	w.pass(t)
	w.clock.Step(11 * time.Minute)
	w.pass(t)
	w.wants(t, "small", 2, "both pods do not fit on the node that stays")
}

// TestNeededAgain: the time begins anew when a node was needed in between.
func TestNeededAgain(t *testing.T) {
	t.Parallel()
	w := two(t)
	w.pass(t)
	w.clock.Step(9 * time.Minute)
	more := pod("more", "3", "two")
	w.make(t, more)
	w.pass(t)
	if err := w.Delete(t.Context(), more); err != nil {
		t.Fatal(err)
	}
	w.clock.Step(9 * time.Minute)
	w.pass(t)
	w.clock.Step(9 * time.Minute)
	w.pass(t)
	w.wants(t, "small", 2, "the node was needed 9 minutes before it was first seen without need again")
	w.clock.Step(time.Minute)
	w.pass(t)
	w.wants(t, "small", 1, "the node was not needed for 10 minutes")
}

func TestScaleDown(t *testing.T) {
	t.Parallel()
	change := func(do func(*corev1.Pod)) []client.Object {
		p := pod("idle", "500m", "two")
		do(p)
		return []client.Object{p}
	}
	safe := func(value string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Annotations = map[string]string{"cluster-autoscaler.kubernetes.io/safe-to-evict": value}
		}
	}
	budget := func(allowed int32) client.Object {
		b := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "hello"}}
		b.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "hello"}}
		b.Status.DisruptionsAllowed = allowed
		return b
	}
	cases := map[string]struct {
		reason string
		idle   []client.Object
		set    func(*autoscaler.Options)
		node   func(*corev1.Node)
		want   int32
	}{
		"Empty":      {reason: "the node has no pods", want: 1},
		"Moves":      {reason: "the pod fits on the other node", idle: change(func(*corev1.Pod) {}), want: 1},
		"NoRoom":     {reason: "the pod fits nowhere else", idle: []client.Object{pod("idle", "1500m", "two")}, want: 2},
		"Busy":       {reason: "half of the node is requested", idle: []client.Object{pod("a", "1", "two"), pod("b", "1", "two")}, want: 2},
		"Unsafe":     {reason: "the owner of the pod forbids it", idle: change(safe("false")), want: 2},
		"Lonely":     {reason: "nothing would make the pod again", idle: change(func(p *corev1.Pod) { p.OwnerReferences = nil }), want: 2},
		"LonelySafe": {reason: "the owner of the pod allows it", idle: change(func(p *corev1.Pod) { p.OwnerReferences = nil; safe("true")(p) }), want: 1},
		"Budget":     {reason: "the budget allows no disruption", idle: append(change(func(*corev1.Pod) {}), budget(0)), want: 2},
		"BudgetFree": {reason: "the budget allows a disruption", idle: append(change(func(*corev1.Pod) {}), budget(1)), want: 1},
		"Daemon":     {reason: "a pod of a DaemonSet goes with its node", idle: change(func(p *corev1.Pod) { p.OwnerReferences[0].Kind = "DaemonSet" }), want: 1},
		"Static":     {reason: "a static pod goes with its node", idle: change(func(p *corev1.Pod) { p.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "x"} }), want: 1},
		"Disabled": {reason: "the annotation keeps the node", node: func(n *corev1.Node) {
			n.Annotations = map[string]string{"cluster-autoscaler.kubernetes.io/scale-down-disabled": "true"}
		}, want: 2},
		"AfterAdd":    {reason: "a machine was added a short while ago", set: func(o *autoscaler.Options) { o.ScaleDownDelayAfterAdd = time.Hour }, want: 2},
		"Minimum":     {reason: "the minimum holds", set: func(o *autoscaler.Options) { o.Groups[0].Minimum = 2 }, want: 2},
		"Unready":     {reason: "a node that is not ready is given more time", node: func(n *corev1.Node) { n.Status.Conditions = nil }, want: 2},
		"Parallelism": {reason: "no node with pods may go", idle: change(func(*corev1.Pod) {}), set: func(o *autoscaler.Options) { o.MaxDrainParallelism = 0 }, want: 2},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := two(t, tc.idle...)
			if tc.set != nil {
				tc.set(&w.scaler.Options)
			}
			if tc.node != nil {
				n := &corev1.Node{}
				if err := w.Get(t.Context(), client.ObjectKey{Name: "two"}, n); err != nil {
					t.Fatal(err)
				}
				tc.node(n)
				conditions := n.Status.Conditions
				if err := w.Update(t.Context(), n); err != nil {
					t.Fatal(err)
				}
				n.Status.Conditions = conditions
				if err := w.Status().Update(t.Context(), n); err != nil {
					t.Fatal(err)
				}
			}
			w.pass(t)
			w.clock.Step(11 * time.Minute)
			w.pass(t)
			w.wants(t, "small", tc.want, tc.reason)
		})
	}
}

// TestGraphicsProcessors: on a node that has some, only these count for how much it is used.
func TestGraphicsProcessors(t *testing.T) {
	t.Parallel()
	const graphics = corev1.ResourceName("nvidia.com/gpu")
	needs := func(name string, amount string) client.Object {
		p := pod(name, "2500m", "two")
		p.Spec.Containers[0].Resources.Requests[graphics] = resource.MustParse(amount)
		return p
	}
	for name, tc := range map[string]struct {
		reason    string
		used      string
		threshold string
		want      int32
	}{
		"Busy":     {reason: "half of them are requested", used: "2", want: 2},
		"Idle":     {reason: "a quarter is requested; most of the processors do not matter", used: "1", want: 1},
		"Pool":     {reason: "a quarter is requested, and the pool says a fifth", used: "1", threshold: "0.2", want: 2},
		"PoolMore": {reason: "half are requested, and the pool says 0.6", used: "2", threshold: "0.6", want: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, autoscaler.Bounds{Name: "small", Minimum: 2, Maximum: 3})
			w.scaler.Options.Groups[0].Minimum = 1
			for _, name := range []string{"one", "two"} {
				n := node(name, "4")
				n.Status.Allocatable[graphics] = resource.MustParse("4")
				w.make(t, machine("small", name), n)
			}
			busy := pod("busy", "1", "one")
			busy.Annotations = map[string]string{"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}
			w.make(t, busy, needs("graphic", tc.used))
			if tc.threshold != "" {
				d := &gardenmachinev1alpha1.MachineDeployment{}
				if err := w.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "small"}, d); err != nil {
					t.Fatal(err)
				}
				d.Annotations = map[string]string{gardenmachinev1alpha1.AnnotationScaleDownGPUUtilizationThreshold: tc.threshold}
				if err := w.Update(t.Context(), d); err != nil {
					t.Fatal(err)
				}
			}
			w.pass(t)
			w.clock.Step(11 * time.Minute)
			w.pass(t)
			w.wants(t, "small", tc.want, tc.reason)
		})
	}
}

// TestGracefulTermination: the machine that goes is told how long its pods may take to end, and no other one is.
func TestGracefulTermination(t *testing.T) {
	t.Parallel()
	w := two(t)
	w.scaler.Options.MaxGracefulTermination = 45
	w.pass(t)
	w.clock.Step(11 * time.Minute)
	w.pass(t)
	list := &gardenmachinev1alpha1.MachineList{}
	if err := w.List(t.Context(), list, client.InNamespace(namespace)); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for i := range list.Items {
		got[list.Items[i].Name] = list.Items[i].Annotations[gardenmachinev1alpha1.AnnotationMaxGracefulTermination]
	}
	if diff := cmp.Diff(map[string]string{"one": "", "two": "45"}, got); diff != "" {
		t.Errorf("seconds by machine (-want +got):\n%s", diff)
	}
}

// TestStayingMachineIsUnmarked: what a removal that failed half way has left on a machine does not outlive it.
func TestStayingMachineIsUnmarked(t *testing.T) {
	t.Parallel()
	w := two(t)
	m := &gardenmachinev1alpha1.Machine{}
	key := client.ObjectKey{Namespace: namespace, Name: "one"}
	if err := w.Get(t.Context(), key, m); err != nil {
		t.Fatal(err)
	}
	m.Annotations = map[string]string{gardenmachinev1alpha1.AnnotationMaxGracefulTermination: "45", gardenmachinev1alpha1.AnnotationPriority: "1"}
	if err := w.Update(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	w.pass(t)
	after := &gardenmachinev1alpha1.Machine{}
	if err := w.Get(t.Context(), key, after); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{gardenmachinev1alpha1.AnnotationPriority: "1"}, after.Annotations); diff != "" {
		t.Errorf("annotations of the machine that stays (-want +got):\n%s", diff)
	}
}

// TestRightMachineGoes: a machine that somebody else has marked does not go in the place of the one that was chosen.
func TestRightMachineGoes(t *testing.T) {
	t.Parallel()
	w := two(t)
	m := &gardenmachinev1alpha1.Machine{}
	if err := w.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "one"}, m); err != nil {
		t.Fatal(err)
	}
	m.Annotations = map[string]string{gardenmachinev1alpha1.AnnotationPriority: "-4"}
	if err := w.Update(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	w.pass(t)
	w.clock.Step(11 * time.Minute)
	w.pass(t)
	if got := w.priority(t, "two"); got != "-5" {
		t.Errorf("the chosen machine has priority %q, want less than the -4 of the other", got)
	}
}

// TestRollOut: while machines are replaced, none of them goes for another reason.
func TestRollOut(t *testing.T) {
	t.Parallel()
	w := two(t)
	m := &gardenmachinev1alpha1.Machine{}
	if err := w.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "two"}, m); err != nil {
		t.Fatal(err)
	}
	m.Spec.Class.Name = "former"
	if err := w.Update(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	w.pass(t)
	w.clock.Step(11 * time.Minute)
	w.pass(t)
	w.wants(t, "small", 2, "the machine of the former class is about to be replaced")
}

// TestPoolOverrides: what a pool says counts more than what the shoot says.
func TestPoolOverrides(t *testing.T) {
	t.Parallel()
	w := two(t)
	d := &gardenmachinev1alpha1.MachineDeployment{}
	if err := w.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "small"}, d); err != nil {
		t.Fatal(err)
	}
	d.Annotations = map[string]string{gardenmachinev1alpha1.AnnotationScaleDownUnneededTime: "1m", gardenmachinev1alpha1.AnnotationScaleDownUtilizationThreshold: "words"}
	if err := w.Update(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	w.pass(t)
	w.clock.Step(time.Minute)
	w.pass(t)
	w.wants(t, "small", 1, "the pool says one minute")
}

// TestStatus: the ConfigMap says what users ask, and is not written without need.
func TestStatus(t *testing.T) {
	t.Parallel()
	w := two(t)
	read := func() *corev1.ConfigMap {
		c := &corev1.ConfigMap{}
		if err := w.Get(t.Context(), client.ObjectKey{Namespace: "kube-system", Name: autoscaler.ConfigMapStatus}, c); err != nil {
			t.Fatal(err)
		}
		return c
	}
	w.pass(t)
	first := read()
	for _, want := range []string{"autoscalerStatus: Running", "name: small", "cloudProviderTarget: 2", "maxSize: 3", "status: CandidatesPresent", "ready: 2"} {
		if !strings.Contains(first.Data["status"], want) {
			t.Errorf("the status lacks %q:\n%s", want, first.Data["status"])
		}
	}
	w.clock.Step(10 * time.Second)
	w.pass(t)
	if second := read(); second.ResourceVersion != first.ResourceVersion {
		t.Error("the status is written although nothing has changed")
	}
	w.clock.Step(time.Minute)
	w.pass(t)
	if third := read(); third.ResourceVersion == first.ResourceVersion {
		t.Error("nobody sees that the autoscaler lives: the status is a minute old")
	}
}
