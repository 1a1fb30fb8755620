// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"cmp"
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/operation"
)

// defaultLimit is how long one call of an actor may take.
const defaultLimit = 3 * time.Minute

// Reconciler runs the actor of one kind.
type Reconciler[T gardenextensionsv1alpha1.Object] struct {
	kit.Base

	// Name of the controller, in lower case and unique in the process.
	Name string
	// New returns an empty object of the kind.
	New func() T
	// Finalizer keeps objects until the actor has removed what it made.
	Finalizer string
	// Actor does what the objects ask for.
	Actor Actor[T]
	// Limit bounds one call of the actor; 3 minutes when unset.
	Limit time.Duration
}

// AddToManager fills the unset fields from the manager of the seed and registers the controller.
func (r *Reconciler[T]) AddToManager(seed manager.Manager) error {
	r.Limit = cmp.Or(r.Limit, defaultLimit)
	return kit.Complete(r.ManagedBy(seed, r.Name, kit.Queue{}).For(r.New(), builder.WithPredicates(starts())), r.Name, r)
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
	// The previous run may have done the work already, because its own writes are events as well.
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
	p := &pass[T]{r: r, object: object, cluster: cluster}
	p.run = operation.Machine[T]{Kind: operation.Extensions[T](r.Name), Client: r.Client, Clock: r.Clock}.On(object)
	if err := p.operate(ctx, Operation(object)); err != nil {
		if kit.IsFailure(err) {
			err = operation.Classify(err)
		}
		return p.run.Fail(ctx, err)
	}
	return reconcile.Result{}, nil
}
