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
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/core/query"
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
	// failure is the error of the write that fails. A reconciler that is killed does not write any more.
	failure error
	// late has the write that fails be carried out, so that only its answer is lost.
	late bool
	// meanwhile is called before each write with its number; it may be nil.
	meanwhile func(write int)
	begun     int
	// gardenlet takes up the operations of the shoot, which are kept here, as soon as they are written.
	gardenlet  bool
	operations []string
}

func newGarden(t *testing.T, profile *gardencorev1beta1.CloudProfileSpec, s *gardencorev1beta1.Shoot) *garden {
	t.Helper()
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	g := &garden{clock: clocktesting.NewFakeClock(now()), writes: -1, failure: errKilled}
	c := fake.NewClientBuilder().WithScheme(types).WithStatusSubresource(s).
		WithObjects(s, &gardencorev1beta1.CloudProfile{ObjectMeta: metav1.ObjectMeta{Name: "local"}, Spec: *profile}).
		WithInterceptorFuncs(interceptor.Funcs{
			Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, options ...client.PatchOption) error {
				return g.write(func() error {
					if err := c.Patch(ctx, o, p, options...); err != nil || !g.gardenlet {
						return err
					}
					return g.operate(ctx, c, client.ObjectKeyFromObject(o))
				})
			},
			SubResourcePatch: func(ctx context.Context, c client.Client, name string, o client.Object, p client.Patch, options ...client.SubResourcePatchOption) error {
				return g.write(func() error { return c.SubResource(name).Patch(ctx, o, p, options...) })
			},
		}).Build()
	g.start(c)
	return g
}

// start runs another reconciler.
func (g *garden) start(c client.Client) {
	config := &gardenconfigv1alpha1.ServerConfiguration{}
	config.SetDefaults()
	g.writes = -1
	g.Reconciler = &maintenance.Reconciler{
		Base:   kit.Base{Client: c, Reader: c, Clock: g.clock, Recorder: events.NewFakeRecorder(100)},
		Config: config.Controllers.ShootMaintenance,
	}
}

// write carries out a write unless it fails.
func (g *garden) write(carryOut func() error) error {
	if g.begun++; g.meanwhile != nil {
		g.meanwhile(g.begun - 1)
	}
	fails := g.writes == 0
	if g.writes >= 0 {
		g.writes--
	}
	if !fails {
		return carryOut()
	}
	if errors.Is(g.failure, errKilled) {
		g.writes = 0 // The next one fails, too.
	}
	if g.late {
		g.late = false
		if err := carryOut(); err != nil {
			return err
		}
	}
	return g.failure
}

// operate does what a gardenlet does with an operation that is asked for.
func (g *garden) operate(ctx context.Context, c client.Client, key client.ObjectKey) error {
	s := &gardencorev1beta1.Shoot{}
	if err := c.Get(ctx, key, s); err != nil {
		return err
	}
	asked := s.Annotations[operation]
	if asked == "" || asked == "maintain" {
		return nil
	}
	g.operations = append(g.operations, asked)
	delete(s.Annotations, operation)
	delete(s.Annotations, taskKey)
	if err := c.Update(ctx, s); err != nil {
		return err
	}
	s.Status.LastOperation = &gardencorev1beta1.LastOperation{Type: "Reconcile", State: "Succeeded", LastUpdateTime: metav1.NewTime(g.clock.Now())}
	return c.Status().Update(ctx, s)
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

// ending is what a maintenance leaves behind, without times.
type ending struct {
	Spec       gardencorev1beta1.ShootSpec
	Asked      string
	Report     gardencorev1beta1.LastMaintenance
	Operations []string
}

// pass makes a pass, and the passes that follow it soon.
func (g *garden) pass(t *testing.T) error {
	t.Helper()
	for range 10 {
		result, err := g.Reconcile(t.Context(), g.shoot(t))
		if err != nil || result.RequeueAfter > time.Second {
			return err
		}
	}
	return errors.New("passes follow each other")
}

func (g *garden) ending(t *testing.T) ending {
	t.Helper()
	s := g.shoot(t)
	if s.Status.LastMaintenance == nil {
		t.Fatal("GCM-MAINT-12: nothing was reported")
	}
	e := ending{Spec: s.Spec, Asked: s.Annotations[operation], Report: *s.Status.LastMaintenance, Operations: g.operations}
	e.Report.TriggeredTime = metav1.Time{}
	return e
}

// TestInterrupted kills the reconciler before and after each of its writes, and has another one go on, beside a gardenlet that has taken up
// the operation by then. The end is the same, and the shoot gets one operation.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	asked := annotated(operation, "maintain")
	for name, tc := range map[string]struct {
		offered, images string
		changes         []change
		operation       string
		writes          int
		report          gardencorev1beta1.LastOperationState
	}{
		"changes":       {"1.33.1 1.33.2", "1.0.0", nil, "reconcile", 4, "Succeeded"},
		"asked for":     {"1.33.1 1.33.2", "1.0.0:expired", []change{asked}, "reconcile", 4, "Failed"},
		"nothing":       {"1.33.1", "1.0.0", nil, "reconcile", 3, "Succeeded"},
		"nothing asked": {"1.33.1", "1.0.0", []change{asked}, "reconcile", 3, "Succeeded"},
		"left for it":   {"1.33.1", "1.0.0", []change{annotated(later, "rotate-ca-start")}, "rotate-ca-start", 3, "Succeeded"},
		"retry":         {"1.33.1", "1.0.0", []change{last("Reconcile", "Failed"), annotated(retry, "true")}, "retry", 3, "Succeeded"},
		"only failures": {"1.33.1", "1.0.0:expired", nil, "reconcile", 4, "Failed"},
		"forced":        {"1.33.1:expired 1.34.1:expired 1.35.1", "1.0.0", nil, "reconcile", 4, "Succeeded"},
		"first":         {"1.33.1", "1.0.0", []change{unborn}, "reconcile", 3, "Succeeded"},
	} {
		garden := func(t *testing.T) *garden {
			t.Helper()
			g := newGarden(t, offers(tc.offered, tc.images), shoot(append([]change{always}, tc.changes...)...))
			g.gardenlet = true
			return g
		}
		whole := garden(t)
		if err := whole.pass(t); err != nil {
			t.Fatal(err)
		}
		want := whole.ending(t)
		if diff := cmp.Diff([]string{tc.operation}, whole.operations); diff != "" || whole.begun != tc.writes || want.Report.State != tc.report || want.Asked != "" {
			t.Fatalf("GCM-MAINT-12 %s: %d writes, report %+v, asked %q, operations (-want +got):\n%s", name, whole.begun, want.Report, want.Asked, diff)
		}
		for kill := range 2 * tc.writes {
			when := []string{"before", "after"}[kill%2]
			t.Run(fmt.Sprintf("GCM-MAINT-12 %s killed %s write %d", name, when, kill/2), func(t *testing.T) {
				t.Parallel()
				g := garden(t)
				g.writes, g.late = kill/2, when == "after"
				if _, err := g.Reconcile(t.Context(), g.shoot(t)); !errors.Is(err, errKilled) {
					t.Fatalf("Reconcile(...) = %v, want an end at write %d", err, kill/2)
				}
				g.clock.Step(10 * time.Second)
				g.start(g.Client)
				for range 2 {
					if err := g.pass(t); err != nil {
						t.Fatal(err)
					}
				}
				if diff := cmp.Diff(want, g.ending(t)); diff != "" {
					t.Errorf("the end (-without +with a kill):\n%s", diff)
				}
			})
		}
	}
}

// TestAskedAgain has the owner ask for another maintenance after one was made and before it is reported.
func TestAskedAgain_GCM_MAINT_12(t *testing.T) {
	t.Parallel()
	g := newGarden(t, offers("1.33.1", "1.0.0"), shoot(always))
	g.gardenlet, g.writes, g.late = true, 1, true
	if _, err := g.Reconcile(t.Context(), g.shoot(t)); !errors.Is(err, errKilled) {
		t.Fatalf("Reconcile(...) = %v, want an end after the write", err)
	}
	g.clock.Step(10 * time.Second)
	g.start(g.Client)
	s := g.shoot(t)
	annotated(operation, "maintain")(s)
	if err := g.Client.Update(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if err := g.pass(t); err != nil {
		t.Fatal(err)
	}
	if got := g.ending(t); len(got.Operations) != 2 || got.Asked != "" || got.Report.State != "Succeeded" {
		t.Errorf("operations %v, asked %q, report %+v; want the one that was made and the one that was asked for", got.Operations, got.Asked, got.Report)
	}
	if at := g.shoot(t).Status.LastMaintenance.TriggeredTime; !at.Time.Equal(g.clock.Now()) {
		t.Errorf("triggered at %s, want the time of the one that was asked for", at)
	}
}

// TestAnnouncedOnce_GCM_MAINT_12 has the server fail when a maintenance is written, and tries again later. Whatever the time is that it has then, it
// is made once in its window.
func TestAnnouncedOnce_GCM_MAINT_12(t *testing.T) {
	t.Parallel()
	soon := func(s *gardencorev1beta1.Shoot) {
		s.Spec.Maintenance.TimeWindow = &gardencorev1beta1.MaintenanceTimeWindow{Begin: "040000+0000", End: "050000+0000"}
	}
	const first, again = 3, 3 // A dry run, the announcement and the changes; another dry run, the changes and the report.
	for name, tc := range map[string]struct {
		reason  string
		changes []change
		later   time.Duration
		writes  int
		// kept says that the time is that of the first try.
		kept bool
	}{
		"soon":        {"nothing is new to announce", []change{always}, 10 * time.Second, first + again, true},
		"window":      {"what was asked for before the window would not count in it", []change{soon, annotated(operation, "maintain")}, 30 * time.Minute, first + again + 1, false},
		"next window": {"it is another maintenance", []change{always}, 24 * time.Hour, first + again + 1, false},
		"clock set":   {"a time that is still to come would not count", []change{always}, -24 * time.Hour, first + again + 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGarden(t, offers("1.33.1 1.33.2", "1.0.0"), shoot(tc.changes...))
			g.gardenlet, g.writes, g.failure = true, 2, apierrors.NewInternalError(errors.New("the store is full"))
			if _, err := g.Reconcile(t.Context(), g.shoot(t)); !apierrors.IsInternalError(err) {
				t.Fatalf("Reconcile(...) = %v, want the error of the server", err)
			}
			want := g.clock.Now()
			g.clock.SetTime(want.Add(tc.later))
			if !tc.kept {
				want = g.clock.Now()
			}
			if err := g.pass(t); err != nil {
				t.Fatal(err)
			}
			s := g.shoot(t)
			if got := s.Status.LastMaintenance; g.begun != tc.writes || !got.TriggeredTime.Time.Equal(want) || got.State != "Succeeded" {
				t.Errorf("%s: %d writes, want %d; reported %+v, want the time %s", tc.reason, g.begun, tc.writes, got, want)
			}
			_, end := query.MaintenanceTimes(&s.Spec).Occurrence(g.clock.Now())
			g.clock.SetTime(end)
			if err := g.pass(t); err != nil {
				t.Fatal(err)
			}
			if len(g.operations) != 1 {
				t.Errorf("%s: operations %v until the window ends, want one", tc.reason, g.operations)
			}
		})
	}
}

// TestForged_GCM_MAINT_12 has the owner of a shoot write that the maintenance was made, right after it was announced.
func TestForged_GCM_MAINT_12(t *testing.T) {
	t.Parallel()
	g := newGarden(t, offers("1.33.1 1.33.2", "1.0.0"), shoot(always))
	g.gardenlet = true
	g.meanwhile = func(write int) {
		if s := g.shoot(t); write == 2 {
			annotated("maintenance.shoot.gardener.cloud/trigger-timestamp", s.Status.LastMaintenance.TriggeredTime.UTC().Format(time.RFC3339))(s)
			g.meanwhile = nil
			if err := g.Client.Update(t.Context(), s); err != nil {
				t.Error(err)
			}
		}
	}
	if _, err := g.Reconcile(t.Context(), g.shoot(t)); err != nil && !apierrors.IsConflict(err) {
		t.Fatal(err)
	}
	if err := g.pass(t); err != nil {
		t.Fatal(err)
	}
	if got := g.ending(t); got.Spec.Kubernetes.Version != "1.33.2" || got.Report.State != "Succeeded" || len(got.Operations) != 1 {
		t.Errorf("version %s, report %+v, operations %v; want the maintenance made, once", got.Spec.Kubernetes.Version, got.Report, got.Operations)
	}
}

// TestInterruptedUntilTheWindowIsClosed sees that a maintenance which was interrupted changes nothing outside of its window.
func TestInterruptedUntilTheWindowIsClosed(t *testing.T) {
	t.Parallel()
	const postponed = "The maintenance was interrupted and is made in the next time window"
	for name, tc := range map[string]struct {
		reason, offered string
		write           int
		late            bool
		state           gardencorev1beta1.LastOperationState
		failed          string
		operations      int
	}{
		"GCM-MAINT-12 not made":     {"the changes wait for the next window", "1.33.1 1.33.2", 2, false, "Failed", postponed + ": Kubernetes of", 0},
		"GCM-MAINT-12 no operation": {"so does the operation", "1.33.1", 1, false, "Failed", postponed, 0},
		"GCM-MAINT-12 made":         {"only the report was missing", "1.33.1 1.33.2", 2, true, "Succeeded", "", 1},
		"GCM-MAINT-12 more by now":  {"what is planned next waits for the next window", "1.33.1:expired 1.34.1:expired 1.35.1", 2, true, "Succeeded", "", 1},
		"GCM-MAINT-12 no changes":   {"only the report was missing", "1.33.1", 2, false, "Succeeded", "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGarden(t, offers(tc.offered, "1.0.0"), shoot(always))
			g.gardenlet, g.writes, g.late = true, tc.write, tc.late
			if _, err := g.Reconcile(t.Context(), g.shoot(t)); !errors.Is(err, errKilled) {
				t.Fatalf("Reconcile(...) = %v, want an end at write %d", err, tc.write)
			}
			before := g.shoot(t)
			g.clock.Step(time.Hour)
			g.start(g.Client)
			result, err := g.Reconcile(t.Context(), g.shoot(t))
			if err != nil || result.RequeueAfter != 10*time.Minute {
				t.Errorf("Reconcile(...) = %v, %v, want another look in ten minutes, until the next window", result, err)
			}
			after := g.shoot(t)
			if diff := cmp.Diff(before.Spec, after.Spec); diff != "" || len(g.operations) != tc.operations {
				t.Errorf("%s\noperations %v, want %d, the spec (-before +after):\n%s", tc.reason, g.operations, tc.operations, diff)
			}
			last, reason := after.Status.LastMaintenance, ""
			if last.FailureReason != nil {
				reason = *last.FailureReason
			}
			if last.State != tc.state || !strings.HasPrefix(reason, tc.failed) || (reason == "") != (tc.failed == "") {
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
		"no changes": {"1.33.1", 2},
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
	for range 2 {
		result, err := g.Reconcile(t.Context(), g.shoot(t))
		if err != nil || result.RequeueAfter != 10*time.Minute {
			t.Fatalf("GCM-MAINT-1: Reconcile(...) = %v, %v, want another look in ten minutes, until tomorrow", result, err)
		}
	}
	if g.begun != 3 {
		t.Errorf("%d writes, want one for the operation between two for the status", g.begun)
	}
	want := &gardencorev1beta1.LastMaintenance{Description: "Nothing had to be changed", State: "Succeeded", TriggeredTime: metav1.NewTime(now())}
	if diff := cmp.Diff(want, g.shoot(t).Status.LastMaintenance); diff != "" {
		t.Errorf("GCM-MAINT-12: status (-want +got):\n%s", diff)
	}
}
