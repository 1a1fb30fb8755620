// SPDX-License-Identifier: Apache-2.0

package managedseedset_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/garden/managedseedset"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

var errKilled = errors.New("the process was killed")

// field is a garden in which shoots are made and seeds registered as soon as they are asked for. Its controller can be killed.
type field struct {
	// Client is the garden; dying is how the controller reaches it.
	client.WithWatch

	t     *testing.T
	dying client.WithWatch
	// writes counts the writes of the controller. It is killed after the write with the number killAt, and not at all if that is 0.
	writes, killAt int
	killed         bool
	// made are the shoots that were created, in their order.
	made []string
}

func newField(t *testing.T, kinds *runtime.Scheme, killAt int, objects ...client.Object) *field {
	t.Helper()
	f := &field{t: t, killAt: killAt}
	f.WithWatch = managedseedset.Indexed(fake.NewClientBuilder().WithScheme(kinds)).WithObjects(objects...).WithStatusSubresource(
		&set{}, &gardencorev1beta1.Shoot{}, &gardencorev1beta1.Seed{}, &gardenseedmanagementv1alpha1.ManagedSeed{}).Build()
	f.dying = interceptor.NewClient(f.WithWatch, interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, o ...client.CreateOption) error {
			return f.write(func() error {
				if _, ok := object.(*gardencorev1beta1.Shoot); ok {
					f.made = append(f.made, object.GetName())
				}
				return c.Create(ctx, object, o...)
			})
		},
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, o ...client.PatchOption) error {
			return f.write(func() error { return c.Patch(ctx, object, patch, o...) })
		},
		Delete: func(ctx context.Context, c client.WithWatch, object client.Object, o ...client.DeleteOption) error {
			return f.write(func() error { return c.Delete(ctx, object, o...) })
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, object client.Object, patch client.Patch, o ...client.SubResourcePatchOption) error {
			return f.write(func() error { return c.SubResource(sub).Patch(ctx, object, patch, o...) })
		},
	})
	return f
}

func kinds(t *testing.T) *runtime.Scheme {
	t.Helper()
	s, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (f *field) write(do func() error) error {
	if f.killed {
		return errKilled
	}
	f.writes++
	err := do()
	f.killed = f.writes == f.killAt
	return err
}

// controller reads from a cache and from a server.
func controller(cache, server client.Client) *managedseedset.Reconciler {
	return &managedseedset.Reconciler{
		Base: kit.Base{Client: cache, Reader: server, Clock: clocktesting.NewFakeClock(at(0)), Recorder: events.NewFakeRecorder(100)},
		Config: gardenconfigv1alpha1.ServerManagedSeedSetControllerConfiguration{
			MaxShootRetries: new(3), SyncPeriod: &metav1.Duration{Duration: time.Hour},
		},
	}
}

// pass runs the controller once. A killed one has been started again.
func (f *field) pass(s *set) {
	f.t.Helper()
	f.killed = false
	r := controller(f.dying, f.dying)
	result, err := reconcile.AsReconciler(client.Client(f.WithWatch), r).Reconcile(f.t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(s)})
	if err != nil && !errors.Is(err, errKilled) {
		f.t.Fatal(err)
	}
	if err == nil && result.RequeueAfter != time.Hour {
		f.t.Errorf("GCM-MSS-1: the next pass comes after %s, want the sync period", result.RequeueAfter)
	}
}

// grow does what gardenlets do: shoots are reconciled, and ManagedSeeds register seeds.
func (f *field) grow() {
	f.t.Helper()
	ctx := f.t.Context()
	shoots, managed := &gardencorev1beta1.ShootList{}, &gardenseedmanagementv1alpha1.ManagedSeedList{}
	seeds := &gardencorev1beta1.SeedList{}
	if err := errors.Join(f.List(ctx, shoots), f.List(ctx, managed), f.List(ctx, seeds)); err != nil {
		f.t.Fatal(err)
	}
	var errs []error
	for i := range shoots.Items {
		s := &shoots.Items[i]
		if s.Status.LastOperation != nil {
			continue
		}
		s.Labels["shoot.gardener.cloud/status"] = "healthy"
		errs = append(errs, f.Update(ctx, s))
		operated(s, "Create", "Succeeded")
		errs = append(errs, f.Status().Update(ctx, s))
	}
	registered := map[string]bool{}
	for i := range managed.Items {
		m := &managed.Items[i]
		registered[m.Name] = true
		m.Status.Conditions = []gardencorev1beta1.Condition{{Type: "SeedRegistered", Status: "True"}}
		errs = append(errs, f.Status().Update(ctx, m))
		seed := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: m.Name}}
		if errs = append(errs, ignoreExisting(f.Create(ctx, seed))); len(seed.Status.Conditions) == 0 {
			seed.Status.Conditions = []gardencorev1beta1.Condition{{Type: "GardenletReady", Status: "True"}, {Type: "SeedSystemComponentsHealthy", Status: "True"}}
			errs = append(errs, ignoreExisting(f.Status().Update(ctx, seed)))
		}
	}
	for i := range seeds.Items {
		if !registered[seeds.Items[i].Name] {
			errs = append(errs, f.Delete(ctx, &seeds.Items[i]))
		}
	}
	if err := errors.Join(errs...); err != nil {
		f.t.Fatal(err)
	}
}

func ignoreExisting(err error) error {
	if apierrors.IsAlreadyExists(err) || apierrors.IsConflict(err) || apierrors.IsInvalid(err) {
		return nil
	}
	return err
}

// until runs the controller until the set has that many replicas, all of them ready and none pending.
func (f *field) until(s *set, replicas int32) {
	f.t.Helper()
	for range 100 {
		f.pass(s)
		f.grow()
		err := f.Get(f.t.Context(), client.ObjectKeyFromObject(s), s)
		if replicas == 0 && apierrors.IsNotFound(err) {
			return
		}
		if err != nil {
			f.t.Fatal(err)
		}
		if replicas > 0 && s.Status.Replicas == replicas && s.Status.ReadyReplicas == replicas && s.Status.PendingReplica == nil {
			return
		}
	}
	f.t.Fatalf("no %d replicas after 100 passes, status %+v", replicas, s.Status)
}

// names lists the shoots and ManagedSeeds that there are.
func (f *field) names() []string {
	f.t.Helper()
	shoots, managed := &gardencorev1beta1.ShootList{}, &gardenseedmanagementv1alpha1.ManagedSeedList{}
	if err := errors.Join(f.List(f.t.Context(), shoots), f.List(f.t.Context(), managed)); err != nil {
		f.t.Fatal(err)
	}
	var names []string
	for i := range shoots.Items {
		names = append(names, "shoot "+shoots.Items[i].Name)
	}
	for i := range managed.Items {
		names = append(names, "managed seed "+managed.Items[i].Name)
	}
	slices.Sort(names)
	return names
}

// life grows a set to two replicas, shrinks it to one, and deletes it. It returns what there was in between.
func (f *field) life(s *set) [][]string {
	f.t.Helper()
	f.until(s, 2)
	story := [][]string{f.names()}
	s.Spec.Replicas = new(int32(1))
	if err := f.Update(f.t.Context(), s); err != nil {
		f.t.Fatal(err)
	}
	f.until(s, 1)
	story = append(story, f.names())
	if err := f.Delete(f.t.Context(), s); err != nil {
		f.t.Fatal(err)
	}
	f.until(s, 0)
	return append(story, f.names(), f.made)
}

// TestLife lets a set live, once undisturbed and once for each of its writes, after which the controller is killed.
func TestLife(t *testing.T) {
	t.Parallel()
	want := [][]string{
		{"managed seed a-0", "managed seed a-1", "shoot a-0", "shoot a-1"},
		{"managed seed a-1", "shoot a-1"},
		nil,
		{"a-0", "a-1"},
	}
	known := kinds(t)
	fresh := func() *set { return bed(2, func(s *set) { s.Finalizers = nil }) }
	undisturbed := newField(t, known, 0, fresh())
	if diff := cmp.Diff(want, undisturbed.life(fresh())); diff != "" {
		t.Fatalf("the life of a set (-want +got):\n%s", diff)
	}
	if undisturbed.writes < 16 {
		t.Fatalf("only %d writes were counted", undisturbed.writes)
	}
	for kill := 1; kill <= undisturbed.writes; kill++ {
		t.Run(fmt.Sprintf("GCM-ROBUST-1 killed after write %d", kill), func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(want, newField(t, known, kill, fresh()).life(fresh())); diff != "" {
				t.Errorf("a set to which the controller comes back lives as if it had not been away (-want +got):\n%s", diff)
			}
		})
	}
}

// TestOldCache lets the controller see a world without its replica, which the server has.
func TestOldCache(t *testing.T) {
	t.Parallel()
	known := kinds(t)
	for name, tc := range map[string]struct {
		reason       string
		cached, live []client.Object
		replicas     int32
	}{
		"GCM-MSS-9 growing": {
			reason: "what the cache does not show yet is not made again", replicas: 1,
			live: []client.Object{shootOf("a-0"), managedOf("a-0", "True"), seedOf("a-0")}, cached: []client.Object{seedOf("a-0")},
		},
		"GCM-MSS-10 shrinking": {
			reason: "what the cache still shows is no reason to delete another", replicas: 1,
			cached: []client.Object{shootOf("a-0"), managedOf("a-0", "True"), seedOf("a-0"), shootOf("a-1"), managedOf("a-1", "True"), seedOf("a-1")},
			live:   []client.Object{shootOf("a-0"), managedOf("a-0", "True"), seedOf("a-0")},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := bed(tc.replicas)
			cache, server := newField(t, known, 0, append(tc.cached, s.DeepCopy())...), newField(t, known, 0, append(tc.live, s.DeepCopy())...)
			r := controller(cache.dying, server.dying)
			if _, err := reconcile.AsReconciler(client.Client(cache.WithWatch), r).Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(s)}); err != nil {
				t.Fatal(err)
			}
			// The status is written, and nothing else.
			if cache.writes != 1 || len(cache.made) > 0 {
				t.Errorf("%s: %d writes, shoots %v", tc.reason, cache.writes, cache.made)
			}
		})
	}
}

// TestForeign lets a set grow beside what has the labels and the name of a replica and belongs to somebody else.
func TestForeign_GCM_MSS_2(t *testing.T) {
	t.Parallel()
	known := kinds(t)
	for reason, tc := range map[string]struct {
		owner *metav1.OwnerReference
		made  []string
	}{
		"a shoot without an owner is a replica":                           {},
		"so is one of the set":                                            {owner: metav1.NewControllerRef(bed(1), gardenseedmanagementv1alpha1.GroupVersion.WithKind("ManagedSeedSet"))},
		"one of an earlier set of its name is not, and its name is taken": {owner: metav1.NewControllerRef(bed(1, func(s *set) { s.UID = "uid-before" }), gardenseedmanagementv1alpha1.GroupVersion.WithKind("ManagedSeedSet")), made: []string{"a-1"}},
	} {
		shoot := shootOf("a-0")
		operated(shoot, "Create", "Processing")
		if tc.owner != nil {
			shoot.OwnerReferences = []metav1.OwnerReference{*tc.owner}
		}
		s := bed(1)
		f := newField(t, known, 0, s.DeepCopy(), shoot)
		if _, err := reconcile.AsReconciler(client.Client(f.WithWatch), controller(f.dying, f.dying)).Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(s)}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tc.made, f.made); diff != "" {
			t.Errorf("%s\nshoots that were created (-want +got):\n%s", reason, diff)
		}
	}
}

// TestGivenUp sees that it is a warning when a shoot is not retried any more, and none when it is.
func TestGivenUp(t *testing.T) {
	t.Parallel()
	for retries, want := range map[int32]string{
		2: "Normal RetryingShootReconciliation Retrying the failed reconciliation of shoot \"a-0\"",
		3: "Warning NotRetryingShootReconciliation The reconciliation of shoot \"a-0\" failed too often and is not retried any more",
	} {
		s := bed(1, waits("a-0", "ShootReconciling", retries))
		failed := in(0, managedseedset.ShootReconcileFailed)
		recorder := events.NewFakeRecorder(10)
		c := newField(t, kinds(t), 0, s, failed.Shoot)
		r := controller(c, c)
		r.Recorder = recorder
		if _, err := reconcile.AsReconciler(client.Client(c.WithWatch), r).Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(s)}); err != nil {
			t.Fatal(err)
		}
		select {
		case got := <-recorder.Events:
			if got != want {
				t.Errorf("GCM-MSS-12: after %d retries the event is %q, want %q", retries, got, want)
			}
		default:
			t.Errorf("GCM-MSS-12: after %d retries there is no event, want %q", retries, want)
		}
	}
}

// TestRetryKilled_GCM_MSS_8 kills the controller between its two writes of a retry, and has another one change the shoot meanwhile: the shoot
// is retried as often as it may be, though one retry may not be counted.
func TestRetryKilled_GCM_MSS_8(t *testing.T) {
	t.Parallel()
	for name, conflict := range map[string]bool{"Killed": false, "Conflict": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			own := bed(1, waits("a-0", gardenseedmanagementv1alpha1.ShootReconcilingReason), next(1))
			shoot := in(0, managedseedset.ShootReconcileFailed).Shoot
			f := newField(t, kinds(t), 1, own, shoot)
			if conflict {
				f.killAt = 0
				f.dying = interceptor.NewClient(f.dying, interceptor.Funcs{
					Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, o ...client.PatchOption) error {
						if _, is := object.(*gardencorev1beta1.Shoot); is && f.writes < 2 {
							f.writes++
							return apierrors.NewConflict(schema.GroupResource{Resource: "shoots"}, object.GetName(), errors.New("changed"))
						}
						return c.Patch(ctx, object, patch, o...)
					},
				})
			}
			asked, limit := 0, 3
			for range 3 * limit {
				f.once(own)
				if err := f.Get(t.Context(), client.ObjectKeyFromObject(shoot), shoot); err != nil {
					t.Fatal(err)
				}
				if shoot.Annotations[gardencorev1beta1.AnnotationOperation] != gardencorev1beta1.OperationRetry {
					continue
				}
				// The shoot is retried, and fails once more.
				asked++
				delete(shoot.Annotations, gardencorev1beta1.AnnotationOperation)
				if err := f.Update(t.Context(), shoot); err != nil {
					t.Fatal(err)
				}
			}
			if asked < limit || asked > limit+1 {
				t.Errorf("the shoot was retried %d times, want %d, and not more than one more", asked, limit)
			}
		})
	}
}

// once runs the controller once, whatever comes of it. A killed one has been started again.
func (f *field) once(s *set) {
	f.t.Helper()
	f.killed = false
	_, err := reconcile.AsReconciler(client.Client(f.WithWatch), controller(f.dying, f.dying)).Reconcile(f.t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(s)})
	if err != nil && !errors.Is(err, errKilled) {
		f.t.Fatal(err)
	}
}
