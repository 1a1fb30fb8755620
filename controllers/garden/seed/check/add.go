// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

var _ kit.Adder = (*Reconciler)(nil)

// Check says what a seed is judged by.
type Check struct {
	// Name is the name of the controller.
	Name string
	// Condition is the type of the condition that tells the result.
	Condition gardencorev1beta1.ConditionType
	// Judge returns the condition without its times; nil if the seed has nothing to be judged by.
	Judge func(ctx context.Context, reader client.Reader, seed *gardencorev1beta1.Seed) (*gardencorev1beta1.Condition, error)
	// Object is an empty object of the kind that the seed is judged by, SeedOf names the seed of one, which may be empty.
	Object client.Object
	SeedOf func(object client.Object) string
	// Facts is the part of such an object that counts; nothing else starts a check.
	Facts func(object client.Object) any
}

// Reconciler runs a check.
type Reconciler struct {
	kit.Base

	// Check is what to check. It must be set.
	Check Check
	// Config is the section of the configuration.
	Config gardenconfigv1alpha1.ServerSeedCheckConfiguration
}

// AddToManager implements kit.Adder.
func (r *Reconciler) AddToManager(clusters kit.Clusters) error {
	b := r.Controller(clusters, r.Check.Name, kit.Workers(r.Config.ConcurrentSyncs)).
		For(&gardencorev1beta1.Seed{}, builder.WithPredicates(r.seedChanges())).
		Watches(r.Check.Object, handler.EnqueueRequestsFromMapFunc(r.seedOf), builder.WithPredicates(r.factChanges()))
	return kit.Complete(b, r.Check.Name, r)
}

func (r *Reconciler) seedOf(_ context.Context, object client.Object) []reconcile.Request {
	name := r.Check.SeedOf(object)
	if name == "" {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Name: name}}}
}

// seedChanges lets new and changed seeds through, and those whose condition somebody else changed: a gardenlet sets it to
// Progressing to have it judged again.
func (r *Reconciler) seedChanges() predicate.Predicate {
	return predicate.Funcs{
		UpdateFunc: func(e event.UpdateEvent) bool {
			before, ok := e.ObjectOld.(*gardencorev1beta1.Seed)
			if !ok {
				return false
			}
			after, ok := e.ObjectNew.(*gardencorev1beta1.Seed)
			return ok && (before.Generation != after.Generation || !equality.Semantic.DeepEqual(r.condition(before), r.condition(after)))
		},
		DeleteFunc: func(event.DeleteEvent) bool { return false },
	}
}

func (r *Reconciler) condition(seed *gardencorev1beta1.Seed) *gardencorev1beta1.Condition {
	return query.FindCondition(seed.Status.Conditions, r.Check.Condition)
}

func (r *Reconciler) factChanges() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		return !equality.Semantic.DeepEqual(r.Check.Facts(e.ObjectOld), r.Check.Facts(e.ObjectNew))
	}}
}
