// SPDX-License-Identifier: Apache-2.0

package machines_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardenmachinev1alpha1 "github.com/terrarium-garden/terrarium/apis/machine/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

func TestDrains(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, "data")
	w.join(t)
	w.budget = apierrors.NewTooManyRequests("the budget is used up", 1)
	w.remove(t)
	result, err := w.run(t)
	if err != nil || result.RequeueAfter == 0 {
		t.Fatalf("Reconcile(...) = %+v, %v", result, err)
	}
	if diff := cmp.Diff([]string{"app"}, w.evicted); diff != "" {
		t.Errorf("evicted pods (-want +got):\n%s", diff)
	}
	m := w.machine(t)
	if m == nil || m.Status.CurrentStatus.Phase != "Terminating" || !strings.Contains(m.Status.LastOperation.Description, "default/app (a PodDisruptionBudget does not allow its eviction)") {
		t.Errorf("the machine is %+v", m)
	}
	node := &corev1.Node{}
	if err := w.shoot.Get(t.Context(), client.ObjectKey{Name: podName}, node); err != nil || !node.Spec.Unschedulable {
		t.Errorf("the node takes new pods: %v", err)
	}
	if _, found := w.pod(t); !found {
		t.Fatal("the machine is stopped before its pods are gone")
	}
	w.budget = nil
	if ending, err := w.run(t); err != nil || ending.RequeueAfter >= result.RequeueAfter {
		t.Errorf("Reconcile(...) = %+v, %v: pods that only end are waited for as long as those that may not, %s", ending, err, result.RequeueAfter)
	}
	w.gone(t)
}

// TestOnePodFails: a pod whose eviction fails for a reason that is not its budget does not keep the others on the node.
func TestOnePodFails(t *testing.T) {
	t.Parallel()
	all := []string{"app", "next", "other", "third"}
	update := func(t *testing.T, w *world) {
		t.Helper()
		w.changeMachine(t, wants("second"))
		w.changeMachine(t, chosen)
	}
	keep := func(t *testing.T, w *world) {
		t.Helper()
		w.changeNode(t, annotatedNode(preserve, "when-failed"))
		w.ready(t, corev1.ConditionFalse)
		w.mustRun(t)
		w.clock.Step(11 * time.Minute)
	}
	broken := apierrors.NewInternalError(errors.New("broken"))
	cases := map[string]struct {
		reason string
		begin  func(*testing.T, *world)
		answer error
		want   []string
		after  time.Duration
		// fails says that the pass tells the error, and not the Machine.
		fails bool
	}{
		"Budgets": {reason: "a deletion, and a pod that has two budgets", answer: &apierrors.StatusError{ErrStatus: metav1.Status{Code: 500, Message: "more than one"}}, want: all, after: 5 * time.Second},
		"Denied":  {reason: "a deletion, and a webhook", answer: apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "app", errors.New("no")), want: all, after: 5 * time.Second},
		"Update":  {reason: "an update in place", begin: update, answer: broken, want: all, after: 2 * time.Second},
		"Kept":    {reason: "a machine that has failed and is kept", begin: keep, answer: broken, want: all, fails: true},
		"Silence": {reason: "a shoot that does not answer is not asked for each pod", answer: errors.New("refused"), want: []string{"app"}, after: 5 * time.Second},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, inPlace("AutoInPlaceUpdate"), "data")
			w.join(t)
			w.changeNode(t, applied("first"))
			w.mustRun(t)
			for _, name := range all[1:] {
				pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: corev1.PodSpec{NodeName: podName}}
				if err := w.shoot.Create(t.Context(), pod); err != nil {
					t.Fatal(err)
				}
			}
			w.answers = map[string]error{"app": tc.answer}
			if tc.begin == nil {
				w.remove(t)
			} else {
				tc.begin(t, w)
			}
			result, err := w.run(t)
			if (err != nil) != tc.fails || result.RequeueAfter != tc.after {
				t.Errorf("%s\nReconcile(...) = %+v, %v; want the next pass after %s", tc.reason, result, err, tc.after)
			}
			if diff := cmp.Diff(tc.want, w.evicted); diff != "" {
				t.Errorf("%s\nevicted pods (-want +got):\n%s", tc.reason, diff)
			}
			said := w.machine(t).Status.LastOperation.Description
			if tc.fails {
				said = fmt.Sprint(err)
			}
			if !strings.Contains(said, "default/app") || !strings.Contains(said, tc.answer.Error()) {
				t.Errorf("%s\nit says %q, want the pod and its error %q", tc.reason, said, tc.answer)
			}
		})
	}
}

// TestDrainShortensGrace: on a machine that the autoscaler removes, no pod has longer to end than the shoot says, and none has longer than it
// asks for.
func TestDrainShortensGrace(t *testing.T) {
	t.Parallel()
	const own = -1
	for name, tc := range map[string]struct {
		reason string
		most   string
		asks   *int64
		want   int64
	}{
		"Long":    {reason: "it asks for more", most: "600", asks: new(int64(3600)), want: 600},
		"Short":   {reason: "it asks for less", most: "600", asks: new(int64(30)), want: own},
		"Zero":    {reason: "no pod is deleted by force", most: "0", asks: new(int64(30)), want: 1},
		"Default": {reason: "it asks for nothing, which is 30 seconds", most: "20", want: 20},
		"Other":   {reason: "the machine goes for another reason", asks: new(int64(3600)), want: own},
		"Words":   {reason: "what cannot be read does not count", most: "soon", asks: new(int64(3600)), want: own},
		"Before":  {reason: "nothing ends before it began", most: "-5", asks: new(int64(3600)), want: own},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(m *gardenmachinev1alpha1.Machine) {
				if tc.most != "" {
					m.Annotations = map[string]string{gardenmachinev1alpha1.AnnotationMaxGracefulTermination: tc.most}
				}
			}, "data")
			w.join(t)
			pod := &corev1.Pod{}
			if err := w.shoot.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "app"}, pod); err != nil {
				t.Fatal(err)
			}
			pod.Spec.TerminationGracePeriodSeconds = tc.asks
			if err := w.shoot.Update(t.Context(), pod); err != nil {
				t.Fatal(err)
			}
			w.remove(t)
			w.mustRun(t)
			if diff := cmp.Diff([]int64{tc.want}, w.graces); diff != "" {
				t.Errorf("%s\nseconds to end (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestDrainComesToAnEnd: what tolerates that a node takes no new pods comes back when it is evicted, which ends with the machine.
func TestDrainComesToAnEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, "data")
	w.join(t)
	w.remove(t)
	began := w.machine(t).DeletionTimestamp.Time
	everywhere := corev1.PodSpec{NodeName: podName, Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}}}
	for name, spec := range map[string]corev1.PodSpec{"tunnel": everywhere, "late": {NodeName: podName}} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, CreationTimestamp: metav1.NewTime(began.Add(time.Second))}, Spec: spec}
		if err := w.shoot.Create(t.Context(), pod); err != nil {
			t.Fatal(err)
		}
	}
	old := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "old-tunnel", CreationTimestamp: metav1.NewTime(began.Add(-time.Second))}, Spec: everywhere}
	if err := w.shoot.Create(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	w.mustRun(t)
	slices.Sort(w.evicted)
	if diff := cmp.Diff([]string{"app", "late", "old-tunnel"}, w.evicted); diff != "" {
		t.Errorf("evicted pods (-want +got):\n%s", diff)
	}
	w.gone(t)
}

// TestDrainEnds lists what lets a machine go although its pods stay.
func TestDrainEnds(t *testing.T) {
	t.Parallel()
	minute := &metav1.Duration{Duration: time.Minute}
	cases := map[string]struct {
		reason string
		change func(*gardenmachinev1alpha1.Machine)
		after  time.Duration
		down   error
		stays  bool
	}{
		"Patience": {reason: "a budget is honored", after: time.Hour, stays: true},
		"Timeout":  {reason: "until the drain timeout", after: 3 * time.Hour},
		"OwnTimeout": {
			reason: "which the pool may set", change: func(m *gardenmachinev1alpha1.Machine) { m.Spec.DrainTimeout = minute }, after: 2 * time.Minute,
		},
		"Retries": {
			reason: "as it may set the number of attempts", change: func(m *gardenmachinev1alpha1.Machine) { m.Spec.MaxEvictRetries = new(int32(3)) }, after: 2 * time.Minute,
		},
		"Forced": {
			reason: "a machine with the label goes at once",
			change: func(m *gardenmachinev1alpha1.Machine) { m.Labels = map[string]string{"force-deletion": "True"} },
		},
		"NoShoot": {reason: "a shoot that is gone has no pods", down: kit.ErrNoShootAccess},
		"Down":    {reason: "one that does not answer may have some", down: errors.New("no answer"), stays: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, tc.change, "data")
			w.join(t)
			w.budget, w.down = apierrors.NewTooManyRequests("the budget is used up", 1), tc.down
			w.remove(t)
			w.clock.SetTime(w.machine(t).DeletionTimestamp.Add(tc.after))
			if !tc.stays {
				w.gone(t)
				return
			}
			w.mustRun(t)
			if _, found := w.pod(t); !found {
				t.Errorf("%s\nthe machine is stopped", tc.reason)
			}
		})
	}
}

// TestSilentNode: nobody ends the pods of a node that does not report, so they are not waited for.
func TestSilentNode(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, "data")
	w.join(t)
	w.budget = apierrors.NewTooManyRequests("the budget is used up", 1)
	node := &corev1.Node{}
	if err := w.shoot.Get(t.Context(), client.ObjectKey{Name: podName}, node); err != nil {
		t.Fatal(err)
	}
	node.Status.Conditions[0].Status = corev1.ConditionUnknown
	if err := w.shoot.Status().Update(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	w.remove(t)
	w.clock.SetTime(now().Add(6 * time.Minute))
	w.gone(t)
}
