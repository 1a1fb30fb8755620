// SPDX-License-Identifier: Apache-2.0

package autoscaler_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	gardenmachinev1alpha1 "github.com/terrarium-garden/terrarium/apis/machine/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/autoscaler"
)

func small() autoscaler.Bounds { return autoscaler.Bounds{Name: "small", Minimum: 1, Maximum: 3} }

// TestPodBringsMachine: one machine comes for one pod, and no second one while the first is on its way or has come.
func TestPodBringsMachine(t *testing.T) {
	t.Parallel()
	w := newWorld(t, small())
	w.joins(t, "one")
	w.make(t, pod("busy", "3", "one"), pod("waiting", "2", ""))
	w.pass(t)
	w.wants(t, "small", 2, "a pod that fits nowhere brings a machine")
	w.said(t, "TriggeredScaleUp", "small 1->2 (max: 3)")
	w.pass(t)
	w.wants(t, "small", 2, "the machine is ordered")
	w.make(t, machine("small", "two"))
	w.pass(t)
	w.wants(t, "small", 2, "the machine starts")
	starting := node("two", "4")
	starting.Spec.Taints = []corev1.Taint{{Key: "node.gardener.cloud/critical-components-not-ready", Effect: corev1.TaintEffectNoSchedule}}
	w.make(t, starting)
	w.pass(t)
	w.wants(t, "small", 2, "the node is not ready for pods yet")
	starting.Spec.Taints = nil
	if err := w.Update(t.Context(), starting); err != nil {
		t.Fatal(err)
	}
	w.pass(t)
	w.wants(t, "small", 2, "the scheduler will place the pod")
}

func TestScaleUp(t *testing.T) {
	t.Parallel()
	change := func(do func(*corev1.Pod)) []client.Object {
		p := pod("waiting", "2", "")
		do(p)
		return []client.Object{p}
	}
	cases := map[string]struct {
		reason string
		there  []client.Object
		delay  time.Duration
		want   int32
		event  string
	}{
		"Several":   {reason: "two pods share a machine, the third has its own", there: pods(3, "2"), want: 3},
		"Maximum":   {reason: "the maximum holds", there: pods(9, "4"), want: 3, event: "max node group size reached"},
		"TooLarge":  {reason: "no machine is large enough", there: pods(1, "5"), want: 1, event: "1 Insufficient cpu"},
		"Daemons":   {reason: "pods of DaemonSets take their part of a fresh node", there: append(pods(1, "4"), daemonSet("100m")), want: 1, event: "1 Insufficient cpu"},
		"Selector":  {reason: "the label is that of the pool", there: change(func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"pool": "small"} }), want: 2},
		"Elsewhere": {reason: "no pool has the label", there: change(func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"pool": "gpu"} }), want: 1, event: "didn't match the pod's node selector"},
		"New":       {reason: "the pod is not old enough", there: pods(1, "2"), delay: time.Minute, want: 1},
		"Placed":    {reason: "the scheduler has not given up", there: change(func(p *corev1.Pod) { p.Status.Conditions = nil }), want: 1},
		"Nominated": {reason: "others make room for the pod", there: change(func(p *corev1.Pod) { p.Status.NominatedNodeName = "one" }), want: 1},
		"Worthless": {reason: "pods of a very low priority bring nothing", there: change(func(p *corev1.Pod) { p.Spec.Priority = new(int32(-11)) }), want: 1},
		"Leaving":   {reason: "the pod goes", there: change(func(p *corev1.Pod) { p.Finalizers, p.DeletionTimestamp = []string{"a/b"}, new(metav1.Now()) }), want: 1},
		"Daemon":    {reason: "a pod of a DaemonSet waits for its own node", there: change(func(p *corev1.Pod) { p.OwnerReferences[0].Kind = "DaemonSet" }), want: 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, small())
			w.scaler.Options.NewPodScaleUpDelay = tc.delay
			w.joins(t, "one")
			w.make(t, pod("busy", "4", "one"))
			for _, obj := range tc.there {
				if obj.GetDeletionTimestamp() != nil {
					obj.SetDeletionTimestamp(nil)
					w.make(t, obj)
					_ = w.Delete(t.Context(), obj)
					continue
				}
				w.make(t, obj)
			}
			w.pass(t)
			w.wants(t, "small", tc.want, tc.reason)
			if tc.event != "" {
				w.said(t, "NotTriggerScaleUp", tc.event)
			}
		})
	}
}

// TestTaintedPool: a pool with a taint is for those pods only that tolerate it. It begins without a machine, so the class says what a node has.
func TestTaintedPool(t *testing.T) {
	t.Parallel()
	w := newWorld(t, autoscaler.Bounds{Name: "small", Maximum: 3})
	d := &gardenmachinev1alpha1.MachineDeployment{}
	if err := w.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "small"}, d); err != nil {
		t.Fatal(err)
	}
	d.Spec.Template.Spec.NodeTemplate.Spec.Taints = []corev1.Taint{{Key: "only", Value: "gpu", Effect: corev1.TaintEffectNoSchedule}}
	if err := w.Update(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	w.make(t, pod("any", "1", ""))
	w.pass(t)
	w.wants(t, "small", 0, "the pod does not tolerate the taint")
	w.said(t, "NotTriggerScaleUp", "untolerated taint")
	tolerant := pod("tolerant", "1", "")
	tolerant.Spec.Tolerations = []corev1.Toleration{{Key: "only", Operator: corev1.TolerationOpExists}}
	w.make(t, tolerant)
	w.pass(t)
	w.wants(t, "small", 1, "the pod tolerates the taint")
}

// TestApart: pods that may not share a node bring one each, as far as others are not free.
func TestApart(t *testing.T) {
	t.Parallel()
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "hello"}}
	cases := map[string]func(*corev1.Pod){
		"Repelled": func(p *corev1.Pod) {
			p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
				{TopologyKey: corev1.LabelHostname, LabelSelector: selector},
			}}}
		},
		"Port": func(p *corev1.Pod) { p.Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: 80}} },
	}
	for name, apart := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, small())
			w.joins(t, "one")
			for _, p := range []*corev1.Pod{pod("first", "100m", "one"), pod("second", "100m", "")} {
				apart(p)
				w.make(t, p)
			}
			w.pass(t)
			w.wants(t, "small", 2, "there is room, but the pods have to be apart")
		})
	}
}

// TestSpread: a pod that may only go where there is no room brings a machine, where it may go too.
func TestSpread(t *testing.T) {
	t.Parallel()
	w := newWorld(t, small())
	w.joins(t, "one")
	w.joins(t, "two")
	full := pod("full", "4", "one")
	full.Labels = nil
	second := pod("second", "1", "")
	second.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
		MaxSkew: 1, TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: corev1.DoNotSchedule,
		LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "hello"}},
	}}
	w.make(t, full, pod("first", "1", "two"), second)
	d := &gardenmachinev1alpha1.MachineDeployment{}
	if err := w.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "small"}, d); err != nil {
		t.Fatal(err)
	}
	d.Spec.Replicas = 2
	if err := w.Update(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	w.pass(t)
	w.wants(t, "small", 3, "the pod may not go to the node that has room, and there is none on the other")
}

// TestGivesUp: machines that do not come are not wanted any more, and another pool is asked, until some time has passed.
func TestGivesUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t, autoscaler.Bounds{Name: "broken", Maximum: 3}, autoscaler.Bounds{Name: "sound", Maximum: 3})
	w.make(t, pod("waiting", "4", ""))
	w.pass(t)
	w.wants(t, "broken", 1, "both would do, and the first one is taken")
	w.make(t, machine("broken", "late"))
	w.clock.Step(14 * time.Minute)
	w.pass(t)
	w.wants(t, "broken", 1, "the machine has another minute")
	w.clock.Step(2 * time.Minute)
	w.pass(t)
	if diff := cmp.Diff(map[string]int32{"broken": 0, "sound": 1}, w.machines(t)); diff != "" {
		t.Errorf("the machine did not come, so the other pool is asked: machines that the deployments want (-want +got):\n%s", diff)
	}
	late := &gardenmachinev1alpha1.Machine{}
	if err := w.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "late"}, late); err != nil || late.Annotations[gardenmachinev1alpha1.AnnotationPriority] != "1" {
		t.Errorf("the machine that did not come is not the first to go: %v, %v", late.Annotations, err)
	}
	if err := w.Delete(t.Context(), late); err != nil {
		t.Fatal(err)
	}
	w.make(t, pod("another", "4", ""))
	w.pass(t)
	w.wants(t, "sound", 2, "the first pool is left alone")
	w.make(t, pod("third", "4", ""))
	w.clock.Step(6 * time.Minute)
	w.pass(t)
	w.wants(t, "broken", 1, "after the backoff the pool is asked again")
}

// TestMinimumThatNeverJoins: a pool may not have less than one machine, and that one does not become a node. No pod relies on it, neither while
// the pool is left alone nor when it is asked again.
func TestMinimumThatNeverJoins(t *testing.T) {
	t.Parallel()
	w := newWorld(t, autoscaler.Bounds{Name: "broken", Minimum: 1, Maximum: 3}, autoscaler.Bounds{Name: "sound", Maximum: 3})
	w.make(t, machine("broken", "late"), pod("waiting", "4", ""))
	for _, step := range []struct {
		reason string
		pod    string
		after  time.Duration
		want   map[string]int32
	}{
		{reason: "the machine is on its way", want: map[string]int32{"broken": 1, "sound": 0}},
		{reason: "it did not come, so the other pool is asked", after: 16 * time.Minute, want: map[string]int32{"broken": 1, "sound": 1}},
		{reason: "it still is not there for a pod that is new", pod: "another", after: time.Minute, want: map[string]int32{"broken": 1, "sound": 2}},
		{reason: "after the backoff, the pool has one more and not the one that did not come", pod: "third", after: 5 * time.Minute, want: map[string]int32{"broken": 2, "sound": 2}},
		{reason: "the one more is on its way", after: time.Minute, want: map[string]int32{"broken": 2, "sound": 2}},
	} {
		if step.pod != "" {
			w.make(t, pod(step.pod, "4", ""))
		}
		w.clock.Step(step.after)
		w.pass(t)
		if diff := cmp.Diff(step.want, w.machines(t)); diff != "" {
			t.Errorf("%s\nmachines that the deployments want (-want +got):\n%s", step.reason, diff)
		}
	}
}

// TestPoolLeftAlone: what takes the place of a machine that did not come is not relied on either, for as long as its pool is left alone.
func TestPoolLeftAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, autoscaler.Bounds{Name: "broken", Minimum: 1, Maximum: 3}, autoscaler.Bounds{Name: "sound", Maximum: 3})
	late := machine("broken", "late")
	w.make(t, late)
	w.pass(t)
	w.clock.Step(16 * time.Minute)
	w.pass(t)
	if err := w.Delete(t.Context(), late); err != nil {
		t.Fatal(err)
	}
	w.make(t, machine("broken", "again"), pod("waiting", "4", ""))
	w.pass(t)
	if diff := cmp.Diff(map[string]int32{"broken": 1, "sound": 1}, w.machines(t)); diff != "" {
		t.Errorf("machines that the deployments want (-want +got):\n%s", diff)
	}
}

// TestGivesUpAgain: a pass that could not give up on machines is followed by one that does, without another wait for them.
func TestGivesUpAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, autoscaler.Bounds{Name: "small", Maximum: 3})
	w.make(t, pod("waiting", "4", ""))
	w.pass(t)
	w.make(t, machine("small", "late"))
	w.clock.Step(16 * time.Minute)
	refused := errors.New("refused")
	w.scaler.Seed = interceptor.NewClient(w, interceptor.Funcs{
		Patch: func(context.Context, client.WithWatch, client.Object, client.Patch, ...client.PatchOption) error {
			return refused
		},
	})
	if err := w.scaler.Pass(t.Context()); !errors.Is(err, refused) {
		t.Fatalf("Pass() = %v, want %v", err, refused)
	}
	w.scaler.Seed = w
	w.clock.Step(10 * time.Second)
	w.pass(t)
	w.wants(t, "small", 0, "the machine did not come 10 seconds ago either")
}

// TestKeptMachineIsNotAwaited: a machine that never came and is kept for analysis stays, until its time is over.
func TestKeptMachineIsNotAwaited(t *testing.T) {
	t.Parallel()
	w := newWorld(t, autoscaler.Bounds{Name: "small", Maximum: 3})
	kept := machine("small", "kept")
	kept.Annotations = map[string]string{gardenmachinev1alpha1.AnnotationPreserve: gardenmachinev1alpha1.PreserveAuto}
	kept.Status.CurrentStatus.Phase = gardenmachinev1alpha1.MachineFailed
	kept.Status.CurrentStatus.PreserveExpiryTime = new(metav1.NewTime(w.clock.Now().Add(time.Hour)))
	w.make(t, kept)
	d := deployment("small", 0)
	if err := w.Get(t.Context(), client.ObjectKeyFromObject(d), d); err != nil {
		t.Fatal(err)
	}
	d.Spec.Replicas = 1
	if err := w.Update(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	w.pass(t)
	w.clock.Step(16 * time.Minute)
	w.pass(t)
	w.wants(t, "small", 1, "nobody waits for the machine, so nobody gives up on it")
	w.clock.Step(time.Hour)
	w.pass(t)
	w.clock.Step(16 * time.Minute)
	w.pass(t)
	w.wants(t, "small", 0, "its time is over, and it did not come")
}

// TestMissingDeployment: a pool may just be on its way out.
func TestMissingDeployment(t *testing.T) {
	t.Parallel()
	w := newWorld(t, small())
	w.scaler.Options.Groups = append(w.scaler.Options.Groups, autoscaler.Bounds{Name: "gone", Maximum: 1})
	w.joins(t, "one")
	w.make(t, pods(1, "9")...)
	w.pass(t)
	w.wants(t, "small", 1, "a pool that is gone does not keep the others from being looked at")
}

// slow is a clock that shows a second more each time that it is asked.
type slow struct{ *clocktesting.FakeClock }

func (s slow) Now() time.Time {
	s.Step(time.Second)
	return s.FakeClock.Now()
}

func (s slow) Since(t time.Time) time.Duration { return s.Now().Sub(t) }

// TestMaxBinpackingTime: what is found when the time is over is taken, however good the rest is; something is always found.
func TestMaxBinpackingTime(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason       string
		limit        time.Duration
		first, large int32
	}{
		"Over":    {reason: "the first group takes one pod, and the rest is left to the next pass", limit: time.Millisecond, first: 1},
		"Some":    {reason: "the first group takes as many pods as there is time for", limit: 2 * time.Second, first: 2},
		"Enough":  {reason: "the larger machines waste less", limit: time.Hour, large: 1},
		"Forever": {reason: "there is no limit", large: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, autoscaler.Bounds{Name: "first", Maximum: 5})
			w.make(t, deployment("large", 0), class("large", "9"))
			w.scaler.Options.Groups = append(w.scaler.Options.Groups, autoscaler.Bounds{Name: "large", Maximum: 5})
			w.scaler.Options.Expanders = []string{autoscaler.LeastNodes}
			w.scaler.Options.MaxBinpackingTime = tc.limit
			w.scaler.Clock = slow{w.clock}
			w.make(t, pods(3, "3")...)
			unhelped := pod("huge", "30", "")
			w.make(t, unhelped)
			w.pass(t)
			if diff := cmp.Diff(map[string]int32{"first": tc.first, "large": tc.large}, w.machines(t)); diff != "" {
				t.Errorf("%s\nmachines that the deployments want (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
