// SPDX-License-Identifier: Apache-2.0

package controllerregistration

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/garden/seed/hosted"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const controllerName = "controllerregistration"

// Reconciler keeps the installations of seeds.
type Reconciler struct {
	kit.Base

	// Config is the section of the configuration.
	Config gardenconfigv1alpha1.ConcurrencyConfiguration
}

// AddToManager implements kit.Adder. Everything that the installations of a seed depend on is watched (GCM-CR-1).
func (r *Reconciler) AddToManager(clusters kit.Clusters) error {
	b := r.Controller(clusters, controllerName, kit.Workers(r.Config.ConcurrentSyncs))
	allSeeds := kit.EnqueueMatching(r.Client, &gardencorev1beta1.SeedList{}, func(client.Object, *gardencorev1beta1.Seed) bool { return true })
	b.For(&gardencorev1beta1.Seed{}, builder.WithPredicates(seedChanges())).
		Watches(&gardencorev1beta1.ControllerRegistration{}, allSeeds).
		Watches(&gardencorev1beta1.ControllerDeployment{}, allSeeds).
		Watches(&gardencorev1beta1.ControllerInstallation{}, kit.EnqueueNamed(seedOfInstallation), builder.WithPredicates(installationChanges())).
		Watches(&gardencorev1beta1.Shoot{}, newTally().events(), builder.WithPredicates(kit.Changed(shootFacts))).
		Watches(&gardencorev1beta1.BackupBucket{}, kit.EnqueueNamed(seedOfBucket), builder.WithPredicates(kit.Changed(bucketFacts))).
		Watches(&gardencorev1beta1.BackupEntry{}, kit.EnqueueNamed(seedsOfEntry), builder.WithPredicates(kit.Changed(entryFacts))).
		WatchesMetadata(&corev1.Secret{}, allSeeds, builder.WithPredicates(domainChanges()))
	return kit.Complete(b, controllerName, reconcile.AsReconciler(r.Client, r))
}

// Reconcile installs on one seed what is needed there, and removes the rest.
func (r *Reconciler) Reconcile(ctx context.Context, seed *gardencorev1beta1.Seed) (reconcile.Result, error) {
	shoots, err := hosted.Shoots(ctx, r.Client, seed.Name)
	if err != nil {
		return kit.Result(kit.Stop(), err)
	}
	return (&pass{Base: &r.Base, place: OnSeed{seed}, shoots: shoots}).run(ctx)
}

func seedOfInstallation(installation *gardencorev1beta1.ControllerInstallation) []types.NamespacedName {
	if installation.Spec.SeedRef == nil {
		return nil
	}
	return kit.Keys("", &installation.Spec.SeedRef.Name)
}

func seedOfBucket(bucket *gardencorev1beta1.BackupBucket) []types.NamespacedName {
	return kit.Keys("", bucket.Spec.SeedName)
}

func seedsOfEntry(entry *gardencorev1beta1.BackupEntry) []types.NamespacedName {
	return kit.Keys("", entry.Spec.SeedName, entry.Status.SeedName)
}

// seedChanges lets new seeds through, and changes of spec, labels and deletion timestamp.
func seedChanges() predicate.Predicate {
	changes := kit.Changed(func(seed *gardencorev1beta1.Seed) any {
		return []any{seed.Generation, seed.DeletionTimestamp == nil, seed.Labels}
	})
	changes.DeleteFunc = func(event.DeleteEvent) bool { return false }
	return changes
}

// installationChanges lets deletions through, and changes of the condition Required.
func installationChanges() predicate.Predicate {
	changes := kit.Changed(func(installation *gardencorev1beta1.ControllerInstallation) any {
		return query.FindCondition(installation.Status.Conditions, gardencorev1beta1.ConditionTypeRequired)
	})
	changes.CreateFunc = func(event.CreateEvent) bool { return false }
	return changes
}

// shootFacts are the seeds of a shoot and everything that names an extension.
func shootFacts(shoot *gardencorev1beta1.Shoot) any {
	return []any{
		shoot.Spec.SeedName, shoot.Status.SeedName, shoot.Spec.Provider.Type, shoot.Spec.Provider.Workers,
		shoot.Spec.Extensions, shoot.Spec.DNS, shoot.Spec.Networking,
	}
}

func bucketFacts(bucket *gardencorev1beta1.BackupBucket) any {
	return []any{bucket.Spec.SeedName, bucket.Spec.ShootRef, bucket.Spec.Provider.Type}
}

func entryFacts(entry *gardencorev1beta1.BackupEntry) any {
	return []any{entry.Spec.SeedName, entry.Status.SeedName, entry.Spec.ShootRef, entry.Spec.BucketName}
}

// domainChanges lets changes of the garden's domains through.
func domainChanges() predicate.Predicate {
	facts := func(secret client.Object) any {
		return []string{
			secret.GetLabels()[gardencorev1beta1.LabelRole],
			secret.GetAnnotations()[gardencorev1beta1.AnnotationDNSDomain], secret.GetAnnotations()[gardencorev1beta1.AnnotationDNSProvider],
		}
	}
	return predicate.Or(
		predicate.And(predicate.NewPredicateFuncs(ofDomain), kit.Changed(facts)),
		// A Secret that described a domain and does not any more.
		predicate.Funcs{
			CreateFunc: func(event.CreateEvent) bool { return false },
			DeleteFunc: func(event.DeleteEvent) bool { return false },
			UpdateFunc: func(e event.UpdateEvent) bool { return ofDomain(e.ObjectOld) && !ofDomain(e.ObjectNew) },
		},
	)
}
