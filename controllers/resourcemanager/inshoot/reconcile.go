// SPDX-License-Identifier: Apache-2.0

package inshoot

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/resourcemanager/target"
)

const (
	controllerName = "in-shoot"
	// unreachablePause is the time between two attempts while a shoot has no access yet, or answers with an error.
	unreachablePause = 5 * time.Second
	// again is the time after which objects are looked at again that a function is not done with.
	again = 10 * time.Second
	// resync is the time after which objects are looked at again in any case.
	resync = 10 * time.Minute
	// pageSize bounds what is held in memory of one list, listTimeout how long one takes with all that is done with its objects.
	pageSize    = 250
	listTimeout = 10 * time.Minute
)

// Kind is a kind of objects that are followed in every shoot.
type Kind struct {
	// Name is for logs.
	Name string
	// List returns an empty list of the kind, and Options select its objects.
	List    func() client.ObjectList
	Options []client.ListOption
	// Act is called for each object that is there or changes, one after the other. It reports whether it wants to see the object again
	// soon, which is also the case after an error.
	Act func(ctx context.Context, shoot Shoot, object client.Object) (unfinished bool, err error)
}

// Shoot is where an object is.
type Shoot struct {
	*kit.Shoot

	// Namespace is that of the control plane in the seed.
	Namespace string
}

// Reconciler starts to follow a shoot when it is awake, and stops when it falls asleep or is gone.
type Reconciler struct {
	kit.Base

	// Targets finds the shoots.
	Targets target.Finder
	// Kinds are followed in each.
	Kinds []Kind

	log    logr.Logger
	orders chan order
}

// order starts or ends to follow the shoot of a namespace.
type order struct {
	namespace string
	awake     bool
}

// AddToManager registers the reconciler in the manager of the seed.
func (r *Reconciler) AddToManager(seed manager.Manager) error {
	r.log, r.orders = seed.GetLogger().WithName(controllerName), make(chan order)
	b := r.ManagedBy(seed, controllerName, kit.Queue{}).For(&gardenextensionsv1alpha1.Cluster{}, builder.OnlyMetadata)
	if err := kit.Complete(b, controllerName, r); err != nil {
		return err
	}
	return seed.Add(manager.RunnableFunc(r.follow))
}

// Reconcile looks at one shoot.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	cluster := &metav1.PartialObjectMetadata{}
	cluster.SetGroupVersionKind(gardenextensionsv1alpha1.GroupVersion.WithKind("Cluster"))
	err := r.Client.Get(ctx, request.NamespacedName, cluster)
	if apierrors.IsNotFound(err) {
		return reconcile.Result{}, r.give(ctx, order{namespace: request.Name})
	}
	if err != nil {
		return reconcile.Result{}, err
	}
	_, err = r.Targets.ShootOf(ctx, request.Name)
	switch {
	case errors.Is(err, target.ErrAsleep) || errors.Is(err, target.ErrGone):
		return reconcile.Result{}, r.give(ctx, order{namespace: request.Name})
	case errors.Is(err, kit.ErrNoShootAccess):
		return reconcile.Result{RequeueAfter: unreachablePause}, r.give(ctx, order{namespace: request.Name})
	case err != nil:
		return reconcile.Result{}, err
	}
	return reconcile.Result{}, r.give(ctx, order{namespace: request.Name, awake: true})
}

// give hands an order to follow.
func (r *Reconciler) give(ctx context.Context, o order) error {
	select {
	case r.orders <- o:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// follow carries out orders until ctx ends, and returns when nothing is followed any more.
func (r *Reconciler) follow(ctx context.Context) error {
	var running sync.WaitGroup
	defer running.Wait()
	ends := map[string]context.CancelFunc{}
	defer func() {
		for _, end := range ends {
			end()
		}
	}()
	for {
		select {
		case <-ctx.Done():
			return nil
		case o := <-r.orders:
			end, found := ends[o.namespace]
			switch {
			case found && !o.awake:
				end()
				delete(ends, o.namespace)
			case !found && o.awake:
				one, cancel := context.WithCancel(ctx)
				ends[o.namespace] = cancel
				for _, kind := range r.Kinds {
					running.Go(func() { r.followKind(one, o.namespace, kind) })
				}
			default:
			}
		}
	}
}
