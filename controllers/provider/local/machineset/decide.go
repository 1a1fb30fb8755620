// SPDX-License-Identifier: Apache-2.0

package machineset

import (
	"cmp"
	"slices"
	"strconv"

	gardenmachinev1alpha1 "github.com/terrarium-garden/terrarium/apis/machine/v1alpha1"
)

// Plan is what to do next for a set.
type Plan struct {
	// Create is the number of Machines to make.
	Create int
	// Delete are the names of Machines to delete, in order of name.
	Delete []string
}

// Decide returns the next steps for a set that wants a number of machines and has these. Machines that fail are replaced. If there are too
// many, those with the lowest priority go first, then those that are not running, then young ones.
func Decide(replicas int32, machines []gardenmachinev1alpha1.Machine) Plan {
	plan := Plan{}
	var active []*gardenmachinev1alpha1.Machine
	for i := range machines {
		m := &machines[i]
		switch {
		case m.DeletionTimestamp != nil:
		case m.Status.CurrentStatus.Phase == gardenmachinev1alpha1.MachineFailed:
			plan.Delete = append(plan.Delete, m.Name)
		default:
			active = append(active, m)
		}
	}
	slices.SortFunc(active, leastWorthFirst)
	missing := int(replicas) - len(active)
	plan.Create = max(0, missing)
	for _, m := range active[:max(0, -missing)] {
		plan.Delete = append(plan.Delete, m.Name)
	}
	slices.Sort(plan.Delete)
	return plan
}

func leastWorthFirst(a, b *gardenmachinev1alpha1.Machine) int {
	return cmp.Or(
		cmp.Compare(priority(a), priority(b)),
		cmp.Compare(worth(a), worth(b)),
		b.CreationTimestamp.Compare(a.CreationTimestamp.Time),
		cmp.Compare(a.Name, b.Name))
}

// priority is what the annotation says. One that is not a number is ignored.
func priority(m *gardenmachinev1alpha1.Machine) int {
	value, err := strconv.Atoi(m.Annotations[gardenmachinev1alpha1.AnnotationPriority])
	if err != nil {
		return gardenmachinev1alpha1.DefaultPriority
	}
	return value
}

// worth is how near a machine is to being useful.
func worth(m *gardenmachinev1alpha1.Machine) int {
	switch m.Status.CurrentStatus.Phase {
	case gardenmachinev1alpha1.MachineRunning:
		return 3
	case gardenmachinev1alpha1.MachineUnknown:
		return 2
	case gardenmachinev1alpha1.MachineCrashLoopBackOff:
		return 0
	default:
		return 1
	}
}

// Status counts the machines of a set. Those that are being deleted do not count.
func Status(set *gardenmachinev1alpha1.MachineSet, machines []gardenmachinev1alpha1.Machine) gardenmachinev1alpha1.MachineSetStatus {
	status := gardenmachinev1alpha1.MachineSetStatus{
		ObservedGeneration: set.Generation, Conditions: set.Status.Conditions, LastOperation: set.Status.LastOperation,
	}
	for i := range machines {
		m := &machines[i]
		last := m.Status.LastOperation
		if status.LastOperation.LastUpdateTime.Before(&last.LastUpdateTime) {
			status.LastOperation = last
		}
		if last.State == gardenmachinev1alpha1.MachineStateFailed {
			status.FailedMachines = append(status.FailedMachines, gardenmachinev1alpha1.MachineSummary{
				Name: m.Name, ProviderID: m.Spec.ProviderID, LastOperation: last, OwnerRef: set.Name,
			})
		}
		if m.DeletionTimestamp != nil {
			continue
		}
		status.Replicas++
		status.FullyLabeledReplicas++
		if m.Status.CurrentStatus.Phase == gardenmachinev1alpha1.MachineRunning {
			status.ReadyReplicas++
			status.AvailableReplicas++
		}
	}
	return status
}
