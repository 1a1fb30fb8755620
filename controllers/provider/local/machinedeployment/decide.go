// SPDX-License-Identifier: Apache-2.0

package machinedeployment

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/intstr"

	gardenmachinev1alpha1 "github.com/terrarium-garden/terrarium/apis/machine/v1alpha1"
)

// Set is what the decision needs to know about a MachineSet.
type Set struct {
	// Name of the set.
	Name string
	// Replicas is the number of machines that it wants.
	Replicas int
	// Machines is the number of its machines that are not being deleted.
	Machines int
	// Ready is the number of these that are running.
	Ready int
}

// Limits bound a replacement.
type Limits struct {
	// Surge is how many machines more than wanted may exist.
	Surge int
	// Unavailable is how many of the wanted machines may be missing.
	Unavailable int
	// Recreate says that no new machine is made as long as there is an old one.
	Recreate bool
}

// LimitsOf resolves the limits of a strategy for a number of machines. At least one of them is positive, otherwise nothing could be
// replaced. Machines that are updated in place are replaced within the limits of that strategy if their class changes.
func LimitsOf(strategy gardenmachinev1alpha1.MachineDeploymentStrategy, replicas int) (Limits, error) {
	var update gardenmachinev1alpha1.UpdateConfiguration
	switch {
	case strategy.Type == gardenmachinev1alpha1.RecreateStrategy:
		return Limits{Unavailable: replicas, Recreate: true}, nil
	case strategy.Type == gardenmachinev1alpha1.InPlaceUpdateStrategy && strategy.InPlaceUpdate != nil:
		update = strategy.InPlaceUpdate.UpdateConfiguration
	case strategy.RollingUpdate != nil:
		update = strategy.RollingUpdate.UpdateConfiguration
	}
	one := intstr.FromInt32(1)
	if update.MaxSurge == nil {
		update.MaxSurge = &one
	}
	if update.MaxUnavailable == nil {
		update.MaxUnavailable = &one
	}
	surge, err := intstr.GetScaledValueFromIntOrPercent(update.MaxSurge, replicas, true)
	if err != nil {
		return Limits{}, fmt.Errorf("read maxSurge: %w", err)
	}
	unavailable, err := intstr.GetScaledValueFromIntOrPercent(update.MaxUnavailable, replicas, false)
	if err != nil {
		return Limits{}, fmt.Errorf("read maxUnavailable: %w", err)
	}
	switch {
	case surge > 0 || unavailable > 0:
	case strategy.Type == gardenmachinev1alpha1.InPlaceUpdateStrategy:
		unavailable = 1
	default:
		surge = 1
	}
	return Limits{Surge: max(surge, 0), Unavailable: max(unavailable, 0)}, nil
}

// Decide returns how many machines each set has to want now, by name. The old sets are those with other classes, in the order in which
// they lose their machines. Old machines that are not ready go first. They go only as far as the new machines leave no gap, because a
// machine that is not ready may become so again.
func Decide(replicas int, limits Limits, current Set, old []Set) map[string]int {
	plan := map[string]int{current.Name: min(current.Replicas, replicas)}
	total, oldMachines := plan[current.Name], 0
	for _, s := range old {
		plan[s.Name] = s.Replicas
		total += s.Replicas
		oldMachines += s.Machines
	}
	needed := replicas - limits.Unavailable
	if !limits.Recreate || oldMachines == 0 {
		room := replicas + limits.Surge - total
		plan[current.Name] += max(0, min(replicas-plan[current.Name], room))
	}
	ready := min(current.Ready, plan[current.Name])
	spare := max(0, total-needed-max(0, plan[current.Name]-ready))
	for _, s := range old {
		leave := min(max(0, s.Replicas-s.Ready), spare)
		plan[s.Name] -= leave
		spare -= leave
		ready += min(s.Ready, s.Replicas)
	}
	spare = max(0, ready-needed)
	for _, s := range old {
		leave := min(s.Ready, plan[s.Name], spare)
		plan[s.Name] -= leave
		spare -= leave
	}
	return plan
}
