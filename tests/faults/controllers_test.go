// SPDX-License-Identifier: Apache-2.0

package faults_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperationsv1alpha1 "github.com/terrarium-garden/terrarium/apis/operations/v1alpha1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
)

// deed is work for which a controller of the garden needs several writes.
type deed struct {
	name string
	// begin asks for the work.
	begin func(w *world) error
	// kill is the kind of object whose first change that matches is a write in the middle of the work.
	kill    client.ObjectList
	matches func(watch.EventType, client.Object) bool
	// hold, in place of both, says which write of a controller is the next one when the server is killed.
	hold func(write) bool
	// owner does what the owner of the object wants in the middle of the work: before the kill or, if late is set, when the server is there
	// again and before it goes on. It may be nil. Undisturbed, it comes after the work.
	owner func(w *world) error
	late  bool
	// rest returns an error as long as the work is not over.
	rest func(w *world) error
}

// deeds are done one after the other in one garden.
func deeds() []deed {
	return []deed{
		{
			name: "GCM-PROJECT-1 the finalizer of a project", begin: create(project("one")), rest: ready("one"),
			kill: &gardencorev1beta1.ProjectList{}, matches: func(_ watch.EventType, o client.Object) bool {
				return len(o.GetFinalizers()) > 0 && o.GetName() == "one"
			},
		},
		{
			name: "GCM-PROJECT-2 the namespace of a project", begin: create(project("two")), rest: ready("two"),
			kill: &corev1.NamespaceList{}, matches: called("garden-two", watch.Added),
		},
		{
			name: "GCM-PROJECT-7 a role of a project", begin: create(project("three")), rest: ready("three"),
			kill: &rbacv1.ClusterRoleList{}, matches: called("gardener.cloud:system:project:three", watch.Added),
		},
		{
			name: "GCM-BASTION-3 a shoot with a bastion ends", begin: endShoot, rest: gone(&gardenoperationsv1alpha1.Bastion{ObjectMeta: in("garden-one", "door")}),
			kill: &gardencorev1beta1.ShootList{}, matches: func(_ watch.EventType, o client.Object) bool { return o.GetDeletionTimestamp() != nil },
		},
		{
			name: "GCM-MSS-9 the number of a replica", begin: createSet, rest: pending("a-0", gardenseedmanagementv1alpha1.ShootReconcilingReason),
			kill: &gardenseedmanagementv1alpha1.ManagedSeedSetList{}, matches: func(_ watch.EventType, o client.Object) bool {
				set, ok := o.(*gardenseedmanagementv1alpha1.ManagedSeedSet)
				return ok && set.Status.PendingReplica != nil
			},
		},
		{
			name: "GCM-MSS-8 the ManagedSeed of a replica", begin: reconcileReplica, rest: pending("a-0", gardenseedmanagementv1alpha1.ManagedSeedPreparingReason),
			kill: &gardenseedmanagementv1alpha1.ManagedSeedSetList{}, matches: func(_ watch.EventType, o client.Object) bool {
				set, ok := o.(*gardenseedmanagementv1alpha1.ManagedSeedSet)
				return ok && set.Status.PendingReplica != nil && set.Status.PendingReplica.Reason == gardenseedmanagementv1alpha1.ManagedSeedPreparingReason
			},
		},
		{
			name: "GCM-MSS-10 a set shrinks", begin: scaleSet(0), rest: gone(&gardencorev1beta1.Shoot{ObjectMeta: in("garden", "a-0")}),
			kill: &gardenseedmanagementv1alpha1.ManagedSeedList{}, matches: called("a-0", watch.Deleted),
		},
		{
			name: "GCM-MSS-9 the shoot of another replica", begin: scaleSet(1), rest: pending("a-1", gardenseedmanagementv1alpha1.ShootReconcilingReason),
			kill: &gardencorev1beta1.ShootList{}, matches: called("a-1", watch.Added),
		},
		{
			name: "GCM-MSS-11 a set ends", begin: remove(&gardenseedmanagementv1alpha1.ManagedSeedSet{ObjectMeta: in("garden", "a")}),
			rest: gone(&gardenseedmanagementv1alpha1.ManagedSeedSet{ObjectMeta: in("garden", "a")}),
			kill: &gardencorev1beta1.ShootList{}, matches: called("a-1", watch.Modified, watch.Deleted),
		},
		{
			name: "GCM-PROJECT-11 a project ends", begin: endProject("two"), rest: gone(project("two")),
			kill: &corev1.NamespaceList{}, matches: func(_ watch.EventType, o client.Object) bool {
				return o.GetName() == "garden-two" && o.GetDeletionTimestamp() != nil
			},
		},
		{
			name: "GCM-PROJECT-10 a project begins to end", begin: endProject("three"), rest: gone(project("three")),
			kill: &gardencorev1beta1.ProjectList{}, matches: func(_ watch.EventType, o client.Object) bool {
				return o.GetName() == "three" && o.GetDeletionTimestamp() != nil
			},
		},
	}
}

// TestControllersKilled kills the server in the middle of each deed, starts it again, and compares what there is afterwards with
// what there is in a garden that nobody disturbs (GCM-ROBUST-1).
//
//nolint:paralleltest // The processes of both gardens need the machine.
func TestControllersKilled(t *testing.T) {
	calm, troubled := settle(t), settle(t)
	for _, d := range slices.Concat(deeds(), deedsInProject(), deedsOfSeeds(), deedsOfSelfHosted(), deedsOfShoots()) {
		done := t.Run(d.name, func(t *testing.T) {
			calm.t, troubled.t = t, t
			if err := d.begin(calm); err != nil {
				t.Fatal(err)
			}
			calm.until(d.rest)
			if d.owner != nil {
				calm.must(d.owner)
			}
			troubled.killAmid(d)
			troubled.restart(d)
			troubled.until(d.rest)
			var diff string
			troubled.until(func(w *world) error {
				if diff = cmp.Diff(calm.state(), w.state()); diff != "" {
					return fmt.Errorf("the end differs (-undisturbed +killed):\n%s", diff)
				}
				return nil
			})
		})
		if !done {
			t.Fatal("what follows begins with what was not reached")
		}
	}
}

// killAmid begins a deed, waits until it is in the middle, and kills the server.
func (w *world) killAmid(d deed) {
	w.t.Helper()
	if d.hold != nil && w.gate == nil {
		w.gate = newGate(w)
	}
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	amid := w.amid(ctx, d)
	begun := make(chan error, 1)
	go func() { begun <- d.begin(w) }()
	for {
		select {
		case err := <-begun:
			if err != nil {
				w.t.Fatal(err)
			}
			begun = nil
		case _, seen := <-amid:
			if !seen {
				w.t.Fatal("nothing was seen of the work")
			}
			if d.owner != nil && !d.late {
				w.must(d.owner)
			}
			w.garden.kill()
			if begun != nil {
				//nolint:errcheck // The answer may have been lost with the server.
				<-begun
			}
			return
		}
	}
}

// amid returns what tells that a deed is in its middle. It is closed if that was not seen.
func (w *world) amid(ctx context.Context, d deed) <-chan struct{} {
	w.t.Helper()
	if d.hold != nil {
		return w.hold(ctx, d)
	}
	watched, err := w.client().Watch(ctx, d.kill)
	if err != nil {
		w.t.Fatal(err)
	}
	amid := make(chan struct{}, 1)
	go func() {
		defer close(amid)
		defer watched.Stop()
		for event := range watched.ResultChan() {
			if object, ok := event.Object.(client.Object); ok && d.matches(event.Type, object) {
				amid <- struct{}{}
				return
			}
		}
	}()
	return amid
}

const patience = 2 * time.Minute

func (w *world) until(check func(*world) error) {
	w.t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(w.t.Context(), 50*time.Millisecond, patience, true, func(context.Context) (bool, error) {
		last = check(w)
		return last == nil, nil
	})
	if err != nil {
		w.t.Fatalf("not within %s: %v", patience, last)
	}
}

func called(name string, types ...watch.EventType) func(watch.EventType, client.Object) bool {
	return func(event watch.EventType, o client.Object) bool {
		for _, t := range types {
			if t == event && o.GetName() == name {
				return true
			}
		}
		return false
	}
}

func gone(object client.Object) func(*world) error {
	return func(w *world) error {
		err := w.client().Get(w.t.Context(), client.ObjectKeyFromObject(object), object)
		switch {
		case apierrors.IsNotFound(err):
			return nil
		case err != nil:
			return err
		default:
			return fmt.Errorf("%T %q is still there", object, object.GetName())
		}
	}
}

func ready(name string) func(*world) error {
	return func(w *world) error {
		p := project(name)
		if err := w.client().Get(w.t.Context(), client.ObjectKeyFromObject(p), p); err != nil {
			return err
		}
		if p.Status.Phase != gardencorev1beta1.ProjectPhaseReady || p.Status.ObservedGeneration != p.Generation {
			return fmt.Errorf("project %q is %s", name, p.Status.Phase)
		}
		return nil
	}
}

func pending(name string, reason gardenseedmanagementv1alpha1.PendingReplicaReason) func(*world) error {
	return func(w *world) error {
		set := &gardenseedmanagementv1alpha1.ManagedSeedSet{ObjectMeta: in("garden", "a")}
		if err := w.client().Get(w.t.Context(), client.ObjectKeyFromObject(set), set); err != nil {
			return err
		}
		if p := set.Status.PendingReplica; p == nil || p.Name != name || p.Reason != reason {
			return fmt.Errorf("pending is %+v", p)
		}
		if reason == gardenseedmanagementv1alpha1.ManagedSeedPreparingReason {
			return w.client().Get(w.t.Context(), client.ObjectKey{Namespace: "garden", Name: name}, &gardenseedmanagementv1alpha1.ManagedSeed{})
		}
		return w.client().Get(w.t.Context(), client.ObjectKey{Namespace: "garden", Name: name}, &gardencorev1beta1.Shoot{})
	}
}

func create(objects ...client.Object) func(*world) error {
	return func(w *world) error {
		var errs []error
		for _, o := range objects {
			fresh, _ := o.DeepCopyObject().(client.Object)
			errs = append(errs, w.client().Create(w.t.Context(), fresh))
		}
		return errors.Join(errs...)
	}
}

func remove(object client.Object) func(*world) error {
	return func(w *world) error { return w.client().Delete(w.t.Context(), object) }
}

// confirm allows the deletion of an object and deletes it.
func (w *world) confirm(object client.Object) error {
	before, _ := object.DeepCopyObject().(client.Object)
	object.SetAnnotations(map[string]string{gardencorev1beta1.AnnotationConfirmationDeletion: "true"})
	if err := w.client().Patch(w.t.Context(), object, client.MergeFrom(before)); err != nil {
		return err
	}
	return w.client().Delete(w.t.Context(), object)
}

func endProject(name string) func(*world) error {
	return func(w *world) error { return w.confirm(project(name)) }
}

func in(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name}
}
