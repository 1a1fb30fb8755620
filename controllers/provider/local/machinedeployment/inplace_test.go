// SPDX-License-Identifier: Apache-2.0

package machinedeployment_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	gardenmachinev1alpha1 "github.com/terrarium-garden/terrarium/apis/machine/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/machinedeployment"
)

// pooled is a machine in a phase that has been updated to a state; the state second is wanted.
func pooled(name, phase, applied string, chosen bool) gardenmachinev1alpha1.Machine {
	m := gardenmachinev1alpha1.Machine{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{}, Labels: map[string]string{}}}
	m.Spec.NodeTemplate.Annotations = map[string]string{gardenmachinev1alpha1.AnnotationInPlaceWanted: "second"}
	if applied != "" {
		m.Annotations[gardenmachinev1alpha1.AnnotationInPlaceApplied] = applied
	}
	if chosen {
		m.Labels[gardenmachinev1alpha1.LabelNodeSelectedForUpdate] = "true"
	}
	m.Status.CurrentStatus.Phase = gardenmachinev1alpha1.MachinePhase(phase)
	return m
}

// TestChoose: machines are updated in place one after the other, or as many at once as may be missing.
func TestChoose(t *testing.T) {
	t.Parallel()
	type all = []gardenmachinev1alpha1.Machine
	one := machinedeployment.Limits{Unavailable: 1}
	for name, tc := range map[string]struct {
		reason   string
		replicas int
		limits   machinedeployment.Limits
		machines all
		want     []string
	}{
		"first":      {"one may be missing", 2, one, all{pooled("b", "Running", "first", false), pooled("a", "Running", "first", false)}, []string{"a"}},
		"under way":  {"the next one follows when it is done", 2, one, all{pooled("a", "InPlaceUpdating", "first", true), pooled("b", "Running", "first", false)}, nil},
		"failed":     {"none follows a failure", 2, one, all{pooled("a", "InPlaceUpdateFailed", "first", true), pooled("b", "Running", "first", false)}, nil},
		"second":     {"it is done", 2, one, all{pooled("a", "Running", "second", false), pooled("b", "Running", "first", false)}, []string{"b"}},
		"done":       {"nothing is left", 2, one, all{pooled("a", "Running", "second", false), pooled("b", "Running", "second", false)}, nil},
		"new":        {"what has said nothing is just being made", 1, one, all{pooled("a", "Running", "", false)}, nil},
		"not ready":  {"its update takes nothing away", 2, one, all{pooled("a", "Running", "first", false), pooled("b", "Unknown", "first", false)}, []string{"b"}},
		"outage":     {"they may all run again in a moment", 2, one, all{pooled("a", "Unknown", "first", false), pooled("b", "Unknown", "first", false)}, []string{"a"}},
		"no surge":   {"none may be missing, and a further one is not there yet", 1, machinedeployment.Limits{Surge: 1}, all{pooled("a", "Running", "first", false)}, nil},
		"with surge": {"the further one takes the pods", 1, machinedeployment.Limits{Surge: 1}, all{pooled("a", "Running", "first", false), pooled("b", "Running", "second", false)}, []string{"a"}},
		"all":        {"all may be missing", 2, machinedeployment.Limits{Unavailable: 2}, all{pooled("a", "Running", "first", false), pooled("b", "Running", "first", false)}, []string{"a", "b"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, m := range machinedeployment.Choose(tc.replicas, tc.limits, tc.machines) {
				got = append(got, m.Name)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nChoose(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestUpdatesItsMachines runs the controller: machines are chosen, and further ones are made for the time of the update only.
func TestUpdatesItsMachines(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		who     gardenmachinev1alpha1.OrchestrationType
		chosen  string
		surging int32
	}{
		"automatic": {who: "Auto", chosen: "true", surging: 2}, "by hand": {who: "Manual", surging: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := deployment("class", 1)
			one := intstr.FromInt32(1)
			d.Spec.Strategy = gardenmachinev1alpha1.MachineDeploymentStrategy{
				Type: gardenmachinev1alpha1.InPlaceUpdateStrategy,
				InPlaceUpdate: &gardenmachinev1alpha1.InPlaceUpdateMachineDeployment{
					UpdateConfiguration: gardenmachinev1alpha1.UpdateConfiguration{MaxSurge: &one, MaxUnavailable: &one}, OrchestrationType: tc.who,
				},
			}
			s := newSeed(t, d)
			s.run(t)
			s.run(t)
			s.fill(t)
			list := &gardenmachinev1alpha1.MachineList{}
			if err := s.List(t.Context(), list); err != nil || len(list.Items) != 1 {
				t.Fatalf("machines %v, %v", list.Items, err)
			}
			m := &list.Items[0]
			m.Annotations = map[string]string{gardenmachinev1alpha1.AnnotationInPlaceApplied: "first"}
			m.Spec.NodeTemplate.Annotations = map[string]string{gardenmachinev1alpha1.AnnotationInPlaceWanted: "second"}
			if err := s.Update(t.Context(), m); err != nil {
				t.Fatal(err)
			}
			s.run(t)
			s.run(t)
			if err := s.List(t.Context(), list); err != nil {
				t.Fatal(err)
			}
			if got := list.Items[0].Labels[gardenmachinev1alpha1.LabelNodeSelectedForUpdate]; got != tc.chosen {
				t.Errorf("the machine is chosen: %q, want %q", got, tc.chosen)
			}
			if diff := cmp.Diff(map[string]int32{"class": tc.surging}, s.replicas(t)); diff != "" {
				t.Errorf("wanted machines (-want +got):\n%s", diff)
			}
		})
	}
}
