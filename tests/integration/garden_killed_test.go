// SPDX-License-Identifier: Apache-2.0

package integration_test

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
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/garden/shoot/hibernation"
	"github.com/terrarium-garden/terrarium/controllers/garden/shoot/maintenance"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

var errKilled = errors.New("killed")

// mortal is a client whose process is killed at one of its writes: before it, or after it and before its answer.
type mortal struct {
	// left counts down to that write; there is none below zero.
	left  int
	after bool
	dead  bool
}

// of returns a client of a garden that dies like this.
func (m *mortal) of(c client.WithWatch) client.Client {
	return interceptor.NewClient(c, interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, options ...client.PatchOption) error {
			return m.write(func() error { return c.Patch(ctx, o, p, options...) })
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, name string, o client.Object, p client.Patch, options ...client.SubResourcePatchOption) error {
			return m.write(func() error { return c.SubResource(name).Patch(ctx, o, p, options...) })
		},
	})
}

func (m *mortal) write(carryOut func() error) error {
	dies := m.left == 0
	if m.dead = m.dead || dies && !m.after; m.dead {
		return errKilled
	}
	if err := carryOut(); err != nil {
		return err // A write that has lost a race is made again, and does not count.
	}
	m.left--
	if m.dead = dies; m.dead {
		return errKilled
	}
	return nil
}

// passes makes passes until nothing is left to do, or the process is killed. Passes are repeated when another controller has written the shoot.
func (o *operator) passes(r reconcile.ObjectReconciler[*gardencorev1beta1.Shoot], key client.ObjectKey) error {
	o.t.Helper()
	for range 100 {
		shoot := &gardencorev1beta1.Shoot{}
		if err := o.Client.Get(o.t.Context(), key, shoot); err != nil {
			o.t.Fatal(err)
		}
		if result, err := r.Reconcile(o.t.Context(), shoot); err != nil || result.RequeueAfter > time.Second {
			return err
		}
	}
	return errors.New("passes follow each other without an end")
}

// maintainedOnce is what a maintenance leaves behind, without times. Each operation that a gardenlet gets to see makes a generation.
type maintainedOnce struct {
	Spec        gardencorev1beta1.ShootSpec
	Asked       string
	Report      gardencorev1beta1.LastMaintenance
	Generations int64
}

// once maintains a new shoot, kills the controller if wanted, and has another one go on after the gardenlet has done its work.
func (m *maintained) once(name string, kill *mortal, changes ...shootChange) maintainedOnce {
	m.t.Helper()
	shoot := m.windowed(name, append(changes, image("cloud", "1.0.0"))...)
	m.change(shoot, func() {
		if shoot.Spec.Kubernetes.Version == "1.35.4" { // Its maintenance changes nothing, and is asked for.
			metav1.SetMetaDataAnnotation(&shoot.ObjectMeta, "gardener.cloud/operation", "maintain")
		}
	})
	before, key := shoot.Generation, client.ObjectKeyFromObject(shoot)
	window, _ := query.MaintenanceWindow(&shoot.Spec)
	clock := clocktesting.NewFakeClock(window.Due(m.clock.Now(), shoot.CreationTimestamp.Time, string(shoot.UID)).Add(time.Second))
	config := &gardenconfigv1alpha1.ServerConfiguration{}
	config.SetDefaults()
	start := func(with *mortal) error {
		c := with.of(m.Client)
		return m.passes(&maintenance.Reconciler{
			Base: kit.Base{Client: c, Reader: c, Clock: clock, Recorder: events.NewFakeRecorder(100)}, Config: config.Controllers.ShootMaintenance,
		}, key)
	}
	if kill != nil {
		if err := start(kill); !errors.Is(err, errKilled) {
			m.t.Fatalf("Reconcile(...) = %v, want it to be killed", err)
		}
		m.ends(shoot, "Succeeded")
		clock.Step(5 * time.Second)
	}
	for range 2 {
		if err := start(&mortal{left: -1}); err != nil {
			m.t.Fatal(err)
		}
	}
	m.read(shoot)
	if shoot.Status.LastMaintenance == nil {
		m.t.Fatal("nothing was reported")
	}
	got := maintainedOnce{Spec: shoot.Spec, Asked: shoot.Annotations["gardener.cloud/operation"], Report: *shoot.Status.LastMaintenance, Generations: shoot.Generation - before}
	got.Report.TriggeredTime = metav1.Time{}
	return got
}

// TestMaintenanceKilled_GCM_MAINT_12 kills the controller before and after each write of a maintenance. The server takes the operation away as it
// is written, so nothing of it is left for the next controller to see.
func TestMaintenanceKilled_GCM_MAINT_12(t *testing.T) {
	t.Parallel()
	m := maintain(t, harness.WithConfig(func(c *gardenconfigv1alpha1.ServerConfiguration) {
		c.Controllers.Disabled = []string{"shoot-maintenance"}
	}))
	for name, tc := range map[string]struct {
		changes []shootChange
		writes  int
	}{
		"changes": {nil, 4}, // the dry run, the announcement, the changes, the report
		"nothing": {[]shootChange{byHand, func(s *gardencorev1beta1.Shoot) { s.Spec.Kubernetes.Version = "1.35.4" }}, 3},
	} {
		want := m.once(name, nil, tc.changes...)
		if want.Generations != 1 || want.Report.State != "Succeeded" || want.Asked != "" {
			t.Fatalf("a maintenance left %+v, asked %q and %d generations, want one", want.Report, want.Asked, want.Generations)
		}
		for n := range 2 * tc.writes {
			kill := &mortal{left: n / 2, after: n%2 == 1}
			if diff := cmp.Diff(want, m.once(fmt.Sprintf("%s-%d", name, n), kill, tc.changes...)); diff != "" {
				t.Errorf("%s, killed at write %d (after it: %t): the end (-without +with a kill):\n%s", name, n/2, n%2 == 1, diff)
			}
		}
	}
}

// TestHibernationKilled_GCM_HIBER_4_6 kills the controller after it has put a shoot to sleep, which the owner wakes up before the next one starts.
func TestHibernationKilled_GCM_HIBER_4_6(t *testing.T) {
	t.Parallel()
	o := operate(t, harness.WithConfig(func(c *gardenconfigv1alpha1.ServerConfiguration) {
		c.Controllers.Disabled = []string{"shoot-hibernation"}
	}))
	o.provider("local")
	namespace := *o.project("dev").Spec.Namespace
	day := time.Now().UTC().Truncate(24 * time.Hour).Add(48 * time.Hour)
	clock := clocktesting.NewFakeClock(day.Add(20*time.Hour + time.Second))
	shoot := o.shoot(namespace, "a", "local", func(s *gardencorev1beta1.Shoot) {
		s.Spec.Hibernation = &gardencorev1beta1.Hibernation{Schedules: []gardencorev1beta1.HibernationSchedule{{Start: new("0 20 * * *"), End: new("0 6 * * *")}}}
	})
	config := &gardenconfigv1alpha1.ServerConfiguration{}
	config.SetDefaults()
	start := func(with *mortal) error {
		c := with.of(o.Client)
		return o.passes(&hibernation.Reconciler{
			Base: kit.Base{Client: c, Reader: c, Clock: clock, Recorder: events.NewFakeRecorder(10)}, Config: config.Controllers.ShootHibernation,
		}, client.ObjectKeyFromObject(shoot))
	}
	if err := start(&mortal{after: true}); !errors.Is(err, errKilled) {
		t.Fatalf("Reconcile(...) = %v, want it to be killed", err)
	}
	o.read(shoot)
	if shoot.Spec.Hibernation.Enabled == nil || !*shoot.Spec.Hibernation.Enabled {
		t.Fatal("the shoot was not put to sleep")
	}
	o.change(shoot, func() { shoot.Spec.Hibernation.Enabled = new(false) })
	clock.Step(time.Minute)
	if err := start(&mortal{left: -1}); err != nil {
		t.Fatal(err)
	}
	o.read(shoot)
	if noted := shoot.Status.LastHibernationTriggerTime; *shoot.Spec.Hibernation.Enabled || noted == nil || !noted.Time.Equal(day.Add(20*time.Hour+time.Second)) {
		t.Errorf("asleep %t, noted %v; want what the owner chose, and the time of the first controller", *shoot.Spec.Hibernation.Enabled, noted)
	}
}
