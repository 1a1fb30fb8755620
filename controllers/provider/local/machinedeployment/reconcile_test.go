// SPDX-License-Identifier: Apache-2.0

package machinedeployment_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenmachinev1alpha1 "github.com/terrarium-garden/terrarium/apis/machine/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/machinedeployment"
)

const (
	namespace = "shoot--dev--sprout"
	name      = namespace + "-worker"
)

func deployment(class string, replicas int32) *gardenmachinev1alpha1.MachineDeployment {
	labels := map[string]string{"name": name}
	one, none := intstr.FromInt32(1), intstr.FromInt32(0)
	return &gardenmachinev1alpha1.MachineDeployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: "deployment"},
		Spec: gardenmachinev1alpha1.MachineDeploymentSpec{
			Replicas: replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Strategy: gardenmachinev1alpha1.MachineDeploymentStrategy{RollingUpdate: &gardenmachinev1alpha1.RollingUpdateMachineDeployment{
				UpdateConfiguration: gardenmachinev1alpha1.UpdateConfiguration{MaxSurge: &one, MaxUnavailable: &none},
			}},
			Template: gardenmachinev1alpha1.MachineTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       gardenmachinev1alpha1.MachineSpec{Class: gardenmachinev1alpha1.ClassSpec{Kind: "MachineClass", Name: class}},
			},
		},
	}
}

// seed has no machines; the test makes them for the sets that it finds.
type seed struct {
	client.Client

	reconciler *machinedeployment.Reconciler
}

func newSeed(t *testing.T, objects ...client.Object) *seed {
	t.Helper()
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	s := &seed{Client: fake.NewClientBuilder().WithScheme(types).WithObjects(objects...).WithStatusSubresource(
		&gardenmachinev1alpha1.MachineDeployment{}, &gardenmachinev1alpha1.MachineSet{}, &gardenmachinev1alpha1.Machine{}).Build()}
	clock := clocktesting.NewFakeClock(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))
	s.reconciler = &machinedeployment.Reconciler{Base: kit.Base{Client: s, Reader: s, Clock: clock}}
	return s
}

func (s *seed) run(t *testing.T) {
	t.Helper()
	request := reconcile.Request{NamespacedName: client.ObjectKey{Namespace: namespace, Name: name}}
	if _, err := s.reconciler.Reconcile(t.Context(), request); err != nil {
		t.Fatal(err)
	}
}

// replicas maps the class of each set to the number of machines that it wants.
func (s *seed) replicas(t *testing.T) map[string]int32 {
	t.Helper()
	list := &gardenmachinev1alpha1.MachineSetList{}
	if err := s.List(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	result := map[string]int32{}
	for _, set := range list.Items {
		if set.DeletionTimestamp == nil {
			result[set.Spec.Template.Spec.Class.Name] = set.Spec.Replicas
		}
	}
	return result
}

// fill gives every set the machines that it wants, all of them running.
func (s *seed) fill(t *testing.T) {
	t.Helper()
	sets := &gardenmachinev1alpha1.MachineSetList{}
	if err := s.List(t.Context(), sets); err != nil {
		t.Fatal(err)
	}
	if err := s.DeleteAllOf(t.Context(), &gardenmachinev1alpha1.Machine{}, client.InNamespace(namespace)); err != nil {
		t.Fatal(err)
	}
	for _, set := range sets.Items {
		for i := range set.Spec.Replicas {
			m := &gardenmachinev1alpha1.Machine{ObjectMeta: metav1.ObjectMeta{
				Namespace: namespace, Name: set.Name + "-" + string('a'+i), Labels: set.Spec.Template.Labels,
			}}
			m.Status.CurrentStatus.Phase = gardenmachinev1alpha1.MachineRunning
			if err := s.Create(t.Context(), m); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func (s *seed) deployment(t *testing.T) *gardenmachinev1alpha1.MachineDeployment {
	t.Helper()
	d := &gardenmachinev1alpha1.MachineDeployment{}
	if err := s.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, d); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestReplace(t *testing.T) {
	t.Parallel()
	s := newSeed(t, deployment("first", 2))
	s.run(t)
	steps := []map[string]int32{{"first": 2}}
	s.fill(t)
	d := s.deployment(t)
	d.Spec.Template.Spec.Class.Name = "second"
	if err := s.Update(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	for range 6 {
		s.run(t)
		if diff := cmp.Diff(steps[len(steps)-1], s.replicas(t)); diff != "" {
			steps = append(steps, s.replicas(t))
		}
		s.fill(t)
	}
	s.run(t)
	want := []map[string]int32{
		{"first": 2}, {"first": 2, "second": 1}, {"first": 1, "second": 1}, {"first": 1, "second": 2}, {"first": 0, "second": 2}, {"second": 2},
	}
	if diff := cmp.Diff(want, steps); diff != "" {
		t.Errorf("machines are replaced one at a time, and the old set goes with its last one (-want +got):\n%s", diff)
	}
	status := s.deployment(t).Status
	if status.Replicas != 2 || status.UpdatedReplicas != 2 || status.AvailableReplicas != 2 || status.Conditions[0].Status != metav1.ConditionTrue {
		t.Errorf("the status is %+v", status)
	}
}

// TestTemplateReachesMachines: only another class makes another set; what a pool says about its nodes reaches the set that exists.
func TestTemplateReachesMachines(t *testing.T) {
	t.Parallel()
	s := newSeed(t, deployment("first", 1))
	s.run(t)
	d := s.deployment(t)
	d.Spec.Template.Spec.NodeTemplate.Labels = map[string]string{"color": "green"}
	d.Spec.Template.Spec.DrainTimeout = &metav1.Duration{Duration: time.Minute}
	if err := s.Update(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	s.run(t)
	sets := &gardenmachinev1alpha1.MachineSetList{}
	if err := s.List(t.Context(), sets); err != nil {
		t.Fatal(err)
	}
	if len(sets.Items) != 1 {
		t.Fatalf("there are %d sets", len(sets.Items))
	}
	if diff := cmp.Diff(d.Spec.Template.Spec, sets.Items[0].Spec.Template.Spec); diff != "" {
		t.Errorf("the template of the set (-want +got):\n%s", diff)
	}
}

// TestAdopt: sets that were there before the deployment are its own, if nobody else has them.
// TestPreservation: the set keeps as many failed machines as the deployment says, but none while machines are replaced.
func TestPreservation(t *testing.T) {
	t.Parallel()
	d := deployment("first", 2)
	d.Spec.AutoPreserveFailedMachineMax = 1
	s := newSeed(t, d)
	s.run(t)
	s.fill(t)
	sets := func() map[string]gardenmachinev1alpha1.MachineSet {
		list := &gardenmachinev1alpha1.MachineSetList{}
		if err := s.List(t.Context(), list); err != nil {
			t.Fatal(err)
		}
		all := map[string]gardenmachinev1alpha1.MachineSet{}
		for _, set := range list.Items {
			all[set.Spec.Template.Spec.Class.Name] = set
		}
		return all
	}
	first := sets()["first"]
	if got := first.Spec.AutoPreserveFailedMachineMax; got != 1 {
		t.Errorf("the set keeps %d failed machines, want 1", got)
	}
	first.Status.PreservedFailedReplicas = 1
	if err := s.Status().Update(t.Context(), &first); err != nil {
		t.Fatal(err)
	}
	s.run(t)
	if got := s.deployment(t).Status.PreservedFailedReplicas; got != 1 {
		t.Errorf("the deployment tells of %d machines that are kept, want 1", got)
	}
	d = s.deployment(t)
	d.Spec.Template.Spec.Class.Name = "second"
	if err := s.Update(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	s.run(t)
	for class, set := range sets() {
		if got := set.Spec.AutoPreserveFailedMachineMax; got != 0 {
			t.Errorf("while machines are replaced, the set of class %q keeps %d failed machines, want 0", class, got)
		}
	}
}

func TestAdopt(t *testing.T) {
	t.Parallel()
	mine, other := machinedeployment.NewSet(deployment("first", 2)), machinedeployment.NewSet(deployment("other", 2))
	mine.Spec.Replicas, other.Spec.Replicas = 2, 2
	other.OwnerReferences = []metav1.OwnerReference{{APIVersion: "x/v1", Kind: "X", Name: "x", UID: types.UID("x"), Controller: new(true)}}
	s := newSeed(t, deployment("first", 2), mine, other)
	s.run(t)
	if diff := cmp.Diff(map[string]int32{"first": 2, "other": 2}, s.replicas(t)); diff != "" {
		t.Errorf("sets (-want +got):\n%s", diff)
	}
	if err := s.Get(t.Context(), client.ObjectKeyFromObject(mine), mine); err != nil || !metav1.IsControlledBy(mine, deployment("first", 2)) {
		t.Errorf("owners of the set are %+v, %v", mine.OwnerReferences, err)
	}
}

// TestDelete: a deployment stays until its sets are gone.
func TestDelete(t *testing.T) {
	t.Parallel()
	s := newSeed(t, deployment("first", 1))
	s.run(t)
	if err := s.Delete(t.Context(), s.deployment(t)); err != nil {
		t.Fatal(err)
	}
	s.run(t)
	s.deployment(t)
	set := &gardenmachinev1alpha1.MachineSetList{}
	if err := s.List(t.Context(), set); err != nil || len(set.Items) != 1 || set.Items[0].DeletionTimestamp == nil {
		t.Fatalf("the set is not being deleted: %+v, %v", set.Items, err)
	}
	set.Items[0].Finalizers = nil
	if err := s.Update(t.Context(), &set.Items[0]); err != nil {
		t.Fatal(err)
	}
	s.run(t)
	if err := s.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, &gardenmachinev1alpha1.MachineDeployment{}); err == nil {
		t.Error("the deployment stays without a set")
	}
}

// TestPaused: a deployment that is paused is left alone.
func TestPaused(t *testing.T) {
	t.Parallel()
	d := deployment("first", 1)
	d.Spec.Paused = true
	s := newSeed(t, d)
	s.run(t)
	if got := s.replicas(t); len(got) != 0 {
		t.Errorf("sets were made: %v", got)
	}
}
