// SPDX-License-Identifier: Apache-2.0

package machineset_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenmachinev1alpha1 "github.com/terrarium-garden/terrarium/apis/machine/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/machineset"
)

const (
	namespace = "shoot--dev--sprout"
	name      = namespace + "-worker-1"
)

func now() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }

// machine has an age in minutes, and a priority unless it is empty.
func machine(name string, phase gardenmachinev1alpha1.MachinePhase, age int, priority string) gardenmachinev1alpha1.Machine {
	m := gardenmachinev1alpha1.Machine{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Name: name, CreationTimestamp: metav1.NewTime(now().Add(-time.Duration(age) * time.Minute)), Labels: labels(),
	}}
	m.Status.CurrentStatus.Phase = phase
	if priority != "" {
		m.Annotations = map[string]string{gardenmachinev1alpha1.AnnotationPriority: priority}
	}
	return m
}

// broken failed before so many minutes, and is kept for so many more unless these are 0.
func broken(name string, ago int, wish string, minutes int) gardenmachinev1alpha1.Machine {
	m := machine(name, gardenmachinev1alpha1.MachineFailed, 60, "")
	m.Status.CurrentStatus.LastUpdateTime = metav1.NewTime(now().Add(-time.Duration(ago) * time.Minute))
	if wish != "" {
		m.Annotations = map[string]string{gardenmachinev1alpha1.AnnotationPreserve: wish}
	}
	if minutes != 0 {
		m.Status.CurrentStatus.PreserveExpiryTime = new(metav1.NewTime(now().Add(time.Duration(minutes) * time.Minute)))
	}
	return m
}

func labels() map[string]string {
	return map[string]string{"name": "worker", "machine-template-hash": "1"}
}

func TestDecide(t *testing.T) {
	t.Parallel()
	const (
		running = gardenmachinev1alpha1.MachineRunning
		pending = gardenmachinev1alpha1.MachinePending
		failed  = gardenmachinev1alpha1.MachineFailed
	)
	leaving := machine("leaving", running, 5, "")
	leaving.DeletionTimestamp = new(metav1.NewTime(now()))
	type machines = []gardenmachinev1alpha1.Machine
	cases := map[string]struct {
		reason    string
		replicas  int32
		preserved int32
		machines  machines
		want      machineset.Plan
	}{
		"Empty":    {reason: "all are made at once", replicas: 2, want: machineset.Plan{Create: 2}},
		"Complete": {reason: "nothing is done to a set that is as wanted", replicas: 2, machines: machines{machine("a", running, 1, ""), machine("b", pending, 1, "")}},
		"Failed": {
			reason: "a failed machine is replaced", replicas: 2, machines: machines{machine("a", running, 1, ""), machine("b", failed, 1, "")},
			want: machineset.Plan{Create: 1, Delete: []string{"b"}},
		},
		"Leaving": {reason: "a machine that is being deleted does not count", replicas: 1, machines: machines{leaving}, want: machineset.Plan{Create: 1}},
		"ScaleDown": {
			reason: "machines that are not running go first, then the youngest", replicas: 2,
			machines: machines{machine("oldest", running, 9, ""), machine("young", running, 2, ""), machine("middle", running, 5, ""), machine("pending", pending, 8, "")},
			want:     machineset.Plan{Delete: []string{"pending", "young"}},
		},
		"Priority": {
			reason: "the annotation counts more than all else, and a word that is not a number is ignored", replicas: 2,
			machines: machines{machine("worthless", running, 9, "1"), machine("pending", pending, 5, ""), machine("worthy", pending, 2, "5"), machine("words", running, 5, "high")},
			want:     machineset.Plan{Delete: []string{"pending", "worthless"}},
		},
		"Preserved": {
			reason: "the set keeps as many failed machines as it may, those that have failed first, and they count", replicas: 4, preserved: 2,
			machines: machines{machine("a", running, 1, ""), broken("late", 1, "", 0), broken("first", 9, "", 0), broken("second", 5, "", 0)},
			want:     machineset.Plan{Create: 1, Delete: []string{"late"}, Preserve: []string{"first", "second"}},
		},
		"PreservedBefore": {
			reason: "those that it keeps already count", replicas: 2, preserved: 1,
			machines: machines{broken("kept", 9, "auto-preserved", 60), broken("next", 1, "", 0)},
			want:     machineset.Plan{Create: 1, Delete: []string{"next"}},
		},
		"PreservedFewer": {
			reason: "when it may keep fewer, those whose time ends first go", replicas: 3, preserved: 1,
			machines: machines{broken("sooner", 9, "auto-preserved", 30), broken("new", 1, "auto-preserved", 0), broken("later", 5, "auto-preserved", 60)},
			want:     machineset.Plan{Create: 2, Delete: []string{"later", "sooner"}},
		},
		"Asked": {
			reason: "what its owner keeps does not count for the set", replicas: 3, preserved: 1,
			machines: machines{broken("now", 9, "now", 60), broken("when-failed", 9, "when-failed", 0), broken("auto", 1, "", 0)},
			want:     machineset.Plan{Preserve: []string{"auto"}},
		},
		"Refused": {
			reason: "its owner wants this one replaced", replicas: 1, preserved: 1, machines: machines{broken("a", 1, "false", 60)},
			want: machineset.Plan{Create: 1, Delete: []string{"a"}},
		},
		"Over": {
			reason: "its time is over", replicas: 2, preserved: 2, machines: machines{broken("auto", 1, "auto-preserved", -1), broken("asked", 1, "when-failed", -1)},
			want: machineset.Plan{Create: 2, Delete: []string{"asked", "auto"}},
		},
		"PreservedScaleDown": {
			reason: "of too many machines those that are kept go last, and none is kept to be deleted", replicas: 1, preserved: 2,
			machines: machines{machine("a", running, 9, ""), broken("kept", 1, "when-failed", 60), broken("next", 1, "", 0)},
			want:     machineset.Plan{Delete: []string{"a", "next"}},
		},
		"PreservedAsleep": {
			reason: "a shoot that sleeps has no machines", preserved: 2, machines: machines{broken("kept", 1, "when-failed", 60), broken("next", 1, "", 0)},
			want: machineset.Plan{Delete: []string{"kept", "next"}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, machineset.Decide(machineset.Wanted{Replicas: tc.replicas, Preserved: tc.preserved}, tc.machines, now())); diff != "" {
				t.Errorf("%s\nDecide(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// seed has no machines behind its Machines.
type seed struct {
	client.Client

	reconciler *machineset.Reconciler
	clock      *clocktesting.FakeClock
}

func newSeed(t *testing.T, replicas int32, objects ...client.Object) *seed {
	t.Helper()
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	set := &gardenmachinev1alpha1.MachineSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: "set"},
		Spec: gardenmachinev1alpha1.MachineSetSpec{
			Replicas: replicas, Selector: &metav1.LabelSelector{MatchLabels: labels()},
			Template: gardenmachinev1alpha1.MachineTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels()},
				Spec:       gardenmachinev1alpha1.MachineSpec{Class: gardenmachinev1alpha1.ClassSpec{Kind: "MachineClass", Name: "first"}},
			},
		},
	}
	s := &seed{Client: fake.NewClientBuilder().WithScheme(types).WithObjects(append(objects, set)...).
		WithStatusSubresource(&gardenmachinev1alpha1.MachineSet{}, &gardenmachinev1alpha1.Machine{}).Build(), clock: clocktesting.NewFakeClock(now())}
	count := 0
	s.reconciler = &machineset.Reconciler{Base: kit.Base{Client: s, Reader: s, Clock: s.clock}, Random: func(n int) string {
		count++
		return fmt.Sprintf("%0*d", n, count)
	}}
	return s
}

func (s *seed) run(t *testing.T) reconcile.Result {
	t.Helper()
	result, err := s.reconciler.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Namespace: namespace, Name: name}})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func (s *seed) machines(t *testing.T) map[string]gardenmachinev1alpha1.Machine {
	t.Helper()
	list := &gardenmachinev1alpha1.MachineList{}
	if err := s.List(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	result := map[string]gardenmachinev1alpha1.Machine{}
	for _, m := range list.Items {
		result[m.Name] = m
	}
	return result
}

func (s *seed) set(t *testing.T) *gardenmachinev1alpha1.MachineSet {
	t.Helper()
	set := &gardenmachinev1alpha1.MachineSet{}
	if err := s.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, set); err != nil {
		t.Fatal(err)
	}
	return set
}

func TestReplaces(t *testing.T) {
	t.Parallel()
	s := newSeed(t, 2)
	s.run(t)
	s.run(t)
	machines := s.machines(t)
	if len(machines) != 2 {
		t.Fatalf("%d machines, want 2: %v", len(machines), machines)
	}
	lost := machines[name+"-00001"]
	if !metav1.IsControlledBy(&lost, s.set(t)) || lost.Spec.Class.Name != "first" || lost.Labels["machine-template-hash"] != "1" {
		t.Errorf("a machine is made from the template: %+v", lost)
	}
	lost.Status.CurrentStatus.Phase = gardenmachinev1alpha1.MachineFailed
	lost.Status.LastOperation = gardenmachinev1alpha1.LastOperation{
		State: gardenmachinev1alpha1.MachineStateFailed, Description: "it broke", LastUpdateTime: metav1.NewTime(now()),
	}
	if err := s.Status().Update(t.Context(), &lost); err != nil {
		t.Fatal(err)
	}
	s.run(t)
	machines = s.machines(t)
	if lost := machines[name+"-00001"]; lost.DeletionTimestamp == nil || len(machines) != 3 {
		t.Errorf("the failed machine is not replaced: %+v", machines)
	}
	status := s.set(t).Status
	if status.Replicas != 2 || len(status.FailedMachines) != 1 || status.LastOperation.Description != "it broke" {
		t.Errorf("the status is %+v", status)
	}
}

// TestKeepsAFailedMachine: the set keeps one of two failed machines, says so, and replaces it when its time is over.
func TestKeepsAFailedMachine(t *testing.T) {
	t.Parallel()
	first, second := broken("first", 9, "", 0), broken("second", 1, "", 0)
	s := newSeed(t, 2, &first, &second)
	set := s.set(t)
	set.Spec.AutoPreserveFailedMachineMax = 1
	if err := s.Update(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	s.run(t)
	machines := s.machines(t)
	if kept, found := machines["first"]; !found || kept.Annotations[gardenmachinev1alpha1.AnnotationPreserve] != "auto-preserved" || len(machines) != 2 {
		t.Fatalf("the machine that failed first is not kept, or the other not replaced: %+v", machines)
	}
	first = machines["first"]
	first.Status.CurrentStatus.PreserveExpiryTime = new(metav1.NewTime(now().Add(time.Hour))) // as the controller of machines does
	if err := s.Status().Update(t.Context(), &first); err != nil {
		t.Fatal(err)
	}
	s.clock.Step(59 * time.Minute)
	if after := s.run(t).RequeueAfter; after != time.Minute {
		t.Errorf("the set is looked at after %v, want it when the time of the machine is over", after)
	}
	if status := s.set(t).Status; status.PreservedFailedReplicas != 1 || status.Replicas != 2 {
		t.Errorf("the status is %+v", status)
	}
	s.clock.Step(time.Minute)
	if after := s.run(t).RequeueAfter; after != 0 {
		t.Errorf("the set is looked at after %v, although it keeps nothing", after)
	}
	if _, found := s.machines(t)["first"]; found || len(s.machines(t)) != 2 || s.set(t).Status.PreservedFailedReplicas != 0 {
		t.Errorf("the machine is not replaced after its time: %+v", s.machines(t))
	}
}

// TestTemplateReachesMachines: what a pool says about nodes and timeouts needs no new machine.
func TestTemplateReachesMachines(t *testing.T) {
	t.Parallel()
	s := newSeed(t, 1)
	s.run(t)
	set := s.set(t)
	set.Spec.Template.Spec.NodeTemplate.Labels = map[string]string{"color": "green"}
	set.Spec.Template.Spec.DrainTimeout = &metav1.Duration{Duration: time.Minute}
	if err := s.Update(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	s.run(t)
	m, found := s.machines(t)[name+"-00001"]
	if !found || m.Spec.NodeTemplate.Labels["color"] != "green" || m.Spec.DrainTimeout == nil {
		t.Errorf("the machine is %+v", m)
	}
}

// TestAdopts: Machines that were there before the set are its own, as after an upgrade or a restoration.
func TestAdopts(t *testing.T) {
	t.Parallel()
	mine, other := machine("mine", "", 1, ""), machine("other", "", 1, "")
	other.OwnerReferences = []metav1.OwnerReference{{APIVersion: "x/v1", Kind: "X", Name: "x", UID: "x", Controller: new(true)}}
	s := newSeed(t, 1, &mine, &other)
	s.run(t)
	if mine = s.machines(t)["mine"]; !metav1.IsControlledBy(&mine, s.set(t)) || len(s.machines(t)) != 2 {
		t.Errorf("machines are %+v", s.machines(t))
	}
}

func TestDelete(t *testing.T) {
	t.Parallel()
	s := newSeed(t, 1)
	s.run(t)
	if err := s.Delete(t.Context(), s.set(t)); err != nil {
		t.Fatal(err)
	}
	s.run(t)
	m := s.machines(t)[name+"-00001"]
	if s.set(t); m.DeletionTimestamp == nil {
		t.Fatal("the machine is not being deleted")
	}
	m.Finalizers = nil
	if err := s.Update(t.Context(), &m); err != nil {
		t.Fatal(err)
	}
	s.run(t)
	if err := s.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, &gardenmachinev1alpha1.MachineSet{}); err == nil {
		t.Error("the set stays without a machine")
	}
}
