// SPDX-License-Identifier: Apache-2.0

package bastion

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperationsv1alpha1 "github.com/terrarium-garden/terrarium/apis/operations/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const controllerName = "bastion"

// moment is added to the time that a bastion has left, because it may stay until the very end of that time.
const moment = time.Millisecond

// Reconciler deletes bastions.
type Reconciler struct {
	kit.Base

	// Config is the section of the configuration.
	Config gardenconfigv1alpha1.ServerBastionControllerConfiguration
}

// AddToManager implements kit.Adder. A Bastion is judged when it appears or changes, and when its Shoot ends or moves
// (GCM-BASTION-1). Heartbeats only change the status; they are noticed when the Bastion would have expired.
func (r *Reconciler) AddToManager(clusters kit.Clusters) error {
	err := kit.Index(clusters.Garden, &gardenoperationsv1alpha1.Bastion{}, gardenoperationsv1alpha1.FieldBastionShootName,
		func(b *gardenoperationsv1alpha1.Bastion) []string { return []string{b.Spec.ShootRef.Name} })
	if err != nil {
		return err
	}
	changes := predicate.Or[client.Object](predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{})
	b := r.Controller(clusters, controllerName, kit.Workers(r.Config.ConcurrentSyncs)).
		For(&gardenoperationsv1alpha1.Bastion{}, builder.WithPredicates(changes)).
		Watches(&gardencorev1beta1.Shoot{}, handler.EnqueueRequestsFromMapFunc(r.ofShoot), builder.WithPredicates(leaves()))
	return kit.Complete(b, controllerName, reconcile.AsReconciler(r.Client, r))
}

// leaves lets through the shoots that end, move, or close their machines. A Bastion is only accepted for a shoot that is there.
func leaves() predicate.Predicate {
	changes := kit.Changed(func(shoot *gardencorev1beta1.Shoot) any {
		return []any{shoot.DeletionTimestamp == nil, shoot.Spec.SeedName, closed(shoot)}
	})
	changes.CreateFunc = func(event.CreateEvent) bool { return false }
	return changes
}

// ofShoot returns the Bastions of a Shoot. A list that fails here fails the cache and so the manager, too.
func (r *Reconciler) ofShoot(ctx context.Context, shoot client.Object) []reconcile.Request {
	bastions := &gardenoperationsv1alpha1.BastionList{}
	err := r.Client.List(ctx, bastions, client.UnsafeDisableDeepCopy, client.InNamespace(shoot.GetNamespace()),
		client.MatchingFields{gardenoperationsv1alpha1.FieldBastionShootName: shoot.GetName()})
	if err != nil {
		return nil
	}
	requests := make([]reconcile.Request, 0, len(bastions.Items))
	for i := range bastions.Items {
		requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&bastions.Items[i])})
	}
	return requests
}

// Reconcile deletes the Bastion if its time is over or its Shoot has left it. Otherwise it returns when the time is over
// (GCM-BASTION-2 to GCM-BASTION-5). A Bastion that was kept alive since it was read has another version and stays.
func (r *Reconciler) Reconcile(ctx context.Context, b *gardenoperationsv1alpha1.Bastion) (reconcile.Result, error) {
	if b.DeletionTimestamp != nil {
		return reconcile.Result{}, nil
	}
	verdict, err := r.judge(ctx, r.Client, b)
	if err == nil && verdict.Reason != "" {
		// The cached Shoot may be older than the Bastion: it is only accepted for a shoot on a seed.
		verdict, err = r.judge(ctx, r.Reader, b)
	}
	if err != nil {
		return kit.Result(kit.Stop(), err)
	}
	if verdict.Reason == "" {
		return kit.Result(kit.RequeueAfter(kit.Until(verdict.Left+moment)), nil)
	}
	seen := client.Preconditions{UID: &b.UID, ResourceVersion: &b.ResourceVersion}
	err = r.Client.Delete(ctx, b, seen)
	if client.IgnoreNotFound(err) != nil {
		return kit.Result(kit.Stop(), fmt.Errorf("delete bastion %q: %w", client.ObjectKeyFromObject(b), err))
	}
	if err == nil {
		logf.FromContext(ctx).Info("Bastion deleted", "reason", verdict.Reason, "shoot", b.Spec.ShootRef.Name)
	}
	return reconcile.Result{}, nil
}

func (r *Reconciler) judge(ctx context.Context, reader client.Reader, b *gardenoperationsv1alpha1.Bastion) (Verdict, error) {
	shoot := &gardencorev1beta1.Shoot{}
	err := reader.Get(ctx, client.ObjectKey{Namespace: b.Namespace, Name: b.Spec.ShootRef.Name}, shoot)
	switch {
	case apierrors.IsNotFound(err):
		shoot = nil
	case err != nil:
		return Verdict{}, fmt.Errorf("read shoot %q of bastion %q: %w", b.Spec.ShootRef.Name, b.Name, err)
	}
	return Judge(b, shoot, r.Config.MaxLifetime.Duration, r.Clock.Now()), nil
}
