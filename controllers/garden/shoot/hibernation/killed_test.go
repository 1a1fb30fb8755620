// SPDX-License-Identifier: Apache-2.0

package hibernation_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/garden/shoot/hibernation"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

var errKilled = errors.New("killed")

// bed is a garden with a shoot that is to sleep at night, in which a reconciler may be killed at one of its writes.
type bed struct {
	client.Client

	clock    *clocktesting.FakeClock
	recorder *events.FakeRecorder
	// left counts down to the write at which the reconciler is killed; late has that write be carried out.
	left int
	late bool
	// changes counts how often a change of the spec was sent.
	changes int
	// before is called before each write; it may be nil.
	before func(c client.Client) error
}

func newBed(t *testing.T, change func(*gardencorev1beta1.Shoot)) *bed {
	t.Helper()
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	s := &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: "a", CreationTimestamp: metav1.NewTime(at(1, 0, 0, 0))}}
	s.Spec.Hibernation = &gardencorev1beta1.Hibernation{Schedules: []gardencorev1beta1.HibernationSchedule{nightly("0 20 * * *", "0 6 * * *")}}
	change(s)
	b := &bed{clock: clocktesting.NewFakeClock(at(9, 20, 1, 0)), recorder: events.NewFakeRecorder(10), left: -1}
	b.Client = fake.NewClientBuilder().WithScheme(types).WithObjects(s).WithStatusSubresource(s).WithInterceptorFuncs(interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, options ...client.PatchOption) error {
			b.changes++
			return b.write(c, func() error { return c.Patch(ctx, o, p, options...) })
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, name string, o client.Object, p client.Patch, options ...client.SubResourcePatchOption) error {
			return b.write(c, func() error { return c.SubResource(name).Patch(ctx, o, p, options...) })
		},
	}).Build()
	return b
}

func (b *bed) write(c client.Client, carryOut func() error) error {
	if b.before != nil {
		if err := b.before(c); err != nil {
			return err
		}
	}
	b.left--
	if b.left != -1 {
		return carryOut()
	}
	b.left = 0 // What is killed does not write any more.
	if b.late {
		b.late = false
		if err := carryOut(); err != nil {
			return err
		}
	}
	return errKilled
}

func (b *bed) shoot(t *testing.T) *gardencorev1beta1.Shoot {
	t.Helper()
	s := &gardencorev1beta1.Shoot{}
	if err := b.Get(t.Context(), client.ObjectKey{Namespace: "garden-dev", Name: "a"}, s); err != nil {
		t.Fatal(err)
	}
	return s
}

// pass makes a pass of a reconciler that has just started.
func (b *bed) pass(t *testing.T) error {
	t.Helper()
	r := &hibernation.Reconciler{
		Base:   kit.Base{Client: b.Client, Reader: b.Client, Clock: b.clock, Recorder: b.recorder},
		Config: gardenconfigv1alpha1.ServerShootHibernationConfiguration{TriggerDeadlineDuration: &metav1.Duration{Duration: 2 * time.Hour}},
	}
	_, err := r.Reconcile(t.Context(), b.shoot(t))
	return err
}

// dawn is what is left of a night.
type dawn struct {
	Asleep bool
	Noted  bool
	// Changes are those that the reconciler wrote.
	Changes int
	Events  []string
}

// TestKilled_GCM_HIBER_4_6 kills the reconciler before and after each of its writes, has the owner choose or not, and starts another one.
func TestKilled_GCM_HIBER_4_6(t *testing.T) {
	t.Parallel()
	const asleep = "Normal Hibernated A schedule puts the cluster to sleep"
	wake := func(s *gardencorev1beta1.Shoot) { s.Spec.Hibernation.Enabled = new(false) }
	unschedule := func(s *gardencorev1beta1.Shoot) {
		wake(s)
		s.Spec.Hibernation.Schedules = []gardencorev1beta1.HibernationSchedule{nightly("0 23 * * *", "0 6 * * *")}
	}
	for name, tc := range map[string]struct {
		reason string
		write  int
		late   bool
		owner  func(*gardencorev1beta1.Shoot)
		want   dawn
	}{
		"before the change":           {"it is made after the restart", 0, false, nil, dawn{true, true, 2, []string{asleep}}},
		"after the change":            {"it is not made again, but noted and told", 0, true, nil, dawn{true, true, 1, []string{asleep}}},
		"before the note":             {"it is noted and told after the restart", 1, false, nil, dawn{true, true, 1, []string{asleep}}},
		"after the note":              {"nothing is left to do", 1, true, nil, dawn{true, true, 1, nil}},
		"after the change, woken":     {"what the owner chose stays", 0, true, wake, dawn{false, true, 1, []string{asleep}}},
		"before the note, woken":      {"what the owner chose stays", 1, false, wake, dawn{false, true, 1, []string{asleep}}},
		"after the note, woken":       {"what the owner chose stays", 1, true, wake, dawn{false, true, 1, nil}},
		"after the change, scheduled": {"nothing is told by schedules that are not those of then", 0, true, unschedule, dawn{false, true, 1, nil}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t, func(*gardencorev1beta1.Shoot) {})
			b.left, b.late = tc.write, tc.late
			if err := b.pass(t); !errors.Is(err, errKilled) {
				t.Fatalf("Reconcile(...) = %v, want an end at write %d", err, tc.write)
			}
			if tc.owner != nil {
				s := b.shoot(t)
				tc.owner(s)
				if err := b.Update(t.Context(), s); err != nil {
					t.Fatal(err)
				}
			}
			b.left = -1
			b.clock.Step(10 * time.Minute)
			for range 2 {
				if err := b.pass(t); err != nil {
					t.Fatal(err)
				}
			}
			s := b.shoot(t)
			got := dawn{Asleep: *s.Spec.Hibernation.Enabled, Noted: s.Status.LastHibernationTriggerTime != nil, Changes: b.changes}
			for len(b.recorder.Events) > 0 {
				got.Events = append(got.Events, <-b.recorder.Events)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nthe morning (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestStrangeTimes_GCM_HIBER_3 sees times in the annotation that nobody wrote for this shoot, or with a clock that was wrong.
func TestStrangeTimes_GCM_HIBER_3(t *testing.T) {
	t.Parallel()
	young := func(s *gardencorev1beta1.Shoot) { s.CreationTimestamp = metav1.NewTime(at(9, 20, 0, 30)) }
	sleeps := func(s *gardencorev1beta1.Shoot) { s.Spec.Hibernation.Enabled = new(true) }
	noted := func(s *gardencorev1beta1.Shoot) {
		s.Status.LastHibernationTriggerTime = new(metav1.NewTime(at(20, 0, 0, 0)))
	}
	for name, tc := range map[string]struct {
		reason, at string
		change     func(*gardencorev1beta1.Shoot)
		noted      *metav1.Time
		events     int
	}{
		"of another shoot": {"what was due before it was created is not for it", at(9, 19, 50, 0).Format(time.RFC3339), young, nil, 0},
		"far ahead":        {"the schedule is carried out, and once", at(20, 0, 0, 0).Format(time.RFC3339), sleeps, new(metav1.NewTime(at(9, 20, 1, 0))), 1},
		"far ahead, known": {"also if a schedule has that time", at(20, 20, 0, 30).Format(time.RFC3339), sleeps, new(metav1.NewTime(at(9, 20, 1, 0))), 1},
		"noted far ahead":  {"what was carried out is noted, and the owner's choice stays", at(9, 20, 0, 30).Format(time.RFC3339), noted, new(metav1.NewTime(at(9, 20, 0, 30))), 1},
		"no time":          {"the schedule is carried out, and once", "at dawn", sleeps, new(metav1.NewTime(at(9, 20, 1, 0))), 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t, func(s *gardencorev1beta1.Shoot) {
				tc.change(s)
				metav1.SetMetaDataAnnotation(&s.ObjectMeta, "shoot.gardener.cloud/hibernation-trigger-timestamp", tc.at)
			})
			for range 2 {
				if err := b.pass(t); err != nil {
					t.Fatal(err)
				}
			}
			s := b.shoot(t)
			if mark, err := time.Parse(time.RFC3339, s.Annotations["shoot.gardener.cloud/hibernation-trigger-timestamp"]); err == nil && mark.After(b.clock.Now()) {
				t.Errorf("%s\nthe annotation says %v, which counts once that comes", tc.reason, mark)
			}
			if noted := s.Status.LastHibernationTriggerTime; !noted.Equal(tc.noted) || len(b.recorder.Events) != tc.events {
				t.Errorf("%s\nnoted %v, %d events, want %v and %d", tc.reason, noted, len(b.recorder.Events), tc.noted, tc.events)
			}
		})
	}
}

// TestGone_GCM_HIBER_1 deletes the shoot before each write of a pass.
func TestGone_GCM_HIBER_1(t *testing.T) {
	t.Parallel()
	for write := range 2 {
		t.Run(fmt.Sprint("write ", write), func(t *testing.T) {
			t.Parallel()
			b := newBed(t, func(*gardencorev1beta1.Shoot) {})
			b.before = func(c client.Client) error {
				if write--; write != -1 {
					return nil
				}
				return c.Delete(t.Context(), b.shoot(t))
			}
			if err := b.pass(t); err != nil || len(b.recorder.Events) > 0 {
				t.Errorf("Reconcile(...) = %v and %d events, want nothing about a shoot that is gone", err, len(b.recorder.Events))
			}
		})
	}
}
