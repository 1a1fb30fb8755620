// SPDX-License-Identifier: Apache-2.0

package namespace

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
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
		WatchesMetadata(&corev1.Secret{}, all, builder.WithPredicates(sources())).
		WatchesMetadata(&corev1.Secret{}, own, builder.WithPredicates(copies()))
	return kit.Complete(b, controllerName, reconcile.AsReconciler(r.Client, r))
}

// sources and copies also let through that a Secret loses its label: it could not be found by that later.
func sources() predicate.Predicate { return kit.Touching(isSource) }

func copies() predicate.Predicate { return kit.Touching(isCopy) }

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
	if err := r.apply(ctx, plan); err != nil {
		return kit.Stop(), err
	}
	if len(plan.Delete) > 0 {
		return kit.RecheckAfter(recheck), nil
	}
	return kit.Continue(), nil
}

// apply does what is planned. A copy that cannot be written does not hold up the others.
func (r *Reconciler) apply(ctx context.Context, plan Plan) error {
	var errs []error
	for i := range plan.Delete {
		errs = append(errs, kit.Remove(ctx, r.Client, &plan.Delete[i]))
	}
	for i := range plan.Create {
		errs = append(errs, r.create(ctx, &plan.Create[i]))
	}
	for i := range plan.Update {
		errs = append(errs, r.update(ctx, &plan.Update[i]))
	}
	return errors.Join(errs...)
}

// create makes a copy, also where a Secret of its name is there without the label.
func (r *Reconciler) create(ctx context.Context, secret *corev1.Secret) error {
	err := r.Client.Create(ctx, secret)
	if apierrors.IsAlreadyExists(err) {
		return r.takeOver(ctx, secret)
	}
	if err != nil {
		return fmt.Errorf("create secret %q: %w", client.ObjectKeyFromObject(secret), err)
	}
	return nil
}

// takeOver makes a copy out of a Secret that is not labelled as one: it may be a copy that has lost the label. The server refuses
// it if the type is another one.
func (r *Reconciler) takeOver(ctx context.Context, secret *corev1.Secret) error {
	found, key := &corev1.Secret{}, client.ObjectKeyFromObject(secret)
	if err := r.Reader.Get(ctx, key, found); err != nil {
		return fmt.Errorf("read secret %q: %w", key, err)
	}
	found.Labels, found.Annotations, found.Type, found.Data = secret.Labels, secret.Annotations, secret.Type, secret.Data
	return r.update(ctx, found)
}

func (r *Reconciler) update(ctx context.Context, secret *corev1.Secret) error {
	if err := r.Client.Update(ctx, secret); err != nil {
		return fmt.Errorf("update secret %q: %w", client.ObjectKeyFromObject(secret), err)
	}
	return nil
}

func (r *Reconciler) list(ctx context.Context, namespace string) ([]corev1.Secret, error) {
	secrets := &corev1.SecretList{}
	if err := r.Reader.List(ctx, secrets, client.InNamespace(namespace), client.HasLabels{gardencorev1beta1.LabelRole}); err != nil {
		return nil, fmt.Errorf("list secrets of namespace %q: %w", namespace, err)
	}
	return secrets.Items, nil
}
