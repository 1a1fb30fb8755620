// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"fmt"
	"time"

	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// defaultLimit is how long one call of an actor may take.
const defaultLimit = 3 * time.Minute

// Reconciler runs the actor of one kind.
type Reconciler[T gardenextensionsv1alpha1.Object] struct {
	// Name of the controller, in lower case and unique in the process.
	Name string
	// New returns an empty object of the kind.
	New func() T
	// Finalizer that holds objects until the actor has removed what it made.
	Finalizer string
	// Actor does what the objects ask for.
	Actor Actor[T]
	// Client reaches the seed; the manager's when unset.
	Client client.Client
	// Reader reads from the seed without a cache; the manager's when unset.
	Reader client.Reader
	// Clock gives the times in the status; the real one when unset.
	Clock clock.PassiveClock
	// Limit bounds one call of the actor; 3 minutes when unset.
	Limit time.Duration
	// Queue sets concurrency and delays.
	Queue kit.Queue
}

// AddToManager fills the unset fields from the manager and registers the controller.
func (r *Reconciler[T]) AddToManager(mgr manager.Manager) error {
	if r.Client == nil {
		r.Client = mgr.GetClient()
	}
	if r.Reader == nil {
		r.Reader = mgr.GetAPIReader()
	}
	if r.Clock == nil {
		r.Clock = clock.RealClock{}
	}
	if r.Limit == 0 {
		r.Limit = defaultLimit
	}
	err := ctrl.NewControllerManagedBy(mgr).
		Named(r.Name).
		For(r.New(), builder.WithPredicates(starts())).
		WithOptions(r.Queue.Options()).
		Complete(r)
	if err != nil {
		return fmt.Errorf("add controller %q: %w", r.Name, err)
	}
	return nil
}

func starts() predicate.Predicate {
	object := func(o client.Object) gardenextensionsv1alpha1.Object {
		extension, _ := o.(gardenextensionsv1alpha1.Object)
		return extension
	}
	return predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool {
			after := object(e.Object)
			return Mine(after) && StartsOnCreate(after)
		},
		UpdateFunc: func(e event.UpdateEvent) bool {
			after := object(e.ObjectNew)
			return Mine(after) && StartsOnUpdate(object(e.ObjectOld), after)
		},
		DeleteFunc:  func(event.DeleteEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}

// Reconcile makes one run on an object.
func (r *Reconciler[T]) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	object := r.New()
	if err := r.Reader.Get(ctx, request.NamespacedName, object); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	// What has asked for this run may have been done by the one before: writing to an object is an event as well.
	if !Mine(object) || !StartsOnCreate(object) {
		return reconcile.Result{}, nil
	}
	cluster, err := ReadCluster(ctx, r.Reader, object.GetNamespace())
	if err != nil {
		return reconcile.Result{}, err
	}
	if cluster != nil && cluster.Failed() {
		return reconcile.Result{}, nil
	}
	return kit.Result(kit.Continue(), r.operate(ctx, object, cluster))
}

func (r *Reconciler[T]) operate(ctx context.Context, object T, cluster *Cluster) error {
	operation := Operation(object)
	switch operation {
	case gardencorev1beta1.LastOperationTypeMigrate:
		return r.migrate(ctx, object, cluster)
	case gardencorev1beta1.LastOperationTypeDelete:
		return r.delete(ctx, object, cluster)
	case gardencorev1beta1.LastOperationTypeRestore:
		return r.restore(ctx, object, cluster)
	default:
		if Migrated(object) {
			return nil
		}
		return r.reconcile(ctx, object, cluster, operation)
	}
}

// reconcile takes the annotation away before it acts, so that a request made meanwhile is not lost. The run is in the status by
// then: one that is cut off in between is not forgotten.
func (r *Reconciler[T]) reconcile(ctx context.Context, object T, cluster *Cluster, operation gardencorev1beta1.LastOperationType) error {
	if err := r.start(ctx, object, operation); err != nil {
		return err
	}
	err := r.patchMetadata(ctx, object, func() {
		controllerutil.AddFinalizer(object, r.Finalizer)
		removeAnnotation(object, gardencorev1beta1.OperationReconcile)
	})
	if err != nil {
		return err
	}
	return r.act(ctx, object, operation, func(ctx context.Context) error { return r.Actor.Reconcile(ctx, object, cluster) })
}

// restore takes the annotation away after success: the gardenlet waits for both.
func (r *Reconciler[T]) restore(ctx context.Context, object T, cluster *Cluster) error {
	if err := r.patchMetadata(ctx, object, func() { controllerutil.AddFinalizer(object, r.Finalizer) }); err != nil {
		return err
	}
	err := r.act(ctx, object, gardencorev1beta1.LastOperationTypeRestore, func(ctx context.Context) error {
		return r.Actor.Reconcile(ctx, object, cluster)
	})
	if err != nil {
		return err
	}
	return r.patchMetadata(ctx, object, func() { removeAnnotation(object, gardencorev1beta1.OperationRestore) })
}

func (r *Reconciler[T]) migrate(ctx context.Context, object T, cluster *Cluster) error {
	err := r.act(ctx, object, gardencorev1beta1.LastOperationTypeMigrate, func(ctx context.Context) error {
		return r.Actor.Migrate(ctx, object, cluster)
	})
	if err != nil {
		return err
	}
	return r.patchMetadata(ctx, object, func() {
		controllerutil.RemoveFinalizer(object, r.Finalizer)
		removeAnnotation(object, gardencorev1beta1.OperationMigrate)
	})
}

func (r *Reconciler[T]) delete(ctx context.Context, object T, cluster *Cluster) error {
	if !controllerutil.ContainsFinalizer(object, r.Finalizer) || Migrated(object) {
		return nil
	}
	err := r.act(ctx, object, gardencorev1beta1.LastOperationTypeDelete, func(ctx context.Context) error {
		return r.Actor.Delete(ctx, object, cluster)
	})
	if err != nil {
		return err
	}
	return kit.DropFinalizer(ctx, r.Client, object, r.Finalizer)
}

// patchMetadata is refused by the server if the object changed since it was read: a new request must not vanish with an old one.
func (r *Reconciler[T]) patchMetadata(ctx context.Context, object T, mutate func()) error {
	before, _ := object.DeepCopyObject().(client.Object)
	mutate()
	if same(before, object) {
		return nil
	}
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := r.Client.Patch(ctx, object, patch); err != nil {
		return fmt.Errorf("write metadata of %q: %w", object.GetName(), err)
	}
	return nil
}

func same(before, after client.Object) bool {
	data, err := client.MergeFrom(before).Data(after)
	return err == nil && string(data) == "{}"
}

func removeAnnotation(object client.Object, value string) {
	annotations := object.GetAnnotations()
	if annotations[gardencorev1beta1.AnnotationOperation] == value {
		delete(annotations, gardencorev1beta1.AnnotationOperation)
		object.SetAnnotations(annotations)
	}
}
