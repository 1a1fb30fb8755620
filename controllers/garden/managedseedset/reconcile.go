// SPDX-License-Identifier: Apache-2.0

package managedseedset

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const controllerName = "managedseedset"

// takenDelay is the delay after which a pass is repeated that found an object which the pass before did not know.
const takenDelay = time.Second

// Reconciler reconciles ManagedSeedSets.
type Reconciler struct {
	kit.Base

	// Config is the section of the configuration.
	Config gardenconfigv1alpha1.ServerManagedSeedSetControllerConfiguration
}

// AddToManager implements kit.Adder. A set is reconciled when it changes and when one of its replicas does (GCM-MSS-1), which
// are found by their names, also after they are gone. Few shoots are in the namespace of sets.
func (r *Reconciler) AddToManager(clusters kit.Clusters) error {
	b := r.Controller(clusters, controllerName, kit.Workers(r.Config.ConcurrentSyncs))
	ofReplica := kit.EnqueueMatching(r.Client, &gardenseedmanagementv1alpha1.ManagedSeedSetList{},
		func(changed client.Object, set *gardenseedmanagementv1alpha1.ManagedSeedSet) bool {
			_, named := ordinal(set.Name, changed.GetName())
			return named && (changed.GetNamespace() == "" || changed.GetNamespace() == set.Namespace)
		})
	nearby := predicate.NewPredicateFuncs(func(object client.Object) bool {
		return object.GetNamespace() == "" || object.GetNamespace() == gardencorev1beta1.NamespaceGarden
	})
	b.For(&gardenseedmanagementv1alpha1.ManagedSeedSet{}, builder.WithPredicates(kit.Changed(ofSet))).
		Watches(&gardencorev1beta1.Shoot{}, ofReplica, builder.WithPredicates(nearby, kit.Changed(ofShoot))).
		Watches(&gardenseedmanagementv1alpha1.ManagedSeed{}, ofReplica).
		Watches(&gardencorev1beta1.Seed{}, ofReplica, builder.WithPredicates(kit.Changed(ofSeed)))
	return kit.Complete(b, controllerName, reconcile.AsReconciler(r.Client, r))
}

func ofSet(set *gardenseedmanagementv1alpha1.ManagedSeedSet) any {
	return []any{set.Generation, set.DeletionTimestamp == nil, set.Finalizers}
}

func ofShoot(shoot *gardencorev1beta1.Shoot) any {
	r := Replica{Shoot: shoot}
	return []any{r.State(), r.health(), shoot.Spec.SeedName == nil, protected(shoot.Annotations), shoot.Labels}
}

func ofSeed(seed *gardencorev1beta1.Seed) any {
	r := Replica{Seed: seed}
	return r.SeedReady()
}

// Reconcile takes one step towards the wanted number of replicas. A plan that acts is made again of what the server says itself,
// because an old list could create or delete one replica too many. A number is reserved before it is used, and a retry is counted after it was
// asked for: a process that is killed in between makes no replica twice, and gives a shoot up too late and not too early (GCM-MSS-8).
func (r *Reconciler) Reconcile(ctx context.Context, set *gardenseedmanagementv1alpha1.ManagedSeedSet) (reconcile.Result, error) {
	if set.DeletionTimestamp == nil {
		if err := kit.EnsureFinalizer(ctx, r.Client, set, gardencorev1beta1.FinalizerGardener); err != nil {
			return kit.Result(kit.Stop(), err)
		}
	}
	view, plan, err := r.plan(ctx, r.Client, set)
	if err != nil || plan.Step != Nothing || !samePending(set.Status.PendingReplica, plan.Status.PendingReplica) {
		view, plan, err = r.plan(ctx, r.Reader, set)
	}
	if err == nil && plan.Step == RetryShoot {
		err = r.take(ctx, view, plan)
	}
	commit := kit.Begin(r.Client, set)
	if err == nil || plan.Step != RetryShoot {
		set.Status = plan.Status
	}
	if failed := commit.WriteStatus(ctx); failed != nil {
		return kit.Result(kit.Stop(), client.IgnoreNotFound(failed))
	}
	if err == nil && plan.Step != RetryShoot {
		view.Set = set
		err = r.take(ctx, view, plan)
	}
	if kit.IsFailure(err) {
		kit.Record(r.Recorder, set, kit.Notice{
			Type: corev1.EventTypeWarning, Reason: gardencorev1beta1.EventReconcileError, Action: gardencorev1beta1.EventActionReconcile, Message: err.Error(),
		})
	} else if err == nil {
		r.tell(set, plan)
	}
	return kit.Result(kit.RequeueAfter(r.Config.SyncPeriod.Duration), err)
}

func (r *Reconciler) plan(ctx context.Context, reader client.Reader, set *gardenseedmanagementv1alpha1.ManagedSeedSet) (View, Plan, error) {
	view, err := r.observe(ctx, reader, set.DeepCopy())
	if err != nil {
		return view, Plan{Status: set.Status}, err
	}
	plan, err := Decide(view)
	return view, plan, err
}

func samePending(a, b *gardenseedmanagementv1alpha1.PendingReplica) bool {
	return equality.Semantic.DeepEqual(a, b)
}
