// SPDX-License-Identifier: Apache-2.0

package machines_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardenmachinev1alpha1 "github.com/terrarium-garden/terrarium/apis/machine/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/machinepod"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/machines"
)

func now() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }

func ago(minutes int) metav1.Time {
	return metav1.NewTime(now().Add(-time.Duration(minutes) * time.Minute))
}

// podWith has a readiness of the given age in minutes.
func podWith(ready corev1.ConditionStatus, age int) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "machine-worker-a", CreationTimestamp: ago(60)}}
	pod.Status.Phase = corev1.PodRunning
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: ready, LastTransitionTime: ago(age)}}
	return pod
}

func TestJudge(t *testing.T) {
	t.Parallel()
	const (
		running   = gardenmachinev1alpha1.MachineRunning
		pending   = gardenmachinev1alpha1.MachinePending
		unknown   = gardenmachinev1alpha1.MachineUnknown
		failed    = gardenmachinev1alpha1.MachineFailed
		crashLoop = gardenmachinev1alpha1.MachineCrashLoopBackOff
	)
	nodeNotReady := podWith(corev1.ConditionFalse, 1)
	nodeNotReady.Status.Conditions = append(nodeNotReady.Status.Conditions, corev1.PodCondition{
		Type: machinepod.ConditionNodeReady, Status: corev1.ConditionFalse, Message: "no network",
	})
	noImage := podWith(corev1.ConditionFalse, 1)
	noImage.Status.ContainerStatuses = []corev1.ContainerStatus{{Image: "gone:v1", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff"}}}}
	ended, leaving := podWith(corev1.ConditionTrue, 1), podWith(corev1.ConditionTrue, 1)
	ended.Status.Phase = corev1.PodFailed
	leaving.DeletionTimestamp = new(ago(0))
	pressed := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "machine-worker-a"}}
	pressed.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeDiskPressure, Status: corev1.ConditionTrue, Message: "full", LastTransitionTime: ago(11)}}
	minutes := func(n int) *metav1.Duration { return &metav1.Duration{Duration: time.Duration(n) * time.Minute} }
	type config = gardenmachinev1alpha1.MachineConfiguration
	cases := map[string]struct {
		reason string
		phase  gardenmachinev1alpha1.MachinePhase
		age    int
		config config
		o      machines.Observation
		want   gardenmachinev1alpha1.MachinePhase
		text   string
	}{
		"New":         {reason: "a machine without a pod is being made", want: pending, text: "does not exist yet"},
		"Refused":     {reason: "a machine that cannot be made says why", o: machines.Observation{Creation: errors.New("no quota")}, want: crashLoop, text: "no quota"},
		"Waiting":     {reason: "to wait is no failure", o: machines.Observation{Creation: kit.Wait(time.Second, "no shoot")}, want: pending, text: "no shoot"},
		"Starting":    {reason: "a pod that is not ready is being made", phase: pending, o: machines.Observation{Pod: podWith(corev1.ConditionFalse, 5)}, want: pending},
		"Joining":     {reason: "what the node lacks is told", phase: pending, o: machines.Observation{Pod: nodeNotReady}, want: pending, text: `node "machine-worker-a": no network`},
		"NoImage":     {reason: "trouble that may not go away by itself is told", phase: pending, o: machines.Observation{Pod: noImage}, want: crashLoop, text: `"gone:v1"`},
		"Recovers":    {reason: "if it does, the machine runs", phase: crashLoop, o: machines.Observation{Pod: podWith(corev1.ConditionTrue, 1)}, want: running, text: "joined the shoot"},
		"TooLate":     {reason: "a machine that does not join in time is given up", phase: pending, age: 21, o: machines.Observation{Pod: podWith(corev1.ConditionFalse, 5)}, want: failed, text: "did not join within 20m"},
		"TimeEnough":  {reason: "the pool may say how long it takes", phase: pending, age: 21, config: config{CreationTimeout: minutes(30)}, o: machines.Observation{Pod: podWith(corev1.ConditionFalse, 5)}, want: pending},
		"Runs":        {reason: "a machine with a ready node runs", phase: running, age: 99, o: machines.Observation{Pod: podWith(corev1.ConditionTrue, 5), NodeKnown: true}, want: running},
		"Sick":        {reason: "a machine that was healthy has time to recover", phase: running, age: 99, o: machines.Observation{Pod: podWith(corev1.ConditionFalse, 9), NodeKnown: true}, want: unknown},
		"Well":        {reason: "and may do so", phase: unknown, age: 99, o: machines.Observation{Pod: podWith(corev1.ConditionTrue, 1), NodeKnown: true}, want: running, text: "healthy again"},
		"TooSick":     {reason: "after the health timeout it is given up", phase: unknown, age: 99, o: machines.Observation{Pod: podWith(corev1.ConditionFalse, 11), NodeKnown: true}, want: failed, text: "unhealthy for more than 10m"},
		"NobodyKnows": {reason: "as long as the shoot does not answer no machine is given up", phase: unknown, age: 99, o: machines.Observation{Pod: podWith(corev1.ConditionFalse, 11)}, want: unknown},
		"NoTimeout":   {reason: "the pool may keep sick machines", phase: unknown, age: 99, config: config{DisableHealthTimeout: new(true)}, o: machines.Observation{Pod: podWith(corev1.ConditionFalse, 11), NodeKnown: true}, want: unknown},
		"Pressure":    {reason: "a condition of the node makes it sick", phase: running, age: 99, o: machines.Observation{Pod: podWith(corev1.ConditionTrue, 90), Node: pressed, NodeKnown: true}, want: failed, text: "DiskPressure: full"},
		"NotListed":   {reason: "if the pool says so", phase: running, age: 99, config: config{NodeConditions: new("OnFire")}, o: machines.Observation{Pod: podWith(corev1.ConditionTrue, 90), Node: pressed, NodeKnown: true}, want: running},
		"Lost":        {reason: "a pod that is gone never comes back", phase: running, age: 99, want: failed, text: "gone"},
		"Ended":       {reason: "nor does one that has ended", phase: running, o: machines.Observation{Pod: ended}, want: failed},
		"Leaving":     {reason: "nor one that somebody deletes", phase: running, o: machines.Observation{Pod: leaving}, want: failed},
		"Failed":      {reason: "what has failed stays so, because it is being replaced", phase: failed, o: machines.Observation{Pod: podWith(corev1.ConditionTrue, 1)}, want: failed},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := &gardenmachinev1alpha1.Machine{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: ago(tc.age)}}
			m.Status.CurrentStatus.Phase, m.Spec.MachineConfiguration = tc.phase, tc.config
			if tc.phase != "" {
				m.Spec.ProviderID = "local:///x/y"
			}
			tc.o.Machine = m
			got := machines.Judge(tc.o, now())
			// verdict is the phase, and whether the machine is looked at again.
			type verdict struct {
				Phase gardenmachinev1alpha1.MachinePhase
				Again bool
			}
			if diff := cmp.Diff(verdict{Phase: tc.want, Again: tc.want != failed}, verdict{Phase: got.Phase, Again: got.Recheck > 0}); diff != "" {
				t.Errorf("%s\nJudge(...) (-want +got):\n%s", tc.reason, diff)
			}
			if !strings.Contains(got.Description, tc.text) {
				t.Errorf("%s\nJudge(...) says %q, want %q", tc.reason, got.Description, tc.text)
			}
		})
	}
}

// TestJoiningIsWatched: somebody waits for a machine that is joining, and nobody for one that takes long.
func TestJoiningIsWatched(t *testing.T) {
	t.Parallel()
	for age, want := range map[int]time.Duration{1: 2 * time.Second, 4: 15 * time.Second} {
		m := &gardenmachinev1alpha1.Machine{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: ago(age)}}
		m.Spec.ProviderID, m.Status.CurrentStatus.Phase = "local:///x/y", "Pending"
		if got := machines.Judge(machines.Observation{Machine: m, Pod: podWith(corev1.ConditionFalse, age)}, now()); got.Recheck != want {
			t.Errorf("a machine that has been joining for %d minutes is looked at again after %s, want %s", age, got.Recheck, want)
		}
	}
}
