// SPDX-License-Identifier: Apache-2.0

package machineset

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"time"

	gardenmachinev1alpha1 "github.com/terrarium-garden/terrarium/apis/machine/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/preservation"
)

// Wanted is what a set wants.
type Wanted struct {
	// Replicas is the number of machines.
	Replicas int32
	// Preserved is how many failed machines are kept at most without anybody having asked for it.
	Preserved int32
}

// Plan is what to do next for a set.
type Plan struct {
	// Create is the number of Machines to make.
	Create int
	// Delete are the names of Machines to delete, in order of name.
	Delete []string
	// Preserve are the names of failed Machines that are kept from now on, in the order in which they failed.
	Preserve []string
}

// Decide returns the next steps for a set that has these machines. Machines that fail are replaced, unless they are kept: then they count as
// machines of the set. If there are too many, those with the lowest priority go first, then those that are not kept, then those that are not
// running, then young ones.
func Decide(want Wanted, machines []gardenmachinev1alpha1.Machine, now time.Time) Plan {
	plan := Plan{}
	var active []*gardenmachinev1alpha1.Machine
	var failed failures
	for i := range machines {
		m := &machines[i]
		switch {
		case m.DeletionTimestamp != nil:
		case preservation.Failed(m):
			failed.add(m, now)
		default:
			active = append(active, m)
		}
	}
	kept := failed.keep(int(want.Preserved), &plan)
	active = append(active, kept...)
	slices.SortFunc(active, leastWorthFirst(now))
	missing := int(want.Replicas) - len(active)
	plan.Create = max(0, missing)
	for _, m := range active[:max(0, -missing)] {
		plan.Delete = append(plan.Delete, m.Name)
	}
	for _, m := range failed.open {
		if slices.Contains(kept, m) && !slices.Contains(plan.Delete, m.Name) {
			plan.Preserve = append(plan.Preserve, m.Name)
		}
	}
	slices.Sort(plan.Delete)
	return plan
}

// failures are the machines of a set that have failed.
type failures struct {
	// asked are kept because somebody wants it, auto because the set has decided so. Of open nobody has decided, and lost are replaced.
	asked, auto, open, lost []*gardenmachinev1alpha1.Machine
}

func (f *failures) add(m *gardenmachinev1alpha1.Machine, now time.Time) {
	list := &f.lost
	switch {
	case preservation.Kept(m, now) && preservation.Wish(m) == gardenmachinev1alpha1.PreserveAuto:
		list = &f.auto
	case preservation.Kept(m, now):
		list = &f.asked
	case preservation.Open(m, now):
		list = &f.open
	}
	*list = append(*list, m)
}

// keep returns the machines that are kept, and plans the end of the others. The set keeps no more than most: those that are kept
// longest remain, and those that have failed first come next.
func (f *failures) keep(most int, plan *Plan) []*gardenmachinev1alpha1.Machine {
	slices.SortFunc(f.auto, func(a, b *gardenmachinev1alpha1.Machine) int {
		return cmp.Or(end(b).Compare(end(a)), cmp.Compare(a.Name, b.Name))
	})
	slices.SortFunc(f.open, func(a, b *gardenmachinev1alpha1.Machine) int {
		return cmp.Or(a.Status.CurrentStatus.LastUpdateTime.Compare(b.Status.CurrentStatus.LastUpdateTime.Time), cmp.Compare(a.Name, b.Name))
	})
	remaining := min(len(f.auto), max(0, most))
	chosen := min(len(f.open), max(0, most-remaining))
	for _, m := range slices.Concat(f.lost, f.auto[remaining:], f.open[chosen:]) {
		plan.Delete = append(plan.Delete, m.Name)
	}
	return slices.Concat(f.asked, f.auto[:remaining], f.open[:chosen])
}

// end is until when a machine is kept. One that has no time yet has just begun to be kept, and is so longest.
func end(m *gardenmachinev1alpha1.Machine) time.Time {
	if until := m.Status.CurrentStatus.PreserveExpiryTime; until != nil {
		return until.Time
	}
	return time.Unix(math.MaxInt32, 0)
}

func leastWorthFirst(now time.Time) func(a, b *gardenmachinev1alpha1.Machine) int {
	kept := func(m *gardenmachinev1alpha1.Machine) int {
		if preservation.Kept(m, now) {
			return 1
		}
		return 0
	}
	return func(a, b *gardenmachinev1alpha1.Machine) int {
		return cmp.Or(
			cmp.Compare(priority(a), priority(b)),
			cmp.Compare(kept(a), kept(b)),
			cmp.Compare(worth(a), worth(b)),
			b.CreationTimestamp.Compare(a.CreationTimestamp.Time),
			cmp.Compare(a.Name, b.Name))
	}
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
func Status(set *gardenmachinev1alpha1.MachineSet, machines []gardenmachinev1alpha1.Machine, now time.Time) gardenmachinev1alpha1.MachineSetStatus {
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
		if preservation.Failed(m) && preservation.Kept(m, now) {
			status.PreservedFailedReplicas++
		}
		if m.Status.CurrentStatus.Phase == gardenmachinev1alpha1.MachineRunning {
			status.ReadyReplicas++
			status.AvailableReplicas++
		}
	}
	return status
}
