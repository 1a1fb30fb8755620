// SPDX-License-Identifier: Apache-2.0

package controllerregistration

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	autoscalingv1 "k8s.io/api/autoscaling/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

type order func(*gardencorev1beta1.Shoot)

func ordered(name, spec, status string, change ...order) *gardencorev1beta1.Shoot {
	s := &gardencorev1beta1.Shoot{}
	s.Name, s.Spec.Provider.Type = name, "local"
	if spec != "" {
		s.Spec.SeedName = &spec
	}
	if status != "" {
		s.Status.SeedName = &status
	}
	for _, c := range change {
		c(s)
	}
	return s
}

// TestTally_GCM_CR_1 has for each step the seeds that are decided upon again.
func TestTally_GCM_CR_1(t *testing.T) {
	t.Parallel()
	image := func(s *gardencorev1beta1.Shoot) {
		s.Spec.Provider.Workers = []gardencorev1beta1.Worker{{Machine: gardencorev1beta1.Machine{Image: &gardencorev1beta1.ShootMachineImage{Name: "linux"}}}}
	}
	set := newTally()
	for _, step := range []struct {
		reason string
		shoot  *gardencorev1beta1.Shoot
		gone   bool
		want   []string
	}{
		{reason: "a shoot without a seed needs nothing yet", shoot: ordered("a", "", "")},
		{reason: "the first one needs something", shoot: ordered("a", "one", ""), want: []string{"one"}},
		{reason: "its status changes nothing", shoot: ordered("a", "one", "one")},
		{reason: "one of the same sort needs the same", shoot: ordered("b", "one", "")},
		{reason: "on another seed that is something new", shoot: ordered("c", "two", ""), want: []string{"two"}},
		{reason: "so is another sort", shoot: ordered("d", "one", "", image), want: []string{"one"}},
		{reason: "a shoot that moves is on both seeds", shoot: ordered("d", "two", "one", image), want: []string{"two"}},
		{reason: "and takes its sort with it", shoot: ordered("d", "two", "two", image), want: []string{"one"}},
		{reason: "a shoot may become another sort", shoot: ordered("c", "two", "", image), want: []string{"two"}},
		{reason: "as long as there are others nothing can go", shoot: ordered("a", "one", "one"), gone: true},
		{reason: "with the last one of a sort something can", shoot: ordered("b", "one", ""), gone: true, want: []string{"one"}},
		{reason: "once", shoot: ordered("b", "one", ""), gone: true},
	} {
		note := set.set
		if step.gone {
			note = set.remove
		}
		if diff := cmp.Diff(step.want, note(step.shoot)); diff != "" {
			t.Errorf("%s\nseeds (-want +got):\n%s", step.reason, diff)
		}
	}
}

func TestSort_GCM_CR_1(t *testing.T) {
	t.Parallel()
	domain := func(name string) order {
		return func(s *gardencorev1beta1.Shoot) { s.Spec.DNS = &gardencorev1beta1.DNS{Domain: &name} }
	}
	worker := func(change func(*gardencorev1beta1.Worker)) order {
		return func(s *gardencorev1beta1.Shoot) {
			var w gardencorev1beta1.Worker
			change(&w)
			s.Spec.Provider.Workers = append(s.Spec.Provider.Workers, w)
		}
	}
	for name, tc := range map[string]struct {
		reason string
		a, b   []order
		same   bool
	}{
		"Name":   {reason: "names do not matter", b: []order{func(s *gardencorev1beta1.Shoot) { s.Name, s.Namespace = "x", "y" }}, same: true},
		"Domain": {reason: "nor does the first label of a domain", a: []order{domain("a.p.example")}, b: []order{domain("b.p.example")}, same: true},
		"Parent": {reason: "what is above it does", a: []order{domain("a.p.example")}, b: []order{domain("a.example")}},
		"DNS": {reason: "so does who hosts it", a: []order{domain("a.example")}, b: []order{func(s *gardencorev1beta1.Shoot) {
			s.Spec.DNS = &gardencorev1beta1.DNS{Domain: new("a.example"), Providers: []gardencorev1beta1.DNSProvider{
				{Type: new("x"), Primary: new(true), CredentialsRef: &autoscalingv1.CrossVersionObjectReference{Name: "x"}},
			}}
		}}},
		"Provider":  {reason: "the provider", b: []order{func(s *gardencorev1beta1.Shoot) { s.Spec.Provider.Type = "other" }}},
		"Network":   {reason: "the network", b: []order{func(s *gardencorev1beta1.Shoot) { s.Spec.Networking = &gardencorev1beta1.Networking{Type: new("x")} }}},
		"Extension": {reason: "an extension", b: []order{func(s *gardencorev1beta1.Shoot) { s.Spec.Extensions = []gardencorev1beta1.Extension{{Type: "x"}} }}},
		"Off": {reason: "one that is switched off", a: []order{func(s *gardencorev1beta1.Shoot) { s.Spec.Extensions = []gardencorev1beta1.Extension{{Type: "x"}} }}, b: []order{func(s *gardencorev1beta1.Shoot) {
			s.Spec.Extensions = []gardencorev1beta1.Extension{{Type: "x", Disabled: new(true)}}
		}}},
		"Workers": {reason: "that there are workers", b: []order{worker(func(*gardencorev1beta1.Worker) {})}},
		"Image":   {reason: "their image", a: []order{worker(func(*gardencorev1beta1.Worker) {})}, b: []order{worker(func(w *gardencorev1beta1.Worker) { w.Machine.Image = &gardencorev1beta1.ShootMachineImage{Name: "x"} })}},
		"Size":    {reason: "but not their number", a: []order{worker(func(*gardencorev1beta1.Worker) {})}, b: []order{worker(func(w *gardencorev1beta1.Worker) { w.Maximum = 7 })}, same: true},
		"Runtime": {reason: "and their runtimes", a: []order{worker(func(*gardencorev1beta1.Worker) {})}, b: []order{worker(func(w *gardencorev1beta1.Worker) {
			w.CRI = &gardencorev1beta1.CRI{ContainerRuntimes: []gardencorev1beta1.ContainerRuntime{{Type: "x"}}}
		})}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, b := sortOf(ordered("a", "", "", tc.a...)), sortOf(ordered("a", "", "", tc.b...))
			if (a == b) != tc.same {
				t.Errorf("%s\n%s\n%s", tc.reason, a, b)
			}
		})
	}
}
