// SPDX-License-Identifier: Apache-2.0

package health

import (
	"context"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/engine"
)

// period is the time between two looks at an object, and the longest time of its checks (EXT-HEALTH-4).
const period = 30 * time.Second

// Reconciler checks the objects of one kind.
type Reconciler[T gardenextensionsv1alpha1.Object] struct {
	kit.Base

	// Name of the controller, in lower case and unique in the process.
	Name string
	// New returns an empty object of the kind.
	New func() T
	// Checks are made for each object, in their order.
	Checks []Check
}

// AddToManager fills the unset fields from the manager of the seed and registers the controller.
func (r *Reconciler[T]) AddToManager(seed manager.Manager) error {
	changes := predicate.Or[client.Object](predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{})
	mine := predicate.NewPredicateFuncs(func(o client.Object) bool {
		object, ok := o.(gardenextensionsv1alpha1.Object)
		return ok && engine.Mine(object)
	})
	return kit.Complete(r.ManagedBy(seed, r.Name, kit.Queue{}).For(r.New(), builder.WithPredicates(mine, changes)), r.Name, r)
}

// Reconcile makes all checks of an object once.
func (r *Reconciler[T]) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	object := r.New()
	if err := r.Client.Get(ctx, request.NamespacedName, object); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if !engine.Mine(object) || leaves(object) {
		return reconcile.Result{}, nil
	}
	cluster, err := engine.ReadCluster(ctx, r.Reader, object.GetNamespace())
	if err != nil {
		return reconcile.Result{}, err
	}
	if cluster == nil {
		return reconcile.Result{}, nil
	}
	commit := kit.Begin(r.Client, object)
	status := object.GetExtensionStatus()
	if cluster.Hibernated() {
		for _, kind := range r.kinds() {
			status.Conditions = kit.SetCondition(status.Conditions, asleep(kind), r.Clock.Now())
		}
		return commit.Status(ctx, kit.Stop(), nil)
	}
	found := r.find(ctx, cluster)
	for _, kind := range r.kinds() {
		c := Aggregate(kind, query.FindCondition(status.Conditions, kind), found[kind], r.Clock.Now())
		status.Conditions = kit.SetCondition(status.Conditions, c, r.Clock.Now())
	}
	if err := ctx.Err(); err != nil {
		return reconcile.Result{}, err // The process ends; that is nothing to report.
	}
	return commit.Status(ctx, kit.RequeueAfter(period), nil)
}

// leaves reports whether an object is in deletion or moves to another seed.
func leaves(object gardenextensionsv1alpha1.Object) bool {
	last := object.GetExtensionStatus().LastOperation
	return object.GetDeletionTimestamp() != nil ||
		object.GetAnnotations()[gardencorev1beta1.AnnotationOperation] == gardencorev1beta1.OperationMigrate ||
		last != nil && last.Type == gardencorev1beta1.LastOperationTypeMigrate
}

func asleep(kind gardencorev1beta1.ConditionType) gardencorev1beta1.Condition {
	return gardencorev1beta1.Condition{
		Type: kind, Status: gardencorev1beta1.ConditionTrue, Reason: reasonSuccessful, Message: "The cluster is hibernated, so this is not checked",
	}
}

// kinds are the types of the conditions.
func (r *Reconciler[T]) kinds() []gardencorev1beta1.ConditionType {
	var all []gardencorev1beta1.ConditionType
	for _, check := range r.Checks {
		if !slices.Contains(all, check.Condition) {
			all = append(all, check.Condition)
		}
	}
	return all
}

// find makes the checks, within the time to the next look.
func (r *Reconciler[T]) find(ctx context.Context, cluster *engine.Cluster) map[gardencorev1beta1.ConditionType][]Finding {
	ctx, cancel := context.WithTimeout(ctx, period)
	defer cancel()
	found := map[gardencorev1beta1.ConditionType][]Finding{}
	for _, check := range r.Checks {
		found[check.Condition] = append(found[check.Condition], check.find(ctx, r.Reader, cluster))
	}
	return found
}
