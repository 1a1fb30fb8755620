// SPDX-License-Identifier: Apache-2.0

package shoot_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

var errUnwritable = errors.New("the seed has no space left")

// newQuiet has a shoot without workers whose operations succeed at once. The given function decides about each write of its Cluster
// object, the first of which has number 1.
func newQuiet(t *testing.T, allow func(write int) error) *landscape {
	t.Helper()
	l := newLandscape(t, fresh())
	system := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "kube-system"}}
	inside := fake.NewClientBuilder().WithScheme(l.SeedClient.Scheme()).WithObjects(system).Build()
	seed, ok := livelySeed(l.SeedClient.Scheme(), inside).(client.WithWatch)
	if !ok {
		t.Fatal("the client of the seed cannot be intercepted")
	}
	writes := 0
	l.SeedClient = interceptor.NewClient(seed, interceptor.Funcs{
		Apply: func(ctx context.Context, c client.WithWatch, obj runtime.ApplyConfiguration, options ...client.ApplyOption) error {
			if named, ok := obj.(interface{ GetKind() string }); ok && named.GetKind() == "Cluster" {
				writes++
				if err := allow(writes); err != nil {
					return err
				}
			}
			return c.Apply(ctx, obj, options...)
		},
	})
	l.Shoots = &kit.Shoots{Seed: l.SeedClient, Connect: func([]byte) (*kit.Shoot, error) { return &kit.Shoot{Client: inside, Try: reached}, nil }}

	return l
}

// TestClusterBeforeTheRun_GLET_SHOOT_16 cannot tell the extensions of an operation: it does not begin, and is tried again.
func TestClusterBeforeTheRun_GLET_SHOOT_16(t *testing.T) {
	t.Parallel()
	l := newQuiet(t, func(int) error { return errUnwritable })
	// The pauses do not grow.
	for range 3 {
		if result, err := l.pass(t.Context()); err != nil || result.RequeueAfter != 15*time.Second {
			t.Errorf("Reconcile(...) = %v, %v, want another try after 15s", result, err)
		}
	}
	if last := l.shoot(t).Status.LastOperation; last != nil {
		t.Errorf("lastOperation = %+v, want no operation begun", last)
	}
	if made := found(t, l.SeedClient, inSeed()...); len(made) != 0 {
		t.Errorf("a run has made %v", made)
	}
}

// TestClusterOfAReleasedShoot_GLET_SHOOT_17 kills the first run between its first write in the seed and that in the garden. The shoot, of
// which the garden knows no run, leaves nothing behind, and takes nothing of another one.
func TestClusterOfAReleasedShoot_GLET_SHOOT_17(t *testing.T) {
	t.Parallel()
	for name, uid := range map[string]types.UID{"Own": "", "Foreign": "of another shoot"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newQuiet(t, func(int) error { return nil })
			garden, _ := l.GardenClient.(client.WithWatch)
			killed := errors.New("killed")
			l.GardenClient = interceptor.NewClient(garden, interceptor.Funcs{
				SubResourcePatch: func(context.Context, client.Client, string, client.Object, client.Patch, ...client.SubResourcePatchOption) error {
					return killed
				},
			})
			if _, err := l.pass(t.Context()); !errors.Is(err, killed) || l.told(t) == nil || l.shoot(t).Status.UID != "" {
				t.Fatalf("Reconcile(...) = %v; the extensions are told %v, and the garden of %q", err, l.told(t), l.shoot(t).Status.UID)
			}
			l.GardenClient = garden
			if uid != "" {
				l.retell(t, func(s *gardencorev1beta1.Shoot) { s.UID = uid })
			}
			if err := garden.Delete(t.Context(), l.shoot(t)); err != nil {
				t.Fatal(err)
			}
			if _, err := l.pass(t.Context()); err != nil {
				t.Fatalf("Reconcile(...) of the deletion = %v", err)
			}
			if err := garden.Get(t.Context(), client.ObjectKey{Namespace: "garden-dev", Name: "a"}, &gardencorev1beta1.Shoot{}); !apierrors.IsNotFound(err) {
				t.Errorf("the shoot is still there: %v", err)
			}
			if left := l.told(t) != nil; left != (uid != "") {
				t.Errorf("the Cluster object is left: %t", left)
			}
		})
	}
}

// retell changes the shoot in the Cluster object.
func (l *landscape) retell(t *testing.T, change func(*gardencorev1beta1.Shoot)) {
	t.Helper()
	told := l.told(t)
	change(told)
	raw, err := json.Marshal(told)
	if err != nil {
		t.Fatal(err)
	}
	cluster := &gardenextensionsv1alpha1.Cluster{}
	if err := l.SeedClient.Get(t.Context(), client.ObjectKey{Name: "shoot--dev--a"}, cluster); err != nil {
		t.Fatal(err)
	}
	cluster.Spec.Shoot = runtime.RawExtension{Raw: raw}
	if err := l.SeedClient.Update(t.Context(), cluster); err != nil {
		t.Fatal(err)
	}
}

// TestClusterAfterTheRun_GLET_SHOOT_16 cannot tell the extensions that an operation has succeeded: it has not, then, and its attempts are
// counted from the first one on. Later it can.
func TestClusterAfterTheRun_GLET_SHOOT_16(t *testing.T) {
	t.Parallel()
	broken := true
	l := newQuiet(t, func(write int) error {
		if broken && write > 1 {
			return errUnwritable
		}
		return nil
	})
	synctest.Test(t, func(t *testing.T) {
		began := clock.RealClock{}.Now()
		if _, err := l.pass(t.Context()); !errors.Is(err, errUnwritable) {
			t.Errorf("Reconcile(...) = %v, want %v", err, errUnwritable)
		}
		status := l.shoot(t).Status
		if status.LastOperation.State != "Error" || len(status.LastErrors) != 1 {
			t.Errorf("lastOperation = %+v, lastErrors = %v, want state Error with the reason", status.LastOperation, status.LastErrors)
		}
		if cycle := status.RetryCycleStartTime; cycle == nil || cycle.Unix() != began.Unix() {
			t.Errorf("retryCycleStartTime = %v, want the start of the run, %v", cycle, began)
		}

		broken = false
		if _, err := l.pass(t.Context()); err != nil {
			t.Errorf("Reconcile(...) once it can be written = %v", err)
		}
	})
	status := l.shoot(t).Status
	if status.LastOperation.State != "Succeeded" || status.RetryCycleStartTime != nil || len(status.LastErrors) != 0 {
		t.Errorf("status = %+v, want success", status)
	}
	if told := l.told(t); told == nil || told.Status.LastOperation.State != "Succeeded" {
		t.Errorf("the extensions are told %+v, want success", told)
	}
}

// TestClusterWithoutARun_EXT_CLUSTER_2 tells the extensions of shoots on which no operation runs: of one that has failed, and of one that
// is ignored. What its owner has changed since is told as well.
func TestClusterWithoutARun_EXT_CLUSTER_2(t *testing.T) {
	t.Parallel()
	cases := map[string]func(*gardencorev1beta1.Shoot){
		"Failed": func(s *gardencorev1beta1.Shoot) {
			s.Status.LastOperation.State = gardencorev1beta1.LastOperationStateFailed
		},
		"Ignored": annotated("shoot.gardener.cloud/ignore", "true"),
	}
	for name, change := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLandscape(t, running(func(s *gardencorev1beta1.Shoot) {
				s.Spec.CloudProfile = &gardencorev1beta1.CloudProfileReference{Kind: "CloudProfile", Name: "local"}
				s.Status.TechnicalID, s.Labels = "shoot--dev--a", map[string]string{"told": "yes"}
			}, change))
			l.Config.RespectSyncPeriodOverwrite = new(true)
			before := l.shoot(t).Status
			if result, err := l.pass(t.Context()); err != nil || !result.IsZero() {
				t.Fatalf("Reconcile(...) = %v, %v, want rest", result, err)
			}
			told := l.told(t)
			if told == nil {
				t.Fatal("the extensions are not told of the shoot")
			}
			if diff := cmp.Diff(before.LastOperation, told.Status.LastOperation); diff != "" || told.Labels["told"] != "yes" {
				t.Errorf("what extensions are told: labels %v, last operation (-want +got):\n%s", told.Labels, diff)
			}
			if diff := cmp.Diff(before, l.shoot(t).Status); diff != "" {
				t.Errorf("no operation has begun, status (-want +got):\n%s", diff)
			}
		})
	}
}
