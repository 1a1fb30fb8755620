// SPDX-License-Identifier: Apache-2.0

package machinedeployment

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/terrarium-garden/terrarium/controllers/deploy"
)

// patience is how long a machine may be unready before it is replaced. It is enough to load images and to join, and to recover after a
// restart of its seed node.
const patience = 20 * time.Minute

// State is the state of a machine.
type State int

const (
	// Pending machines are starting, or are unready for a short time.
	Pending State = iota
	// Ready machines have a healthy kubelet and a ready node.
	Ready
	// Failed machines will not recover.
	Failed
	// Terminating machines are being deleted.
	Terminating
)

// Machine is what the decision needs to know about a pod.
type Machine struct {
	// Name of the pod, and of the node.
	Name string
	// Hash of the set when the machine was made.
	Hash string
	// Created is when it was made.
	Created time.Time
	// State of the machine.
	State State
}

// Observe returns the state of a pod.
func Observe(pod *corev1.Pod, now time.Time) Machine {
	return Machine{Name: pod.Name, Hash: pod.Labels[LabelHash], Created: pod.CreationTimestamp.Time, State: state(pod, now)}
}

func state(pod *corev1.Pod, now time.Time) State {
	if pod.DeletionTimestamp != nil {
		return Terminating
	}
	if pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded {
		return Failed
	}
	since := pod.CreationTimestamp.Time
	for _, condition := range pod.Status.Conditions {
		if condition.Type != corev1.PodReady {
			continue
		}
		if condition.Status == corev1.ConditionTrue {
			return Ready
		}
		since = condition.LastTransitionTime.Time
	}
	if now.Sub(since) > patience {
		return Failed
	}
	return Pending
}

// Plan is what to do next for a set.
type Plan struct {
	// Create is the number of machines to make.
	Create int
	// Delete are the names of machines to remove, in order of name.
	Delete []string
}

// Decide returns the next steps for the set with these machines.
func Decide(set Deployment, machines []Machine) Plan {
	plan := Plan{}
	var current, old []Machine
	for _, m := range machines {
		switch {
		case m.State == Terminating:
		case m.State == Failed:
			plan.Delete = append(plan.Delete, m.Name)
		case m.Hash == set.Hash:
			current = append(current, m)
		default:
			old = append(old, m)
		}
	}
	leastWorthFirst(current)
	leastWorthFirst(old)

	if excess := len(current) - set.Replicas; excess > 0 {
		plan.Delete = append(plan.Delete, names(current[:excess])...)
		current = current[excess:]
	}
	room := set.Replicas + max(set.MaxSurge, 0) - len(current) - len(old)
	plan.Create = max(0, min(set.Replicas-len(current), room))
	plan.Delete = append(plan.Delete, names(replaceable(set, current, old))...)
	slices.Sort(plan.Delete)
	return plan
}

// replaceable returns the old machines that may be deleted now: all that are not ready, and as many ready ones as are not needed.
func replaceable(set Deployment, current, old []Machine) []Machine {
	ready := ready(current) + ready(old)
	spare := ready - (set.Replicas - set.MaxUnavailable)
	var leaving []Machine
	for _, m := range old {
		if m.State == Ready {
			if spare <= 0 {
				continue
			}
			spare--
		}
		leaving = append(leaving, m)
	}
	return leaving
}

// leastWorthFirst orders unready machines before ready ones, and young ones before old ones.
func leastWorthFirst(machines []Machine) {
	slices.SortFunc(machines, func(a, b Machine) int {
		return cmp.Or(cmp.Compare(a.State, b.State), b.Created.Compare(a.Created), cmp.Compare(a.Name, b.Name))
	})
}

func ready(machines []Machine) int {
	count := 0
	for _, m := range machines {
		if m.State == Ready {
			count++
		}
	}
	return count
}

func names(machines []Machine) []string {
	result := make([]string, 0, len(machines))
	for _, m := range machines {
		result = append(result, m.Name)
	}
	return result
}

// unknownTrouble is the reason that package deploy gives for a pod that is not ready yet and reports no problem.
const unknownTrouble = "the pod is not ready"

// Progress says what is missing until a set is as desired. Both texts are empty when nothing is.
type Progress struct {
	// Waiting is what is in progress.
	Waiting string
	// Trouble is what prevents a machine from starting and may not go away by itself.
	Trouble string
}

// Summarize compares a set with its machines.
func Summarize(set Deployment, pods []corev1.Pod) Progress {
	ready, others, detail := 0, 0, ""
	progress := Progress{}
	for i := range pods {
		pod := &pods[i]
		if pod.DeletionTimestamp != nil || pod.Labels[LabelHash] != set.Hash {
			others++
			continue
		}
		ok, reason := deploy.Ready(pod)
		if ok {
			ready++
		}
		if !ok && reason != unknownTrouble && progress.Trouble == "" {
			progress.Trouble = reason
		}
		if !ok && detail == "" {
			detail = nodeTrouble(pod)
		}
	}
	switch {
	case ready != set.Replicas:
		progress.Waiting = fmt.Sprintf("Waiting for machines of %q: %d of %d are ready%s", set.Name, ready, set.Replicas, detail)
	case others > 0:
		progress.Waiting = fmt.Sprintf("Waiting for machines of %q: %d old ones are left", set.Name, others)
	}
	return progress
}

// nodeTrouble returns what the node of a machine reports as missing.
func nodeTrouble(pod *corev1.Pod) string {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == ConditionNodeReady && condition.Status != corev1.ConditionTrue {
			return fmt.Sprintf("; node %q: %s", pod.Name, condition.Message)
		}
	}
	return ""
}
