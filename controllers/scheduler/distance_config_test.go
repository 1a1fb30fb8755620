// SPDX-License-Identifier: Apache-2.0

package scheduler_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/scheduler"
)

func TestDistancesFrom(t *testing.T) {
	t.Parallel()
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "regions"}, Data: map[string]string{
		"north": "south: 40\neast: 10\n", "south": "south: 3\nnorth: 40\n", "empty": "", "none": "null", "word": "south: near", "half": "south: 1.5", "list": "- south",
	}}
	cases := map[string]struct {
		reason string
		region string
		want   map[string]int
		fails  bool
	}{
		"SCHED-REGION-2 itself":        {reason: "a region is at no distance from itself", region: "north", want: map[string]int{"north": 0, "south": 40, "east": 10}},
		"SCHED-REGION-2 itself, given": {reason: "unless it says so", region: "south", want: map[string]int{"south": 3, "north": 40}},
		"SCHED-REGION-2 no entry":      {reason: "no entry leaves it to the names", region: "west"},
		"SCHED-REGION-2 empty":         {reason: "an entry without regions knows itself alone", region: "empty", want: map[string]int{"empty": 0}},
		"SCHED-REGION-2 null":          {reason: "so does nothing at all", region: "none", want: map[string]int{"none": 0}},
		"SCHED-REGION-3 word":          {reason: "a distance is a number", region: "word", fails: true},
		"SCHED-REGION-3 fraction":      {reason: "a whole one", region: "half", fails: true},
		"SCHED-REGION-3 list":          {reason: "of a region", region: "list", fails: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := scheduler.DistancesFrom(config, tc.region)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nDistancesFrom(%q) (-want +got):\n%s", tc.reason, tc.region, diff)
			}
			if tc.fails != (err != nil) {
				t.Errorf("%s\nDistancesFrom(%q) error = %v, want one: %t", tc.reason, tc.region, err, tc.fails)
			}
		})
	}
}

// regions is a config map of distances.
func regions(name, profiles string, data map[string]string, change ...func(*corev1.ConfigMap)) *corev1.ConfigMap {
	m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: "garden", Name: name, Labels: map[string]string{"scheduling.gardener.cloud/purpose": "region-config"},
		Annotations: map[string]string{"scheduling.gardener.cloud/cloudprofiles": profiles},
	}, Data: data}
	for _, c := range change {
		c(m)
	}
	return m
}

func TestRegionConfig(t *testing.T) {
	t.Parallel()
	// By name west-2 is nearer to west-1 than far is.
	far, near := map[string]string{"west-1": "far: 1\nwest-2: 2"}, map[string]string{"west-1": "far: 2\nwest-2: 1"}
	cases := map[string]struct {
		reason string
		maps   []client.Object
		want   string
	}{
		"none":       {reason: "without a config map names are compared", want: "west-2"},
		"named":      {reason: "the profile is one of a list with blanks", maps: []client.Object{regions("a", "other , local", far)}, want: "far"},
		"first":      {reason: "of two the first one counts", maps: []client.Object{regions("b", "local", near), regions("a", "local", far)}, want: "far"},
		"otherwise":  {reason: "others do not", maps: []client.Object{regions("a", "locality", far)}, want: "west-2"},
		"blank":      {reason: "a list without a name names nothing", maps: []client.Object{regions("a", "other,", far)}, want: "west-2"},
		"unlabelled": {reason: "a config map without the label is any config map", maps: []client.Object{regions("a", "local", far, func(m *corev1.ConfigMap) { m.Labels = nil })}, want: "west-2"},
		"elsewhere":  {reason: "a project cannot move the shoots of others", maps: []client.Object{regions("a", "local", far, func(m *corev1.ConfigMap) { m.Namespace = "garden-dev" })}, want: "west-2"},
	}
	for name, tc := range cases {
		t.Run("SCHED-REGION-1 "+name, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t, append(tc.maps, newShoot(of("CloudProfile", "local"), inRegion("west-1")), newProfile(),
				new(newSeed("far", region("far"))), new(newSeed("west-2", region("west-2"))))...)
			o.Config.CandidateDeterminationStrategy = gardenconfigv1alpha1.CandidateDeterminationStrategyMinimalDistance
			o.attempt(t)
			if o.bound != tc.want {
				t.Errorf("%s\nbound to seed %q, want %q", tc.reason, o.bound, tc.want)
			}
		})
	}
}

// TestRegionConfigOfAProject_SCHED_REGION_1 schedules a shoot with a profile of its project.
func TestRegionConfigOfAProject_SCHED_REGION_1(t *testing.T) {
	t.Parallel()
	far, near := map[string]string{"west-1": "far: 1\nwest-2: 2"}, map[string]string{"west-1": "far: 2\nwest-2: 1"}
	cases := map[string]struct {
		reason string
		maps   []client.Object
		want   string
	}{
		"none":   {reason: "without a config map names are compared", want: "west-2"},
		"parent": {reason: "regions are those of the profile that it extends", maps: []client.Object{regions("a", "local", far)}, want: "far"},
		"own":    {reason: "unless its own name is given", maps: []client.Object{regions("a", "local", near), regions("b", "own", far)}, want: "far"},
		"blank":  {reason: "a list without a name names nothing", maps: []client.Object{regions("a", "other,", far)}, want: "west-2"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			own := &gardencorev1beta1.NamespacedCloudProfile{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: "own"}}
			own.Spec.Parent.Name, own.Status.ObservedGeneration = "local", 1
			o := newOffice(t, append(tc.maps, newShoot(of("NamespacedCloudProfile", "own"), inRegion("west-1")), own,
				new(newSeed("far", region("far"))), new(newSeed("west-2", region("west-2"))))...)
			o.Config.CandidateDeterminationStrategy = gardenconfigv1alpha1.CandidateDeterminationStrategyMinimalDistance
			o.attempt(t)
			if o.bound != tc.want {
				t.Errorf("%s\nbound to seed %q, want %q", tc.reason, o.bound, tc.want)
			}
		})
	}
}

func inRegion(name string) func(*shoot) { return func(s *shoot) { s.Spec.Region = name } }

func TestRegionConfigThatIsBroken_SCHED_REGION_3(t *testing.T) {
	t.Parallel()
	broken := func(t *testing.T) *office {
		t.Helper()
		return newOffice(t, newShoot(of("CloudProfile", "local"), inRegion("west-1")), newProfile(), new(newSeed("a", region("west-1"))),
			regions("regions", "local", map[string]string{"west-1": "west-1: near"}))
	}
	o := broken(t)
	o.Config.CandidateDeterminationStrategy = gardenconfigv1alpha1.CandidateDeterminationStrategyMinimalDistance
	_, err := reconcile.AsReconciler(o.Client, o.Reconciler).Reconcile(t.Context(), crazyBotany())
	if err == nil || !strings.Contains(err.Error(), `"regions"`) || o.bound != "" {
		t.Errorf("Who wrote the distances has to mend them.\nReconcile(...) = %v, bound to %q; want an error that names the config map", err, o.bound)
	}
	if last := o.shoot(t).Status.LastOperation; last == nil || !strings.Contains(last.Description, `config map "regions"`) {
		t.Errorf("lastOperation = %+v, want the reason in it", last)
	}
	o = broken(t)
	if o.attempt(t); o.bound != "a" {
		t.Errorf("A strategy that needs no distances does not read them.\nbound to %q, want a", o.bound)
	}
}
