// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"cmp"
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
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
	// Resync is the time after which an object is acted on again although nobody has asked, for the kind Extension; 0 for never
	// (EXT-CTRL-6).
	Resync time.Duration
	// Unasked lets every change of an object's spec, of its Cluster and of the Secret that it refers to start a run as well, for tests and
	// special set-ups: nobody has to ask for it by the operation annotation (EXT-OP-7).
	Unasked bool
}

// ActUnasked sets Unasked.
func (r *Reconciler[T]) ActUnasked() { r.Unasked = true }

// AddToManager fills the unset fields from the manager of the seed and registers the controller.
func (r *Reconciler[T]) AddToManager(seed manager.Manager) error {
	r.Limit = cmp.Or(r.Limit, defaultLimit)
	return kit.Complete(r.watchMore(r.ManagedBy(seed, r.Name, kit.Queue{}).For(r.New(), builder.WithPredicates(r.starts()))), r.Name, r)
}

// Reconcile makes one run on an object.
func (r *Reconciler[T]) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	object := r.New()
	if err := r.Reader.Get(ctx, request.NamespacedName, object); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if !Mine(object) {
		return reconcile.Result{}, nil
	}
	// The previous run may have done the work already, because its own writes are events as well.
	if now, after := r.due(object); !now {
		return reconcile.Result{RequeueAfter: after}, nil
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
	kind := Operation(object)
	if err := p.operate(ctx, kind); err != nil {
		if kit.IsFailure(err) {
			err = operation.Classify(err)
		}
		return p.run.Fail(ctx, err)
	}
	return reconcile.Result{RequeueAfter: r.again(kind)}, nil
}
