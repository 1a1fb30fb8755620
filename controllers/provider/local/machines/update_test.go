// SPDX-License-Identifier: Apache-2.0

package machines_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	gardenmachinev1alpha1 "github.com/terrarium-garden/terrarium/apis/machine/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/machinepod"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/machines"
)

// inPlace is a machine of a pool that is updated in place, for the state first.
func inPlace(strategy string) func(*gardenmachinev1alpha1.Machine) {
	return func(m *gardenmachinev1alpha1.Machine) {
		m.Spec.NodeTemplate.Annotations = map[string]string{
			gardenmachinev1alpha1.AnnotationInPlaceWanted: "first", gardenmachinev1alpha1.AnnotationInPlaceStrategy: strategy,
		}
	}
}

func (w *world) node(t *testing.T) *corev1.Node {
	t.Helper()
	node := &corev1.Node{}
	if err := w.shoot.Get(t.Context(), client.ObjectKey{Name: podName}, node); err != nil {
		t.Fatal(err)
	}
	return node
}

func (w *world) changeNode(t *testing.T, change func(*corev1.Node)) {
	t.Helper()
	node := w.node(t)
	change(node)
	if err := w.shoot.Update(t.Context(), node); err != nil {
		t.Fatal(err)
	}
}

// applied is what the agent of the node says when it has updated it.
func applied(hash string) func(*corev1.Node) {
	return func(n *corev1.Node) {
		metav1.SetMetaDataAnnotation(&n.ObjectMeta, gardenmachinev1alpha1.AnnotationInPlaceApplied, hash)
		metav1.SetMetaDataLabel(&n.ObjectMeta, gardenmachinev1alpha1.LabelNodeUpdateResult, gardenmachinev1alpha1.UpdateSuccessful)
	}
}

func (w *world) changeMachine(t *testing.T, change func(*gardenmachinev1alpha1.Machine)) {
	t.Helper()
	m := w.machine(t)
	change(m)
	if err := w.Update(t.Context(), m); err != nil {
		t.Fatal(err)
	}
}

func wants(hash string) func(*gardenmachinev1alpha1.Machine) {
	return func(m *gardenmachinev1alpha1.Machine) {
		m.Spec.NodeTemplate.Annotations[gardenmachinev1alpha1.AnnotationInPlaceWanted] = hash
	}
}

func chosen(m *gardenmachinev1alpha1.Machine) {
	metav1.SetMetaDataLabel(&m.ObjectMeta, gardenmachinev1alpha1.LabelNodeSelectedForUpdate, gardenmachinev1alpha1.UpdateTrue)
}

func (w *world) reason(t *testing.T) string {
	t.Helper()
	for _, c := range w.node(t).Status.Conditions {
		if c.Type == gardenmachinev1alpha1.NodeInPlaceUpdate {
			return c.Reason
		}
	}
	return ""
}

func (w *world) phase(t *testing.T) gardenmachinev1alpha1.MachinePhase {
	t.Helper()
	return w.machine(t).Status.CurrentStatus.Phase
}

// TestUpdatesInPlace: a machine that is chosen is drained, restarted with its new image, and given to its agent. Machine, pod and node stay.
func TestUpdatesInPlace_GLET_STAT_1(t *testing.T) {
	t.Parallel()
	w := newWorld(t, inPlace("AutoInPlaceUpdate"), "data")
	w.join(t)
	w.changeNode(t, applied("first"))
	w.mustRun(t)
	if m := w.machine(t); !updated(m) || machines.Outdated(m) {
		t.Fatalf("the machine has what it is to have, and is not taken for it: %v", m.Annotations)
	}
	pod, _ := w.pod(t)
	node := w.node(t)
	w.changeMachine(t, wants("second"))
	w.mustRun(t)
	if m := w.machine(t); !machines.Outdated(m) || w.phase(t) != gardenmachinev1alpha1.MachineRunning || len(w.evicted) > 0 || w.node(t).Spec.Unschedulable {
		t.Fatalf("nobody has chosen the machine: outdated %t, phase %s, evicted %q", machines.Outdated(m), w.phase(t), w.evicted)
	}
	if got := w.node(t).Labels[gardenmachinev1alpha1.LabelNodeCandidateForUpdate]; got != "true" {
		t.Errorf("the node is a candidate, and its label says %q", got)
	}
	// The owner of the shoot does not choose in a pool that updates itself.
	w.changeNode(t, func(n *corev1.Node) { n.Labels[gardenmachinev1alpha1.LabelNodeSelectedForUpdate] = "true" })
	w.mustRun(t)
	if w.phase(t) != gardenmachinev1alpha1.MachineRunning {
		t.Fatalf("the owner has chosen a machine that is not the owner's to choose: %s", w.phase(t))
	}
	class := &gardenmachinev1alpha1.MachineClass{}
	if err := w.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "class"}, class); err != nil {
		t.Fatal(err)
	}
	class.ProviderSpec, _ = machinepod.Spec{Image: "machine:v2"}.Raw()
	if err := w.Update(t.Context(), class); err != nil {
		t.Fatal(err)
	}
	w.changeMachine(t, chosen)
	w.mustRun(t) // evicts
	if diff := cmp.Diff([]string{"app"}, w.evicted); diff != "" || !w.node(t).Spec.Unschedulable || w.reason(t) != gardenmachinev1alpha1.ReasonSelected {
		t.Fatalf("evicted (-want +got):\n%s\ncondition %q", diff, w.reason(t))
	}
	w.mustRun(t) // restarts
	if now, _ := w.pod(t); now.UID != pod.UID || now.Spec.Containers[0].Image != "machine:v2" || w.reason(t) == gardenmachinev1alpha1.ReasonReadyForUpdate {
		t.Fatalf("the pod has the image %q, and its node is %q", now.Spec.Containers[0].Image, w.reason(t))
	}
	w.mustRun(t)
	if w.reason(t) != gardenmachinev1alpha1.ReasonReadyForUpdate || w.phase(t) != gardenmachinev1alpha1.MachineInPlaceUpdating {
		t.Fatalf("the agent waits for the word: condition %q, phase %s", w.reason(t), w.phase(t))
	}
	w.changeNode(t, applied("second"))
	w.mustRun(t)
	m, after := w.machine(t), w.node(t)
	if w.phase(t) != gardenmachinev1alpha1.MachineRunning || !updated(m) || w.reason(t) != gardenmachinev1alpha1.ReasonUpdateSuccessful {
		t.Errorf("the machine is updated: phase %s, %v, condition %q", w.phase(t), m.Annotations, w.reason(t))
	}
	if after.UID != node.UID || after.Spec.Unschedulable || len(after.Labels) > 0 {
		t.Errorf("the node is given back: unschedulable %t, labels %v", after.Spec.Unschedulable, after.Labels)
	}
}

// TestOwnersChoose: a machine of a manual pool is updated once its node has the label, and a node that was cordoned before remains so.
func TestOwnersChoose_GLET_CRED_8(t *testing.T) {
	t.Parallel()
	w := newWorld(t, inPlace("ManualInPlaceUpdate"), "data")
	w.join(t)
	w.changeNode(t, applied("first"))
	w.mustRun(t)
	w.changeMachine(t, wants("second"))
	w.changeNode(t, func(n *corev1.Node) { n.Spec.Unschedulable = true })
	result, err := w.run(t)
	if err != nil || result.RequeueAfter > 10*time.Second || w.phase(t) != gardenmachinev1alpha1.MachineRunning {
		t.Fatalf("the owner may choose soon: %v after %s, phase %s", err, result.RequeueAfter, w.phase(t))
	}
	w.changeNode(t, func(n *corev1.Node) { n.Labels[gardenmachinev1alpha1.LabelNodeSelectedForUpdate] = "true" })
	for range 2 {
		w.mustRun(t)
	}
	if w.reason(t) != gardenmachinev1alpha1.ReasonReadyForUpdate {
		t.Fatalf("the owner has chosen: condition %q", w.reason(t))
	}
	w.changeNode(t, applied("second"))
	w.mustRun(t)
	if !updated(w.machine(t)) || !w.node(t).Spec.Unschedulable {
		t.Errorf("updated: %t, cordoned as before: %t", updated(w.machine(t)), w.node(t).Spec.Unschedulable)
	}
}

// TestUpdateTrouble: what goes wrong is told, the machine is not replaced, and it is updated when it goes well again.
func TestUpdateTrouble(t *testing.T) {
	t.Parallel()
	w := newWorld(t, inPlace("AutoInPlaceUpdate"), "data")
	w.join(t)
	w.changeNode(t, applied("first"))
	w.mustRun(t)
	w.changeMachine(t, wants("second"))
	w.mustRun(t)
	w.changeMachine(t, chosen)
	w.mustRun(t)
	w.mustRun(t)
	w.changeNode(t, func(n *corev1.Node) {
		metav1.SetMetaDataLabel(&n.ObjectMeta, gardenmachinev1alpha1.LabelNodeUpdateResult, gardenmachinev1alpha1.UpdateFailed)
		metav1.SetMetaDataAnnotation(&n.ObjectMeta, gardenmachinev1alpha1.AnnotationNodeUpdateFailedReason, "no such kubelet")
	})
	w.mustRun(t)
	says := func(want string) {
		t.Helper()
		if got := w.machine(t).Status.LastOperation.Description; w.phase(t) != gardenmachinev1alpha1.MachineInPlaceUpdateFailed || !strings.Contains(got, want) {
			t.Errorf("phase %s, %q, want that it has failed with %q", w.phase(t), got, want)
		}
	}
	says("no such kubelet")
	w.changeNode(t, func(n *corev1.Node) { delete(n.Labels, gardenmachinev1alpha1.LabelNodeUpdateResult) })
	w.clock.Step(time.Hour)
	w.mustRun(t)
	says("longer than 30m0s")
	w.changeNode(t, applied("second"))
	w.mustRun(t)
	if !updated(w.machine(t)) || w.phase(t) != gardenmachinev1alpha1.MachineRunning {
		t.Errorf("late is not never: phase %s", w.phase(t))
	}
}

// failOnce makes one write fail: that of the condition which ends an update, or that of the Machine after it.
func (w *world) failOnce(t *testing.T, write string) {
	t.Helper()
	failed := false
	refuse := func(this string) error {
		if failed || this != write || w.node(t).Labels[gardenmachinev1alpha1.LabelNodeSelectedForUpdate] != "" {
			return nil
		}
		failed = true
		return errors.New("the connection is lost")
	}
	t.Cleanup(func() {
		if !failed {
			t.Errorf("there was no write of the %s to fail", write)
		}
	})
	wrap := func(c client.Client) client.Client {
		base, ok := c.(client.WithWatch)
		if !ok {
			t.Fatalf("%T cannot be intercepted", c)
		}
		return interceptor.NewClient(base, interceptor.Funcs{
			Patch: func(ctx context.Context, c client.WithWatch, o client.Object, patch client.Patch, options ...client.PatchOption) error {
				if _, machine := o.(*gardenmachinev1alpha1.Machine); machine {
					if err := refuse("Machine"); err != nil {
						return err
					}
				}
				return c.Patch(ctx, o, patch, options...)
			},
			SubResourcePatch: func(ctx context.Context, c client.Client, of string, o client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
				if _, node := o.(*corev1.Node); node {
					if err := refuse("condition"); err != nil {
						return err
					}
				}
				return c.SubResource(of).Patch(ctx, o, patch, options...)
			},
		})
	}
	w.shoot, w.Client = wrap(w.shoot), wrap(w.Client)
}

// TestEndOfUpdateIsRepeated: an end that was cut short is taken up where it was. The node is not drained again, and is cordoned if it was before.
func TestEndOfUpdateIsRepeated(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		write    string
		cordoned bool
	}{
		"Condition": {"condition", false}, "ConditionCordoned": {"condition", true},
		"Machine": {"Machine", false}, "MachineCordoned": {"Machine", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, inPlace("AutoInPlaceUpdate"), "data")
			w.join(t)
			w.changeNode(t, applied("first"))
			w.mustRun(t)
			w.changeMachine(t, wants("second"))
			w.changeNode(t, func(n *corev1.Node) { n.Spec.Unschedulable = tc.cordoned })
			w.mustRun(t)
			w.changeMachine(t, chosen)
			w.mustRun(t)
			w.mustRun(t)
			w.changeNode(t, applied("second"))
			w.failOnce(t, tc.write)
			if _, err := w.run(t); err == nil {
				t.Fatal("Reconcile(...) succeeded without one of its writes")
			}
			w.clock.Step(time.Minute)
			drained := len(w.evicted)
			again := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "again"}, Spec: corev1.PodSpec{NodeName: podName}}
			if err := w.shoot.Create(t.Context(), again); err != nil {
				t.Fatal(err)
			}
			w.mustRun(t)
			w.mustRun(t)
			after := w.node(t)
			if !updated(w.machine(t)) || w.reason(t) != gardenmachinev1alpha1.ReasonUpdateSuccessful || len(after.Labels) > 0 {
				t.Errorf("the update has ended: %v, condition %q, labels %v", w.machine(t).Labels, w.reason(t), after.Labels)
			}
			if after.Spec.Unschedulable != tc.cordoned || len(w.evicted) != drained {
				t.Errorf("cordoned: %t, want %t; drained again: %q", after.Spec.Unschedulable, tc.cordoned, w.evicted[drained:])
			}
		})
	}
}

// newUpdate is a machine that was chosen for an update in place, and whose update has begun.
func newUpdate(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, inPlace("AutoInPlaceUpdate"), "data")
	w.join(t)
	w.changeNode(t, applied("first"))
	w.mustRun(t)
	w.changeMachine(t, wants("second"))
	w.changeMachine(t, chosen)
	w.mustRun(t)

	return w
}

// TestNextUpdateDrains: a node that was given back is drained for its next update, though the end of the last one was cut short.
func TestNextUpdateDrains(t *testing.T) {
	t.Parallel()
	w := newUpdate(t)
	w.mustRun(t)
	w.changeNode(t, applied("second"))
	w.failOnce(t, "condition")
	if _, err := w.run(t); err == nil {
		t.Fatal("Reconcile(...) succeeded without one of its writes")
	}
	again := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "again"}, Spec: corev1.PodSpec{NodeName: podName}}
	if err := w.shoot.Create(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	w.changeMachine(t, wants("third"))
	w.changeNode(t, func(n *corev1.Node) { n.Spec.Unschedulable = true })
	w.mustRun(t)
	if diff := cmp.Diff([]string{"app", "again"}, w.evicted); diff != "" || w.reason(t) != gardenmachinev1alpha1.ReasonSelected {
		t.Errorf("condition %q, evicted (-want +got):\n%s", w.reason(t), diff)
	}
	if got := w.node(t).Annotations[gardenmachinev1alpha1.AnnotationCordonedBefore]; got == "" {
		t.Error("the owner has cordoned the node between the updates, and it is not noted")
	}
}

// TestUpdatedNodesAreGivenBack: a node whose label was removed during its update does not stay cordoned.
func TestUpdatedNodesAreGivenBack(t *testing.T) {
	t.Parallel()
	w := newUpdate(t)
	w.changeNode(t, func(n *corev1.Node) { delete(n.Labels, gardenmachinev1alpha1.LabelNodeSelectedForUpdate) })
	w.mustRun(t)
	w.changeNode(t, applied("second"))
	w.mustRun(t)
	if node := w.node(t); node.Spec.Unschedulable || len(node.Labels) > 0 || !updated(w.machine(t)) {
		t.Errorf("the node is given back: unschedulable %t, labels %v", node.Spec.Unschedulable, node.Labels)
	}
}

// updated reports whether a machine has been updated in place to the state that it is to have, and is done with it.
func updated(m *gardenmachinev1alpha1.Machine) bool { return machines.UpdatedTo(m, machines.Wanted(m)) }
