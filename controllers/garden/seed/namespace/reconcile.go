// SPDX-License-Identifier: Apache-2.0

package namespace

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const controllerName = "seed-namespace"

// prefix is followed by the name of a Seed in the name of its namespace.
const prefix = "seed-"

// Reconciler keeps the namespaces of seeds. It reads Secrets around the cache, which holds only their metadata.
type Reconciler struct {
	kit.Base

	// Config is the section of the configuration.
	Config gardenconfigv1alpha1.ConcurrencyConfiguration
}

// AddToManager implements kit.Adder. Secrets are watched by their metadata.
func (r *Reconciler) AddToManager(clusters kit.Clusters) error {
	b := r.Controller(clusters, controllerName, kit.Workers(r.Config.ConcurrentSyncs))
	// A source concerns every seed, a copy its own (GCM-SEED-3).
	all := kit.EnqueueMatching(r.Client, &gardencorev1beta1.SeedList{}, func(client.Object, *gardencorev1beta1.Seed) bool { return true })
	own := kit.EnqueueNamed(func(secret *metav1.PartialObjectMetadata) []types.NamespacedName {
		return kit.Keys("", new(strings.TrimPrefix(secret.Namespace, prefix)))
	})
	b.For(&gardencorev1beta1.Seed{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Owns(&corev1.Namespace{}).
		WatchesMetadata(&corev1.Secret{}, all, builder.WithPredicates(predicate.NewPredicateFuncs(isSource))).
		WatchesMetadata(&corev1.Secret{}, own, builder.WithPredicates(predicate.NewPredicateFuncs(isCopy)))
	return kit.Complete(b, controllerName, reconcile.AsReconciler(r.Client, r))
}

func isSource(secret client.Object) bool {
	_, labelled := secret.GetLabels()[gardencorev1beta1.LabelRole]
	return labelled && secret.GetNamespace() == gardencorev1beta1.NamespaceGarden
}

func isCopy(secret client.Object) bool {
	_, labelled := secret.GetLabels()[gardencorev1beta1.LabelRole]
	return labelled && strings.HasPrefix(secret.GetNamespace(), prefix)
}

// recheck is the time after which a copy that had to be deleted is created again if its event was missed.
const recheck = 5 * time.Second

// Reconcile keeps the namespace of one seed. The seed owns it, so it is deleted with the seed.
func (r *Reconciler) Reconcile(ctx context.Context, seed *gardencorev1beta1.Seed) (reconcile.Result, error) {
	if seed.DeletionTimestamp != nil {
		return reconcile.Result{}, nil
	}
	outcome, err := kit.Run(ctx, seed, r.ensureNamespace, r.copySecrets)
	return kit.Result(outcome, err)
}

// ensureNamespace creates the namespace of the seed (GCM-SEED-1). It rejects one of that name that the seed does not control.
func (r *Reconciler) ensureNamespace(ctx context.Context, seed *gardencorev1beta1.Seed) (kit.Outcome, error) {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: Name(seed.Name)}}
	_, err := kit.Ensure(ctx, r.Client, namespace, func() error {
		if namespace.ResourceVersion != "" && !metav1.IsControlledBy(namespace, seed) {
			return fmt.Errorf("namespace %q exists and is not controlled by seed %q", namespace.Name, seed.Name)
		}
		metav1.SetMetaDataLabel(&namespace.ObjectMeta, gardencorev1beta1.LabelRole, gardencorev1beta1.RoleSeed)
		return controllerutil.SetControllerReference(seed, namespace, r.Client.Scheme())
	})
	return kit.Continue(), err
}

// copySecrets makes the namespace contain exactly the copies that it should (GCM-SEED-2, GCM-SEED-3).
func (r *Reconciler) copySecrets(ctx context.Context, seed *gardencorev1beta1.Seed) (kit.Outcome, error) {
	sources, err := r.list(ctx, gardencorev1beta1.NamespaceGarden)
	if err != nil {
		return kit.Stop(), err
	}
	copies, err := r.list(ctx, Name(seed.Name))
	if err != nil {
		return kit.Stop(), err
	}
	plan := Decide(Name(seed.Name), sources, copies)
	for i := range plan.Delete {
		if err := kit.Remove(ctx, r.Client, &plan.Delete[i]); err != nil {
			return kit.Stop(), err
		}
	}
	for i := range plan.Create {
		if err := r.Client.Create(ctx, &plan.Create[i]); err != nil {
			return kit.Stop(), fmt.Errorf("create secret %q: %w", client.ObjectKeyFromObject(&plan.Create[i]), err)
		}
	}
	for i := range plan.Update {
		if err := r.Client.Update(ctx, &plan.Update[i]); err != nil {
			return kit.Stop(), fmt.Errorf("update secret %q: %w", client.ObjectKeyFromObject(&plan.Update[i]), err)
		}
	}
	if len(plan.Delete) > 0 {
		return kit.RecheckAfter(recheck), nil
	}
	return kit.Continue(), nil
}

func (r *Reconciler) list(ctx context.Context, namespace string) ([]corev1.Secret, error) {
	secrets := &corev1.SecretList{}
	if err := r.Reader.List(ctx, secrets, client.InNamespace(namespace), client.HasLabels{gardencorev1beta1.LabelRole}); err != nil {
		return nil, fmt.Errorf("list secrets of namespace %q: %w", namespace, err)
	}
	return secrets.Items, nil
}
