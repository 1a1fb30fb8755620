// SPDX-License-Identifier: Apache-2.0

package maintenance_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/garden/shoot/maintenance"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

var errKilled = errors.New("killed")

// garden is a garden with one shoot, in which one of the next writes fails.
type garden struct {
	*maintenance.Reconciler

	clock *clocktesting.FakeClock
	// writes counts down to the one that fails; none does below zero.
	writes int
	// failure is the error of the write that fails.
	failure error
	// meanwhile is called before each write with its number; it may be nil.
	meanwhile func(write int)
	begun     int
}

func newGarden(t *testing.T, profile *gardencorev1beta1.CloudProfileSpec, s *gardencorev1beta1.Shoot) *garden {
	t.Helper()
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	g := &garden{clock: clocktesting.NewFakeClock(now()), writes: -1, failure: errKilled}
	write := func() error {
		if g.begun++; g.meanwhile != nil {
			g.meanwhile(g.begun - 1)
		}
		g.writes--
		if g.writes == -1 {
			return g.failure
		}
		return nil
	}
	c := fake.NewClientBuilder().WithScheme(types).WithStatusSubresource(s).
		WithObjects(s, &gardencorev1beta1.CloudProfile{ObjectMeta: metav1.ObjectMeta{Name: "local"}, Spec: *profile}).
		WithInterceptorFuncs(interceptor.Funcs{
			Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, options ...client.PatchOption) error {
				if err := write(); err != nil {
					return err
				}
				return c.Patch(ctx, o, p, options...)
			},
			SubResourcePatch: func(ctx context.Context, c client.Client, name string, o client.Object, p client.Patch, options ...client.SubResourcePatchOption) error {
				if err := write(); err != nil {
					return err
				}
				return c.SubResource(name).Patch(ctx, o, p, options...)
			},
		}).Build()
	config := &gardenconfigv1alpha1.ServerConfiguration{}
	config.SetDefaults()
	g.Reconciler = &maintenance.Reconciler{
		Base:   kit.Base{Client: c, Reader: c, Clock: g.clock, Recorder: events.NewFakeRecorder(100)},
		Config: config.Controllers.ShootMaintenance,
	}
	return g
}

func (g *garden) shoot(t *testing.T) *gardencorev1beta1.Shoot {
	t.Helper()
	s := &gardencorev1beta1.Shoot{}
	if err := g.Client.Get(t.Context(), client.ObjectKey{Namespace: "garden-dev", Name: "a"}, s); err != nil {
		t.Fatal(err)
	}
	return s
}

// always is a window in which it is time now.
func always(s *gardencorev1beta1.Shoot) {
	s.Spec.Maintenance.TimeWindow = &gardencorev1beta1.MaintenanceTimeWindow{Begin: "033000+0000", End: "034530+0000"}
}

// TestInterrupted kills the maintenance at each of its writes, and sees that the next pass leads to the same end.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	profile := offers("1.33.1 1.33.2", "1.0.0:expired")
	whole := newGarden(t, profile, shoot(always, annotated(operation, "maintain")))
	if _, err := whole.Reconcile(t.Context(), whole.shoot(t)); err != nil {
		t.Fatal(err)
	}
	want := whole.shoot(t)
	if last := want.Status.LastMaintenance; last == nil || last.State != "Failed" || !strings.HasPrefix(last.Description, "1 of 2 changes: ") || want.Spec.Kubernetes.Version != "1.33.2" {
		t.Fatalf("GCM-MAINT-12: the maintenance ended with %+v, Kubernetes %s", last, want.Spec.Kubernetes.Version)
	}
	for write := range 4 { // the dry run, the announcement, the changes, the report
		t.Run(fmt.Sprint("GCM-MAINT-12 write ", write), func(t *testing.T) {
			t.Parallel()
			g := newGarden(t, profile, shoot(always, annotated(operation, "maintain")))
			g.writes = write
			if _, err := g.Reconcile(t.Context(), g.shoot(t)); !errors.Is(err, errKilled) {
				t.Fatalf("Reconcile(...) = %v, want an end at write %d", err, write)
			}
			if last := g.shoot(t).Status.LastMaintenance; (last != nil) != (write > 1) || last != nil && last.State != "Processing" {
				t.Errorf("GCM-MAINT-12: after write %d the status is %+v", write, last)
			}
			if _, err := g.Reconcile(t.Context(), g.shoot(t)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, g.shoot(t), cmpopts.IgnoreFields(metav1.ObjectMeta{}, "ResourceVersion")); diff != "" {
				t.Errorf("GCM-MAINT-12: the end after write %d failed (-without +with):\n%s", write, diff)
			}
		})
	}
}

// TestInterruptedUntilTheWindowIsClosed sees that a maintenance which was interrupted changes nothing outside of its window.
func TestInterruptedUntilTheWindowIsClosed(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		write  int
		state  gardencorev1beta1.LastOperationState
		failed string
	}{
		"GCM-MAINT-12 not made": {"the changes wait for the next window", 2, "Failed", "The maintenance was interrupted and is made in the next time window: Kubernetes"},
		"GCM-MAINT-12 made":     {"only the report was missing", 3, "Succeeded", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGarden(t, offers("1.33.1 1.33.2", "1.0.0"), shoot(always))
			g.writes = tc.write
			if _, err := g.Reconcile(t.Context(), g.shoot(t)); !errors.Is(err, errKilled) {
				t.Fatalf("Reconcile(...) = %v, want an end at write %d", err, tc.write)
			}
			before := g.shoot(t)
			g.clock.Step(time.Hour)
			result, err := g.Reconcile(t.Context(), g.shoot(t))
			if err != nil || result.RequeueAfter != 10*time.Minute {
				t.Errorf("Reconcile(...) = %v, %v, want another look in ten minutes, until the next window", result, err)
			}
			after := g.shoot(t)
			if diff := cmp.Diff(before.Spec, after.Spec); diff != "" {
				t.Errorf("%s\nthe spec (-before +after):\n%s", tc.reason, diff)
			}
			last, reason := after.Status.LastMaintenance, ""
			if last.FailureReason != nil {
				reason = *last.FailureReason
			}
			if last.State != tc.state || !strings.HasPrefix(reason, tc.failed) || !strings.HasPrefix(last.Description, "1 of 1 changes: ") {
				t.Errorf("%s\nstatus %+v, reason %q", tc.reason, last, reason)
			}
		})
	}
}

// TestChangedMeanwhile sees that a plan for what a shoot was before is not carried out.
func TestChangedMeanwhile(t *testing.T) {
	t.Parallel()
	g := newGarden(t, offers("1.33.1 1.33.2 1.33.3:deprecated", "1.0.0"), shoot(always))
	read := g.shoot(t)
	owner := g.shoot(t)
	owner.Spec.Kubernetes.Version = "1.33.3"
	if err := g.Client.Update(t.Context(), owner); err != nil {
		t.Fatal(err)
	}
	if result, err := g.Reconcile(t.Context(), read); err != nil || result.RequeueAfter == 0 || result.RequeueAfter > time.Second {
		t.Errorf("Reconcile(...) = %v, %v, want another pass soon", result, err)
	}
	if s := g.shoot(t); s.Spec.Kubernetes.Version != "1.33.3" || s.Status.LastMaintenance != nil {
		t.Errorf("Kubernetes %s, status %+v, want what the owner chose", s.Spec.Kubernetes.Version, s.Status.LastMaintenance)
	}
	if _, err := g.Reconcile(t.Context(), g.shoot(t)); err != nil {
		t.Fatal(err)
	}
	if s := g.shoot(t); s.Spec.Kubernetes.Version != "1.33.3" || s.Status.LastMaintenance.State != "Succeeded" {
		t.Errorf("Kubernetes %s, status %+v, want what the owner chose", s.Spec.Kubernetes.Version, s.Status.LastMaintenance)
	}
}

// TestChangedBetweenWrites sees that each write of a maintenance is about the shoot that was planned for, so that what the owner
// changes at any time of it stays, and nothing is reported that was not done. Only the report of what was done is written in any case.
func TestChangedBetweenWrites(t *testing.T) {
	t.Parallel()
	for write, name := range []string{"dry run", "announcement", "changes", "report"} {
		t.Run("GCM-MAINT-12 "+name, func(t *testing.T) {
			t.Parallel()
			g := newGarden(t, offers("1.33.1 1.33.2 1.33.3:deprecated", "1.0.0"), shoot(always))
			g.meanwhile = func(next int) {
				if next != write {
					return
				}
				owner := g.shoot(t)
				owner.Spec.Kubernetes.Version = "1.33.3"
				if err := g.Client.Update(t.Context(), owner); err != nil {
					t.Error(err)
				}
			}
			state, soon := gardencorev1beta1.LastOperationStateProcessing, true
			if name == "report" {
				state, soon = gardencorev1beta1.LastOperationStateSucceeded, false
			}
			if result, err := g.Reconcile(t.Context(), g.shoot(t)); err != nil || result.RequeueAfter == 0 || (result.RequeueAfter <= time.Second) != soon {
				t.Errorf("Reconcile(...) = %v, %v, want another pass soon: %t", result, err, soon)
			}
			s := g.shoot(t)
			if s.Spec.Kubernetes.Version != "1.33.3" {
				t.Errorf("Kubernetes %s, want what the owner chose", s.Spec.Kubernetes.Version)
			}
			last := s.Status.LastMaintenance
			if announced := write > 1; (last != nil) != announced || announced && last.State != state {
				t.Errorf("the status is %+v, want it to tell of the maintenance only if it was announced (%t), and only then %q if it was made", last, announced, state)
			}
		})
	}
}

// TestReportedOnce has a gardenlet begin before the maintenance is reported. That must not maintain the shoot a second time, with another
// operation and another restart.
func TestReportedOnce_GCM_MAINT_12(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		offered string
		// report is the number of the write that reports the end.
		report int
	}{
		"changes":    {"1.33.1 1.33.2", 3},
		"no changes": {"1.33.1", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGarden(t, offers(tc.offered, "1.0.0"), shoot(always))
			g.meanwhile = func(next int) {
				if next != tc.report {
					return
				}
				s := g.shoot(t)
				s.Annotations = nil
				if err := g.Client.Update(t.Context(), s); err != nil {
					t.Error(err)
				}
				s.Status.LastOperation.State = "Processing"
				if err := g.Client.Status().Update(t.Context(), s); err != nil {
					t.Error(err)
				}
			}
			for range 2 {
				if result, err := g.Reconcile(t.Context(), g.shoot(t)); err != nil || result.RequeueAfter != 10*time.Minute {
					t.Errorf("Reconcile(...) = %v, %v, want another look in ten minutes", result, err)
				}
			}
			s := g.shoot(t)
			if last := s.Status.LastMaintenance; last == nil || last.State != "Succeeded" || s.Annotations[operation] != "" || s.Status.LastOperation.State != "Processing" {
				t.Errorf("maintenance %+v, operation %q, last operation %+v; want one maintenance, and what the gardenlet wrote", last, s.Annotations[operation], s.Status.LastOperation)
			}
		})
	}
}

// TestRefused sees that a maintenance whose dry run the server refuses changes nothing, is answered and told.
func TestRefused(t *testing.T) {
	t.Parallel()
	g := newGarden(t, offers("1.33.1 1.33.2", "1.0.0"), shoot(always, annotated(operation, "maintain")))
	recorder := events.NewFakeRecorder(10)
	g.Recorder, g.writes = recorder, 0
	g.failure = apierrors.NewForbidden(schema.GroupResource{Resource: "shoots"}, "a", errors.New("not now"))
	if _, err := g.Reconcile(t.Context(), g.shoot(t)); err != nil {
		t.Fatal(err)
	}
	s := g.shoot(t)
	if s.Spec.Kubernetes.Version != "1.33.1" || s.Annotations[operation] != "" {
		t.Errorf("GCM-MAINT-12: Kubernetes %s, annotations %v, want no change and no request left", s.Spec.Kubernetes.Version, s.Annotations)
	}
	if last := s.Status.LastMaintenance; last == nil || last.State != "Failed" || last.FailureReason == nil || !strings.Contains(*last.FailureReason, "not now") {
		t.Errorf("GCM-MAINT-12: status %+v, want a failure that says why", last)
	}
	if got := <-recorder.Events; !strings.HasPrefix(got, "Warning MaintenanceFailed ") {
		t.Errorf("GCM-MAINT-11: event %q, want a warning", got)
	}
}

// TestTold sees that what could not be updated is told by a warning, and what was by none.
func TestTold(t *testing.T) {
	t.Parallel()
	g := newGarden(t, offers("1.33.1 1.33.2", "1.0.0:expired"), shoot(always))
	recorder := events.NewFakeRecorder(10)
	g.Recorder = recorder
	if _, err := g.Reconcile(t.Context(), g.shoot(t)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Normal KubernetesVersionMaintenance ", "Warning MachineImageVersionMaintenance "} {
		if got := <-recorder.Events; !strings.HasPrefix(got, want) {
			t.Errorf("GCM-MAINT-11: event %q, want one that begins with %q", got, want)
		}
	}
}

// TestPlainMaintenance sees how little a maintenance costs that changes nothing.
func TestPlainMaintenance(t *testing.T) {
	t.Parallel()
	g := newGarden(t, offers("1.33.1", "1.0.0"), shoot(always))
	g.writes = 100
	for range 2 {
		result, err := g.Reconcile(t.Context(), g.shoot(t))
		if err != nil || result.RequeueAfter != 10*time.Minute {
			t.Fatalf("GCM-MAINT-1: Reconcile(...) = %v, %v, want another look in ten minutes, until tomorrow", result, err)
		}
	}
	if made := 100 - g.writes; made != 2 {
		t.Errorf("%d writes, want one for the operation and one for the status", made)
	}
	want := &gardencorev1beta1.LastMaintenance{Description: "Nothing had to be changed", State: "Succeeded", TriggeredTime: metav1.NewTime(now())}
	if diff := cmp.Diff(want, g.shoot(t).Status.LastMaintenance); diff != "" {
		t.Errorf("GCM-MAINT-12: status (-want +got):\n%s", diff)
	}
}
