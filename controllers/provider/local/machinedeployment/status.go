// SPDX-License-Identifier: Apache-2.0

package machinedeployment

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardenmachinev1alpha1 "github.com/terrarium-garden/terrarium/apis/machine/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// report writes the status: the numbers of before this pass, because a change of a set starts another one.
func (r *Reconciler) report(ctx context.Context, s *scope) (kit.Outcome, error) {
	before := s.deployment.DeepCopy()
	s.deployment.Status = s.status(metav1.NewTime(r.Clock.Now()))
	if equality.Semantic.DeepEqual(before.Status, s.deployment.Status) {
		return kit.Continue(), nil
	}
	if err := r.Client.Status().Patch(ctx, s.deployment, client.MergeFrom(before)); client.IgnoreNotFound(err) != nil {
		return kit.Stop(), fmt.Errorf("write the status of machine deployment %q: %w", s.deployment.Name, err)
	}
	return kit.Continue(), nil
}

func (s *scope) status(now metav1.Time) gardenmachinev1alpha1.MachineDeploymentStatus {
	status := gardenmachinev1alpha1.MachineDeploymentStatus{
		ObservedGeneration: s.deployment.Generation, Conditions: s.deployment.Status.Conditions, CollisionCount: s.deployment.Status.CollisionCount,
	}
	for i := range s.sets {
		count := s.count(i)
		status.Replicas += small(count.Machines)
		status.ReadyReplicas += small(count.Ready)
		if i == s.current {
			status.UpdatedReplicas = small(count.Machines)
		}
		status.PreservedFailedReplicas += s.sets[i].Status.PreservedFailedReplicas
		status.FailedMachines = append(status.FailedMachines, s.sets[i].Status.FailedMachines...)
	}
	status.AvailableReplicas = status.ReadyReplicas
	status.UnavailableReplicas = max(0, s.deployment.Spec.Replicas-status.AvailableReplicas)
	status.Conditions = withAvailable(status.Conditions, status.UnavailableReplicas, now)
	return status
}

func small(n int) int32 { return int32(n) } //nolint:gosec // nobody has so many machines

// withAvailable sets the condition that says whether all wanted machines are running.
func withAvailable(conditions []gardenmachinev1alpha1.MachineDeploymentCondition, missing int32, now metav1.Time) []gardenmachinev1alpha1.MachineDeploymentCondition {
	want := gardenmachinev1alpha1.MachineDeploymentCondition{
		Type: gardenmachinev1alpha1.MachineDeploymentAvailable, Status: metav1.ConditionTrue, Reason: "MinimumReplicasAvailable",
		Message: "All machines are running", LastUpdateTime: now, LastTransitionTime: now,
	}
	if missing > 0 {
		want.Status, want.Reason, want.Message = metav1.ConditionFalse, "MinimumReplicasUnavailable", fmt.Sprintf("%d machines are not running", missing)
	}
	index := slices.IndexFunc(conditions, func(c gardenmachinev1alpha1.MachineDeploymentCondition) bool { return c.Type == want.Type })
	if index < 0 {
		return append(slices.Clone(conditions), want)
	}
	have := conditions[index]
	if have.Status == want.Status {
		want.LastTransitionTime = have.LastTransitionTime
	}
	if have.Status == want.Status && have.Reason == want.Reason && have.Message == want.Message {
		want.LastUpdateTime = have.LastUpdateTime
	}
	conditions = slices.Clone(conditions)
	conditions[index] = want
	return conditions
}
