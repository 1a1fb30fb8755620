// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

func TestScheduler(t *testing.T) {
	t.Parallel()
	o := operate(t)
	o.provider("local")
	project := o.project("dev")
	namespace := *project.Spec.Namespace

	first := o.shoot(namespace, "first", "local")
	waits := func(parts ...string) func(*gardencorev1beta1.Shoot) error {
		return func(s *gardencorev1beta1.Shoot) error {
			last := s.Status.LastOperation
			if last == nil {
				return has(false, "no last operation")
			}
			for _, part := range parts {
				if !strings.Contains(last.Description, part) {
					return has(false, "description %q does not contain %q", last.Description, part)
				}
			}
			return has(last.Type == "Create" && last.State == "Pending" && last.Progress == 0 && s.Spec.SeedName == nil, "last operation %v", last)
		}
	}
	harness.Await(t, o.Client, first, "SCHED-BIND-3: without a seed the shoot says what to do", waits("there is no seed", "terrarium token create"))
	o.event(first, "SchedulingFailed", "SCHED-BIND-2: an event tells about the failure")

	o.seed("south-1", "local", "south")
	o.seed("full", "local", "north", func(s *gardencorev1beta1.Seed) {
		s.Spec.Taints = []gardencorev1beta1.SeedTaint{{Key: "seed.gardener.cloud/protected"}}
	})
	harness.Await(t, o.Client, first, "SCHED-FILT-11: every seed has its reason, sorted",
		waits("0 of 2 seeds", `full: it has 1 taints, the shoot has 0 tolerations; south-1: it is in region "south", the shoot is in "north"`))

	north := o.seed("north-1", "local", "north")
	bound := harness.Await(t, o.Client, first, "SCHED-BIND-4: a retry finds the seed that came", func(s *gardencorev1beta1.Shoot) error {
		return has(s.Spec.SeedName != nil, "last operation %v", s.Status.LastOperation)
	})
	if diff := cmp.Diff("north-1", *bound.Spec.SeedName); diff != "" {
		t.Errorf("SCHED-BIND-1: name of the seed (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff((*gardencorev1beta1.LastOperation)(nil), bound.Status.LastOperation); diff != "" {
		t.Errorf("SCHED-BIND-3: the explanation is gone; last operation (-want +got):\n%s", diff)
	}
	event := o.event(first, "SchedulingSuccessful", "SCHED-BIND-1: an event names the seed")
	if !strings.Contains(event.Message, "north-1") || event.Type != corev1.EventTypeNormal {
		t.Errorf("SCHED-BIND-1: event %s %q, want Normal and the name of the seed", event.Type, event.Message)
	}

	o.seed("north-2", "local", "north")
	second := o.shoot(namespace, "second", "local")
	harness.Await(t, o.Client, second, "SCHED-STRAT-5: the seed with fewer shoots wins", func(s *gardencorev1beta1.Shoot) error {
		return has(s.Spec.SeedName != nil && *s.Spec.SeedName == "north-2", "seed %v, last operation %v", s.Spec.SeedName, s.Status.LastOperation)
	})

	o.changeStatus(north, func() { north.Status.Allocatable = corev1.ResourceList{"shoots": resource.MustParse("1")} })
	for _, name := range []string{"third", "fourth"} {
		shoot := o.shoot(namespace, name, "local")
		harness.Await(t, o.Client, shoot, "SCHED-FILT-10d: a full seed gets no more shoots", func(s *gardencorev1beta1.Shoot) error {
			return has(s.Spec.SeedName != nil && *s.Spec.SeedName == "north-2", "seed %v, last operation %v", s.Spec.SeedName, s.Status.LastOperation)
		})
	}

	mine := o.shoot(namespace, "mine", "local", func(s *gardencorev1beta1.Shoot) { s.Spec.SchedulerName = new("mine") })
	o.change(mine, func() { metav1.SetMetaDataAnnotation(&mine.ObjectMeta, "touched", "yes") })
	last := o.shoot(namespace, "last", "local")
	harness.Await(t, o.Client, last, "a later shoot is scheduled", func(s *gardencorev1beta1.Shoot) error { return has(s.Spec.SeedName != nil, "no seed yet") })
	harness.Await(t, o.Client, mine, "SCHED-PROC-4: a shoot of another scheduler is left alone", func(s *gardencorev1beta1.Shoot) error {
		return has(s.Spec.SeedName == nil && s.Status.LastOperation == nil, "seed %v, last operation %v", s.Spec.SeedName, s.Status.LastOperation)
	})
}

// TestSchedulerPassesOver has seeds that would be taken first, and to which admission would bind no shoot of these kinds. The scheduler
// would ask for them again and again, although another seed can host the shoots.
func TestSchedulerPassesOver_SCHED_FILT_10(t *testing.T) {
	t.Parallel()
	o := operate(t)
	o.provider("local")
	namespace := *o.project("dev").Spec.Namespace
	o.seed("c", "local", "north") // It is made first, so that who knows the others knows it too.
	o.seed("a", "local", "north", func(s *gardencorev1beta1.Seed) { s.Spec.Networks.ShootDefaults = nil })
	o.seed("b", "local", "north", func(s *gardencorev1beta1.Seed) {
		s.Spec.Settings = &gardencorev1beta1.SeedSettings{
			Scheduling: &gardencorev1beta1.SeedSettingScheduling{Visible: true}, ShootDNS: &gardencorev1beta1.SeedSettingShootDNS{Enabled: false},
		}
	})
	bare := func(s *gardencorev1beta1.Shoot) { s.Spec.Networking = &gardencorev1beta1.Networking{} }
	named := func(s *gardencorev1beta1.Shoot) {
		s.Spec.Networking = &gardencorev1beta1.Networking{Services: new("10.12.0.0/16")}
		s.Spec.DNS = &gardencorev1beta1.DNS{Domain: new(s.Name + ".example.org")}
	}
	for _, tc := range []struct {
		reason, name, want string
		change             func(*gardencorev1beta1.Shoot)
	}{
		{reason: "seed a has no networks to give", name: "bare", want: "b", change: bare},
		{reason: "a shoot with networks of its own goes there", name: "own", want: "a", change: func(s *gardencorev1beta1.Shoot) {
			s.Spec.Networking = &gardencorev1beta1.Networking{Services: new("10.12.0.0/16")}
		}},
		{reason: "seed c is the least used", name: "bare2", want: "c", change: bare},
		{reason: "the names of all seeds but b are for shoots", name: "named", want: "a", change: named},
		{reason: "and seed b is passed over now", name: "named2", want: "c", change: named},
	} {
		shoot := o.shoot(namespace, tc.name, "local", tc.change)
		harness.Await(t, o.Client, shoot, tc.reason, func(s *gardencorev1beta1.Shoot) error {
			return has(s.Spec.SeedName != nil && *s.Spec.SeedName == tc.want, "seed %v, last operation %v", s.Spec.SeedName, s.Status.LastOperation)
		})
	}
}
