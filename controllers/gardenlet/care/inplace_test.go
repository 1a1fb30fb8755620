// SPDX-License-Identifier: Apache-2.0

package care_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/care"
)

// TestPendingPoolsAreTold: pools that wait for their owner are a constraint, and their nodes are not behind as long.
func TestPendingPoolsAreTold_GLET_CONSTR_6(t *testing.T) {
	t.Parallel()
	s := shoot()
	if got := care.JudgeManual(s); got.Status != "" {
		t.Errorf("JudgeManual(...) = %v, want nothing to be shown", got)
	}
	world := healthy(func(w *care.World) {
		w.Nodes = []corev1.Node{node("True", func(n *corev1.Node) { n.Status.NodeInfo.KubeletVersion = "v1.36.2" })}
	})
	if got := care.JudgeNodes(s, world); got.Reason != gardencorev1beta1.ReasonKubeletVersionMismatch {
		t.Errorf("a node of another version: %s %s", got.Reason, got.Message)
	}
	s.Status.InPlaceUpdates = &gardencorev1beta1.InPlaceUpdatesStatus{PendingWorkerUpdates: &gardencorev1beta1.PendingWorkerUpdates{ManualInPlaceUpdate: []string{"small"}}}
	got := care.JudgeManual(s)
	want := gardencorev1beta1.Condition{
		Type: "ManualInPlaceWorkersUpdated", Status: "False", Reason: "WorkerPoolsWithManualInPlaceUpdateStrategyPending",
		Message: "Machines wait until their nodes get the label node.machine.sapcloud.io/selected-for-update=true, in the pools small",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("JudgeManual(...) (-want +got):\n%s", diff)
	}
	if got := care.JudgeNodes(s, world); got.Reason == gardencorev1beta1.ReasonKubeletVersionMismatch {
		t.Errorf("a node whose owner decides when it is updated: %s", got.Message)
	}
}
