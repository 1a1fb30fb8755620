// SPDX-License-Identifier: Apache-2.0

package machinedeployment_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/terrarium-garden/terrarium/controllers/provider/local/machinedeployment"
)

func now() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }

// m is a machine of the given age in minutes.
func m(name, hash string, state machinedeployment.State, age int) machinedeployment.Machine {
	return machinedeployment.Machine{Name: name, Hash: hash, State: state, Created: now().Add(-time.Duration(age) * time.Minute)}
}

func TestDecide(t *testing.T) {
	t.Parallel()
	const (
		pending     = machinedeployment.Pending
		ready       = machinedeployment.Ready
		failed      = machinedeployment.Failed
		terminating = machinedeployment.Terminating
	)
	set := func(replicas, surge, unavailable int) machinedeployment.Deployment {
		return machinedeployment.Deployment{Name: "w", Hash: "new", Replicas: replicas, MaxSurge: surge, MaxUnavailable: unavailable}
	}
	type machines = []machinedeployment.Machine
	cases := map[string]struct {
		reason   string
		set      machinedeployment.Deployment
		machines machines
		want     machinedeployment.Plan
	}{
		"Empty":        {reason: "all machines are made at once", set: set(3, 1, 0), want: machinedeployment.Plan{Create: 3}},
		"Complete":     {reason: "nothing is done to a set that is as wanted", set: set(2, 1, 0), machines: machines{m("a", "new", ready, 5), m("b", "new", pending, 1)}},
		"ScaleUp":      {reason: "missing machines are made", set: set(3, 0, 1), machines: machines{m("a", "new", ready, 5)}, want: machinedeployment.Plan{Create: 2}},
		"ToNothing":    {reason: "all machines go, old ones as well", set: set(0, 1, 0), machines: machines{m("a", "new", ready, 5), m("b", "old", ready, 9)}, want: machinedeployment.Plan{Delete: []string{"a", "b"}}},
		"Failed":       {reason: "a failed machine is replaced at once", set: set(2, 1, 0), machines: machines{m("a", "new", ready, 5), m("b", "new", failed, 5)}, want: machinedeployment.Plan{Create: 1, Delete: []string{"b"}}},
		"OldAndFailed": {reason: "a failed machine with an old hash is not worth waiting for", set: set(1, 1, 0), machines: machines{m("a", "old", failed, 5)}, want: machinedeployment.Plan{Create: 1, Delete: []string{"a"}}},
		"Terminating":  {reason: "a machine on its way out counts no more", set: set(1, 0, 1), machines: machines{m("a", "new", terminating, 5)}, want: machinedeployment.Plan{Create: 1}},
		"ScaleDown": {
			reason: "the machine that is not ready goes first, then the youngest",
			set:    set(2, 1, 0),
			machines: machines{
				m("oldest", "new", ready, 9), m("young", "new", ready, 2), m("middle", "new", ready, 5), m("unready", "new", pending, 8),
			},
			want: machinedeployment.Plan{Delete: []string{"unready", "young"}},
		},
		"Surge": {
			reason:   "a replacement is made before an old machine goes",
			set:      set(2, 1, 0),
			machines: machines{m("a", "old", ready, 9), m("b", "old", ready, 8)},
			want:     machinedeployment.Plan{Create: 1},
		},
		"SurgeNotReady": {
			reason:   "while the replacement is not ready, nothing goes and no further one is made",
			set:      set(2, 1, 0),
			machines: machines{m("a", "old", ready, 9), m("b", "old", ready, 8), m("c", "new", pending, 1)},
		},
		"SurgeReady": {
			reason:   "one ready replacement frees the youngest old machine",
			set:      set(2, 1, 0),
			machines: machines{m("a", "old", ready, 9), m("b", "old", ready, 8), m("c", "new", ready, 1)},
			want:     machinedeployment.Plan{Delete: []string{"b"}},
		},
		"Unavailable": {
			reason:   "without surge a machine goes first",
			set:      set(2, 0, 1),
			machines: machines{m("a", "old", ready, 9), m("b", "old", ready, 8)},
			want:     machinedeployment.Plan{Delete: []string{"b"}},
		},
		"UnavailableNext": {
			reason:   "then its place is filled, and the next one waits until it is ready",
			set:      set(2, 0, 1),
			machines: machines{m("a", "old", ready, 9), m("b", "old", terminating, 8)},
			want:     machinedeployment.Plan{Create: 1},
		},
		"UnreadyOld": {
			reason:   "an old machine that is not ready is deleted at once, because it is not in use",
			set:      set(2, 1, 0),
			machines: machines{m("a", "old", ready, 9), m("b", "old", pending, 8)},
			want:     machinedeployment.Plan{Create: 1, Delete: []string{"b"}},
		},
		"AllAtOnce": {
			reason:   "a large surge replaces all in one step",
			set:      set(3, 3, 0),
			machines: machines{m("a", "old", ready, 9), m("b", "old", ready, 8), m("c", "old", ready, 7)},
			want:     machinedeployment.Plan{Create: 3},
		},
		"RollAndShrink": {
			reason:   "with fewer machines wanted the spare old ones go while the replacement starts",
			set:      set(1, 1, 0),
			machines: machines{m("a", "old", ready, 9), m("b", "old", ready, 8), m("c", "old", ready, 7)},
			want:     machinedeployment.Plan{Delete: []string{"b", "c"}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, machinedeployment.Decide(tc.set, tc.machines), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s\nDecide(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestDecideConverges plays a replacement to its end, whatever the limits are: the bounds hold in each step, and it ends.
func TestDecideConverges(t *testing.T) {
	t.Parallel()
	for replicas := 1; replicas <= 4; replicas++ {
		for surge := range 3 {
			for unavailable := range 3 {
				if surge+unavailable > 0 {
					converge(t, machinedeployment.Deployment{Hash: "new", Replicas: replicas, MaxSurge: surge, MaxUnavailable: unavailable})
				}
			}
		}
	}
}

func converge(t *testing.T, set machinedeployment.Deployment) {
	t.Helper()
	live := map[string]machinedeployment.Machine{}
	for i := range set.Replicas {
		name := string(rune('a' + i))
		live[name] = m(name, "old", machinedeployment.Ready, i)
	}
	made := 0
	for range 50 {
		var machines []machinedeployment.Machine
		for _, machine := range live {
			machines = append(machines, machine)
		}
		plan := machinedeployment.Decide(set, machines)
		if plan.Create == 0 && len(plan.Delete) == 0 {
			break
		}
		for _, name := range plan.Delete {
			delete(live, name)
		}
		if len(live) < set.Replicas-set.MaxUnavailable || len(live)+plan.Create > set.Replicas+set.MaxSurge {
			t.Fatalf("%+v: %d machines are left and %d are made: out of bounds", set, len(live), plan.Create)
		}
		for range plan.Create {
			made++
			name := string(rune('A' + made))
			live[name] = m(name, "new", machinedeployment.Ready, 0)
		}
	}
	for name, machine := range live {
		if machine.Hash != "new" {
			t.Errorf("%+v: machine %q is still old", set, name)
		}
	}
	if len(live) != set.Replicas || made != set.Replicas {
		t.Errorf("%+v: %d machines, %d made", set, len(live), made)
	}
}

func TestObserve(t *testing.T) {
	t.Parallel()
	condition := func(status corev1.ConditionStatus, minutesAgo int) corev1.PodCondition {
		return corev1.PodCondition{Type: corev1.PodReady, Status: status, LastTransitionTime: metav1.NewTime(now().Add(-time.Duration(minutesAgo) * time.Minute))}
	}
	cases := map[string]struct {
		reason string
		age    int
		change func(*corev1.Pod)
		want   machinedeployment.State
	}{
		"New": {reason: "a young pod is waited for", age: 1, want: machinedeployment.Pending},
		"Ready": {reason: "readiness is that of the kubelet", age: 99, change: func(p *corev1.Pod) {
			p.Status.Conditions = append(p.Status.Conditions, condition(corev1.ConditionTrue, 98))
		}, want: machinedeployment.Ready},
		"Unready": {reason: "a machine that just became unready may come back", age: 99, change: func(p *corev1.Pod) {
			p.Status.Conditions = append(p.Status.Conditions, condition(corev1.ConditionFalse, 19))
		}, want: machinedeployment.Pending},
		"LongUnready": {reason: "one that is unready for long is replaced", age: 99, change: func(p *corev1.Pod) {
			p.Status.Conditions = append(p.Status.Conditions, condition(corev1.ConditionFalse, 21))
		}, want: machinedeployment.Failed},
		"NeverSeen": {reason: "so is one that never reported anything", age: 21, want: machinedeployment.Failed},
		"Ended":     {reason: "a pod that was evicted does not start again", age: 1, change: func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }, want: machinedeployment.Failed},
		"Succeeded": {reason: "a pod that ended well did so by mistake", age: 1, change: func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }, want: machinedeployment.Failed},
		"Deleted": {
			reason: "deletion comes before everything else", age: 1,
			change: func(p *corev1.Pod) {
				p.Status.Phase = corev1.PodFailed
				p.DeletionTimestamp = new(metav1.NewTime(now()))
			},
			want: machinedeployment.Terminating,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
				Name: "p", Labels: map[string]string{machinedeployment.LabelHash: "h"}, CreationTimestamp: metav1.NewTime(now().Add(-time.Duration(tc.age) * time.Minute)),
			}}
			if tc.change != nil {
				tc.change(pod)
			}
			if diff := cmp.Diff(m("p", "h", tc.want, tc.age), machinedeployment.Observe(pod, now())); diff != "" {
				t.Errorf("%s\nObserve(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestSummarize(t *testing.T) {
	t.Parallel()
	pod := func(hash string, ready bool, change func(*corev1.Pod)) corev1.Pod {
		p := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Labels: map[string]string{machinedeployment.LabelHash: hash}}}
		if ready {
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		}
		if change != nil {
			change(&p)
		}
		return p
	}
	noImage := func(p *corev1.Pod) {
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Image: "gone:v1", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImagePull"}}}}
	}
	cases := map[string]struct {
		reason string
		pods   []corev1.Pod
		want   machinedeployment.Progress
	}{
		"Done":     {reason: "as many ready machines as wanted, and no others", pods: []corev1.Pod{pod("new", true, nil), pod("new", true, nil)}},
		"Starting": {reason: "a machine that simply is not ready is not a problem", pods: []corev1.Pod{pod("new", true, nil), pod("new", false, nil)}, want: machinedeployment.Progress{Waiting: `Waiting for machines of "w": 1 of 2 are ready`}},
		"NoNetwork": {
			reason: "what the node of a machine lacks is reported",
			pods: []corev1.Pod{pod("new", true, nil), pod("new", false, func(p *corev1.Pod) {
				p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{
					Type: machinedeployment.ConditionNodeReady, Status: corev1.ConditionFalse, Message: "cni plugin not initialized",
				})
			})},
			want: machinedeployment.Progress{Waiting: `Waiting for machines of "w": 1 of 2 are ready; node "p": cni plugin not initialized`},
		},
		"Old": {reason: "old machines have to go before it is done", pods: []corev1.Pod{pod("new", true, nil), pod("new", true, nil), pod("old", true, nil)}, want: machinedeployment.Progress{Waiting: `Waiting for machines of "w": 1 old ones are left`}},
		"NoImage": {
			reason: "an image that cannot be pulled is reported with its name",
			pods:   []corev1.Pod{pod("new", true, nil), pod("new", false, noImage)},
			want: machinedeployment.Progress{
				Waiting: `Waiting for machines of "w": 1 of 2 are ready`,
				Trouble: `image "gone:v1" of pod "p" cannot be pulled: load the image on the seed's nodes or correct the image vector`,
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := machinedeployment.Summarize(machinedeployment.Deployment{Name: "w", Hash: "new", Replicas: 2}, tc.pods)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nSummarize(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
