// SPDX-License-Identifier: Apache-2.0

package controllerregistration

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/garden/shoot/selfhosted"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const shootControllerName = "controllerregistration-shoot"

// ShootReconciler keeps the installations of self-hosted shoots (GCM-CR-10). Those of seeds it never touches, as it finds its own by their
// reference to the shoot, which an installation on a seed does not have.
type ShootReconciler struct {
	kit.Base

	// Config is the section of the configuration.
	Config gardenconfigv1alpha1.ConcurrencyConfiguration
}

// AddToManager implements kit.Adder. Everything that the installations of a self-hosted shoot depend on is watched. Other shoots start no pass.
func (r *ShootReconciler) AddToManager(clusters kit.Clusters) error {
	b := r.Controller(clusters, shootControllerName, kit.Workers(r.Config.ConcurrentSyncs))
	all := selfhosted.EnqueueAll(r.Client)
	b.For(&gardencorev1beta1.Shoot{}, builder.WithPredicates(selfHostedChanges())).
		Watches(&gardencorev1beta1.ControllerRegistration{}, all).
		Watches(&gardencorev1beta1.ControllerDeployment{}, all).
		Watches(&gardencorev1beta1.ControllerInstallation{}, kit.EnqueueNamed(shootOfInstallation), builder.WithPredicates(installationChanges())).
		Watches(&gardencorev1beta1.BackupBucket{}, kit.EnqueueNamed(shootOfBucket), builder.WithPredicates(kit.Changed(bucketFacts))).
		Watches(&gardencorev1beta1.BackupEntry{}, kit.EnqueueNamed(shootOfEntry), builder.WithPredicates(kit.Changed(entryFacts)))
	return kit.Complete(b, shootControllerName, reconcile.AsReconciler(r.Client, r))
}

// Reconcile installs in one self-hosted shoot what is needed there, and removes the rest. Before that, the shoot gets the finalizer without which
// it could be gone before its installations are, and then nobody would remove them. An installation or a backup may name a shoot that is not
// self-hosted; nothing is installed there.
func (r *ShootReconciler) Reconcile(ctx context.Context, shoot *gardencorev1beta1.Shoot) (reconcile.Result, error) {
	if !selfhosted.Is(shoot) {
		return reconcile.Result{}, nil
	}
	if shoot.DeletionTimestamp == nil {
		if err := kit.EnsureFinalizer(ctx, r.Client, shoot, gardencorev1beta1.FinalizerControllerRegistration); err != nil {
			return kit.Result(kit.Stop(), err)
		}
	}
	return (&pass{Base: &r.Base, place: InShoot{shoot}}).run(ctx)
}

// selfHostedChanges lets new self-hosted shoots through, and changes of their spec and deletion timestamp.
func selfHostedChanges() predicate.Predicate {
	changes := kit.Changed(func(shoot *gardencorev1beta1.Shoot) any {
		return []any{shoot.Generation, shoot.DeletionTimestamp == nil}
	})
	changes.DeleteFunc = func(event.DeleteEvent) bool { return false }
	return predicate.And(kit.Matching(selfhosted.Is), changes)
}

func shootOfInstallation(installation *gardencorev1beta1.ControllerInstallation) []types.NamespacedName {
	return keyOf(installation.Spec.ShootRef)
}

func shootOfBucket(bucket *gardencorev1beta1.BackupBucket) []types.NamespacedName {
	return keyOf(bucket.Spec.ShootRef)
}

func shootOfEntry(entry *gardencorev1beta1.BackupEntry) []types.NamespacedName {
	return keyOf(entry.Spec.ShootRef)
}

func keyOf(ref *corev1.ObjectReference) []types.NamespacedName {
	if ref == nil {
		return nil
	}
	return kit.Keys(ref.Namespace, &ref.Name)
}
