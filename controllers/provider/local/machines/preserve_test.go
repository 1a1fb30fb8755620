// SPDX-License-Identifier: Apache-2.0

package machines_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardenmachinev1alpha1 "github.com/terrarium-garden/terrarium/apis/machine/v1alpha1"
)

const (
	preserve = "node.machine.sapcloud.io/preserve"
	seen     = "node.machine.sapcloud.io/last-applied-node-preserve-value"
	noScale  = "cluster-autoscaler.kubernetes.io/scale-down-disabled"
)

func keptFor(d time.Duration) func(*gardenmachinev1alpha1.Machine) {
	return func(m *gardenmachinev1alpha1.Machine) { m.Spec.PreserveTimeout = &metav1.Duration{Duration: d} }
}

// ready says whether the machine is.
func (w *world) ready(t *testing.T, status corev1.ConditionStatus) {
	t.Helper()
	pod, _ := w.pod(t)
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: status, LastTransitionTime: metav1.NewTime(w.clock.Now())}}
	if err := w.cloud.Status().Update(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
}

// fail makes the machine fail.
func (w *world) fail(t *testing.T) {
	t.Helper()
	w.ready(t, corev1.ConditionFalse)
	w.mustRun(t)
	w.clock.Step(11 * time.Minute)
	w.mustRun(t)
	w.mustRun(t)
	if phase := w.phase(t); phase != gardenmachinev1alpha1.MachineFailed {
		t.Fatalf("the machine is %s, want Failed", phase)
	}
}

func annotatedNode(key, value string) func(*corev1.Node) {
	return func(n *corev1.Node) { metav1.SetMetaDataAnnotation(&n.ObjectMeta, key, value) }
}

// onNode is what the node says about its machine.
type onNode struct {
	Tainted bool
	NoScale string
	Reason  string
}

func (w *world) onNode(t *testing.T) onNode {
	t.Helper()
	n := w.node(t)
	said := onNode{NoScale: n.Annotations[noScale], Tainted: slices.ContainsFunc(n.Spec.Taints, func(taint corev1.Taint) bool {
		return taint.Key == "node.machine.sapcloud.io/preserved" && taint.Effect == corev1.TaintEffectNoSchedule
	})}
	for _, c := range n.Status.Conditions {
		if c.Type == "Preserved" {
			said.Reason = string(c.Status) + " " + c.Reason
		}
	}
	return said
}

func (w *world) expect(t *testing.T, reason string, want onNode, until *time.Time) {
	t.Helper()
	if diff := cmp.Diff(want, w.onNode(t)); diff != "" {
		t.Errorf("%s: the node says (-want +got):\n%s", reason, diff)
	}
	end := w.machine(t).Status.CurrentStatus.PreserveExpiryTime
	if (end == nil) != (until == nil) || until != nil && !end.Time.Equal(*until) {
		t.Errorf("%s: the machine is kept until %v, want %v", reason, end, until)
	}
}

// TestKeptWhenFailed: the owner of a shoot has annotated a node. Its machine fails, recovers, and fails once more.
func TestKeptWhenFailed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, keptFor(time.Hour), "data")
	w.join(t)
	w.changeNode(t, annotatedNode(preserve, "when-failed"))
	w.changeMachine(t, func(m *gardenmachinev1alpha1.Machine) {
		metav1.SetMetaDataAnnotation(&m.ObjectMeta, preserve, "false")
	})
	w.mustRun(t)
	if a := w.machine(t).Annotations; a[seen] != "when-failed" || a[preserve] != "" {
		t.Errorf("the word of the node counts, got annotations %v", a)
	}
	w.expect(t, "nothing has failed yet", onNode{}, nil)

	w.fail(t)
	until := now().Add(11*time.Minute + time.Hour)
	w.expect(t, "it has failed", onNode{Tainted: true, NoScale: "true", Reason: "True PreservedByUser"}, &until)
	if diff := cmp.Diff([]string{"app"}, w.evicted); diff != "" {
		t.Errorf("the node is drained (-want +got):\n%s", diff)
	}
	if _, there := w.pod(t); !there || w.node(t).Spec.Unschedulable {
		t.Error("the machine is there, and its node is not cordoned, which is for its owner to do")
	}

	w.ready(t, corev1.ConditionTrue)
	w.mustRun(t)
	if phase := w.phase(t); phase != gardenmachinev1alpha1.MachineRunning {
		t.Fatalf("the machine is %s, want Running: its node is ready again", phase)
	}
	w.expect(t, "it runs again", onNode{Reason: "False PreservationStopped"}, nil)

	w.fail(t)
	until = now().Add(22*time.Minute + time.Hour)
	w.expect(t, "it has failed once more", onNode{Tainted: true, NoScale: "true", Reason: "True PreservedByUser"}, &until)
	w.clock.Step(time.Hour)
	w.ready(t, corev1.ConditionTrue)
	w.mustRun(t)
	if phase := w.phase(t); phase != gardenmachinev1alpha1.MachineFailed {
		t.Errorf("the machine is %s, want Failed: its time is over, and it is replaced", phase)
	}
	w.expect(t, "its time is over", onNode{Tainted: true, NoScale: "true", Reason: "True PreservedByUser"}, &until)
}

// TestKeptNow: a machine that runs is kept for a while, during which the autoscaler leaves it alone.
func TestKeptNow(t *testing.T) {
	t.Parallel()
	for reason, tc := range map[string]struct {
		before func(*corev1.Node)
		after  string
		// operator is set if the Machine says it and not the node.
		operator bool
	}{
		"what was set for it goes":              {before: func(*corev1.Node) {}},
		"what its owner had set for good stays": {before: annotatedNode(noScale, "true"), after: "true"},
		"an operator wants it":                  {before: func(*corev1.Node) {}, operator: true},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, keptFor(time.Hour), "data")
			w.join(t)
			w.changeNode(t, tc.before)
			if tc.operator {
				w.changeMachine(t, func(m *gardenmachinev1alpha1.Machine) { metav1.SetMetaDataAnnotation(&m.ObjectMeta, preserve, "now") })
			} else {
				w.changeNode(t, annotatedNode(preserve, "now"))
			}
			w.mustRun(t)
			until := now().Add(time.Hour)
			w.expect(t, "it is kept", onNode{NoScale: "true", Reason: "True PreservedByUser"}, &until)
			w.clock.Step(time.Hour)
			w.mustRun(t)
			w.mustRun(t)
			w.expect(t, "its time is over", onNode{NoScale: tc.after, Reason: "False PreservationStopped"}, nil)
			if a, m := w.node(t).Annotations[preserve], w.machine(t).Annotations; a != "" || m[seen] != "" || m[preserve] != "" {
				t.Errorf("it would be kept once more: node %q, machine %v", a, m)
			}
			if len(w.evicted) > 0 {
				t.Errorf("a machine that runs is not drained, but %v were evicted", w.evicted)
			}
		})
	}
}

// TestAutoPreserved: what a set keeps is kept as long as it fails, and its owner may refuse.
func TestAutoPreserved(t *testing.T) {
	t.Parallel()
	auto := func(m *gardenmachinev1alpha1.Machine) {
		metav1.SetMetaDataAnnotation(&m.ObjectMeta, preserve, "auto-preserved")
	}
	w := newWorld(t, keptFor(time.Hour), "data")
	w.join(t)
	w.fail(t)
	w.expect(t, "its set has not decided yet", onNode{}, nil)
	w.changeMachine(t, auto)
	w.mustRun(t)
	until := now().Add(11*time.Minute + time.Hour)
	w.expect(t, "its set keeps it", onNode{Tainted: true, NoScale: "true", Reason: "True PreservedByMCM"}, &until)
	w.ready(t, corev1.ConditionTrue)
	w.mustRun(t)
	w.mustRun(t)
	w.expect(t, "it runs again", onNode{Reason: "False PreservationStopped"}, nil)
	if got := w.machine(t).Annotations[preserve]; got != "" {
		t.Errorf("a machine that runs is %q by its set, want nothing", got)
	}

	w.fail(t)
	w.changeMachine(t, auto)
	w.mustRun(t)
	w.changeNode(t, annotatedNode(preserve, "false"))
	w.mustRun(t)
	m := w.machine(t)
	if m.Annotations[seen] != "false" || m.Annotations[preserve] != "" || m.Status.CurrentStatus.PreserveExpiryTime != nil {
		t.Errorf("its owner wants it replaced: %v, %v", m.Annotations, m.Status.CurrentStatus)
	}
}

// TestNothingLeftToKeep: of a machine without a pod there is nothing to look at, so it is replaced at once.
func TestNothingLeftToKeep(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(m *gardenmachinev1alpha1.Machine) { m.Annotations = map[string]string{preserve: "when-failed"} }, "data")
	w.join(t)
	pod, _ := w.pod(t)
	if err := w.cloud.Delete(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	w.clock.Step(time.Minute)
	w.mustRun(t)
	w.clock.Step(time.Minute)
	w.mustRun(t)
	end := w.machine(t).Status.CurrentStatus.PreserveExpiryTime
	if w.phase(t) != gardenmachinev1alpha1.MachineFailed || end == nil || !end.Time.Equal(now().Add(time.Minute)) {
		t.Errorf("the machine is %s and kept until %v, want that it is not kept since its pod is gone", w.phase(t), end)
	}
}

// TestWordsOfANode: the owner of a shoot writes what he wants on a node; only what is known comes into the seed.
func TestWordsOfANode(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{"now": "now", "when-failed": "when-failed", "false": "false", "auto-preserved": "", "": "", "anything": ""} {
		w := newWorld(t, nil, "data")
		w.join(t)
		w.changeNode(t, annotatedNode(preserve, said))
		w.mustRun(t)
		if got := w.machine(t).Annotations[seen]; got != want {
			t.Errorf("of %q the machine notes %q, want %q", said, got, want)
		}
	}
}
