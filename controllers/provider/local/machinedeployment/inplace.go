// SPDX-License-Identifier: Apache-2.0

package machinedeployment

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenmachinev1alpha1 "github.com/terrarium-garden/terrarium/apis/machine/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/machines"
)

// labelName is the label of Machines with the name of their deployment.
const labelName = "name"

// deploymentOf asks for a pass on the deployment of a Machine, which may have turned out to be in need of an update in place.
func deploymentOf(_ context.Context, machine client.Object) []reconcile.Request {
	name := machine.GetLabels()[labelName]
	if name == "" {
		return nil
	}
	return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: machine.GetNamespace(), Name: name}}}
}

// automatic reports whether this controller selects the machines that are updated in place.
func (s *scope) automatic() bool {
	strategy := s.deployment.Spec.Strategy.InPlaceUpdate
	return strategy != nil && strategy.OrchestrationType == gardenmachinev1alpha1.OrchestrationTypeAuto
}

// updates reports whether machines are updated in place, or are to be.
func (s *scope) updates() bool {
	return s.automatic() && slices.ContainsFunc(s.machines, func(m gardenmachinev1alpha1.Machine) bool {
		return m.DeletionTimestamp == nil && (machines.Outdated(&m) || selected(&m))
	})
}

func selected(m *gardenmachinev1alpha1.Machine) bool {
	return m.Labels[gardenmachinev1alpha1.LabelNodeSelectedForUpdate] != ""
}

// choose selects machines for their update in place.
func (r *Reconciler) choose(ctx context.Context, s *scope) (kit.Outcome, error) {
	replicas := int(s.deployment.Spec.Replicas)
	if !s.automatic() || replicas == 0 {
		return kit.Continue(), nil
	}
	limits, err := LimitsOf(s.deployment.Spec.Strategy, replicas)
	if err != nil {
		return kit.Stop(), kit.UserMustFix("InvalidStrategy", fmt.Errorf("machine deployment %q: spec.strategy: %w", s.deployment.Name, err))
	}
	for _, m := range Choose(replicas, limits, s.machines) {
		before := m.DeepCopy()
		metav1.SetMetaDataLabel(&m.ObjectMeta, gardenmachinev1alpha1.LabelNodeSelectedForUpdate, gardenmachinev1alpha1.UpdateTrue)
		if err := r.Client.Patch(ctx, m, client.MergeFrom(before)); client.IgnoreNotFound(err) != nil {
			return kit.Stop(), fmt.Errorf("select machine %q for its update: %w", m.Name, err)
		}
	}
	return kit.Continue(), nil
}

// Choose returns the machines whose update in place begins now. Those that do not run go first, because their update takes nothing away, but not
// more than may be missing: they may run again before they are drained. Of the others so many go that as many run as have to; a machine whose
// update has failed does not run, so no further one follows it.
func Choose(replicas int, limits Limits, all []gardenmachinev1alpha1.Machine) []*gardenmachinev1alpha1.Machine {
	var candidates, chosen []*gardenmachinev1alpha1.Machine
	ready, budget := 0, limits.Unavailable-replicas
	for i := range all {
		m := &all[i]
		if m.DeletionTimestamp != nil || selected(m) {
			continue
		}
		budget++
		if runs(m) {
			ready++
		}
		if machines.Outdated(m) {
			candidates = append(candidates, m)
		}
	}
	slices.SortFunc(candidates, func(a, b *gardenmachinev1alpha1.Machine) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Name, b.Name))
	})
	for _, m := range candidates {
		if budget <= 0 || runs(m) && ready <= replicas-limits.Unavailable {
			break
		}
		if runs(m) {
			ready--
		}
		budget--
		chosen = append(chosen, m)
	}
	return chosen
}

func runs(m *gardenmachinev1alpha1.Machine) bool {
	return m.Status.CurrentStatus.Phase == gardenmachinev1alpha1.MachineRunning
}

func rank(m *gardenmachinev1alpha1.Machine) int {
	if runs(m) {
		return 1
	}
	return 0
}
