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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
}

func newGarden(t *testing.T, profile *gardencorev1beta1.CloudProfileSpec, s *gardencorev1beta1.Shoot) *garden {
	t.Helper()
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	g := &garden{clock: clocktesting.NewFakeClock(now()), writes: -1}
	write := func() error {
		g.writes--
		if g.writes == -1 {
			return errKilled
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
			if err != nil || result.RequeueAfter != 23*time.Hour+time.Second {
				t.Errorf("Reconcile(...) = %v, %v, want another pass in the next window", result, err)
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

// TestPlainMaintenance sees how little a maintenance costs that changes nothing.
func TestPlainMaintenance(t *testing.T) {
	t.Parallel()
	g := newGarden(t, offers("1.33.1", "1.0.0"), shoot(always))
	g.writes = 100
	for range 2 {
		result, err := g.Reconcile(t.Context(), g.shoot(t))
		if err != nil || result.RequeueAfter != 24*time.Hour+time.Second {
			t.Fatalf("GCM-MAINT-1: Reconcile(...) = %v, %v, want another pass tomorrow", result, err)
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
