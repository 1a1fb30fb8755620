// SPDX-License-Identifier: Apache-2.0

package monitoring

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/garden/seed/namespace"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const controllerName = "monitoring-credentials"

// errTaken says that something else has the name of the credentials. It is no lost race, as Secrets are read around the cache, so it
// must not be taken for one and repeated at once: each try hashes a password.
var errTaken = fmt.Errorf("secret %q in namespace %q is there without the label %s=%s: label it, or delete it",
	Name, gardencorev1beta1.NamespaceGarden, gardencorev1beta1.LabelRole, gardencorev1beta1.RoleGlobalMonitoring)

// Reconciler keeps the credentials. It reads Secrets around the cache, which holds only their metadata.
type Reconciler struct {
	kit.Base
}

// AddToManager implements kit.Adder. There is one request for all credentials, and so one worker.
func (r *Reconciler) AddToManager(clusters kit.Clusters) error {
	all := kit.EnqueueNamed(func(client.Object) []types.NamespacedName {
		return kit.Keys("", new(gardencorev1beta1.NamespaceGarden))
	})
	isGarden := predicate.NewPredicateFuncs(func(namespace client.Object) bool { return namespace.GetName() == gardencorev1beta1.NamespaceGarden })
	b := r.Controller(clusters, controllerName, kit.Queue{Concurrency: 1}).
		// The namespace always exists, so that its first event starts the pass that creates the first credentials.
		Watches(&corev1.Namespace{}, all, builder.WithPredicates(isGarden)).
		WatchesMetadata(&corev1.Secret{}, all, builder.WithPredicates(kit.Touching(concerns)))
	return kit.Complete(b, controllerName, r)
}

// concerns lets through the credentials in the namespace garden.
func concerns(secret client.Object) bool {
	return secret.GetNamespace() == gardencorev1beta1.NamespaceGarden &&
		secret.GetLabels()[gardencorev1beta1.LabelRole] == gardencorev1beta1.RoleGlobalMonitoring
}

// patience is the time between two checks whether all seeds have a new password.
const patience = 2 * time.Second

// Reconcile handles all credentials at once.
func (r *Reconciler) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	secrets := &corev1.SecretList{}
	err := r.Reader.List(ctx, secrets, client.InNamespace(gardencorev1beta1.NamespaceGarden),
		client.MatchingLabels{gardencorev1beta1.LabelRole: gardencorev1beta1.RoleGlobalMonitoring})
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("list monitoring credentials: %w", err)
	}
	plan, err := Decide(secrets.Items)
	if err != nil {
		return kit.Result(kit.Stop(), err)
	}
	outcome, err := kit.Run(ctx, plan, r.create, r.delete, r.rotate, r.announce)
	return kit.Result(outcome, err)
}

func (r *Reconciler) create(ctx context.Context, plan Plan) (kit.Outcome, error) {
	if !plan.Create {
		return kit.Continue(), nil
	}
	secret := fresh()
	if err := fill(secret, r.Clock.Now()); err != nil {
		return kit.Stop(), err
	}
	err := r.Client.Create(ctx, secret)
	if apierrors.IsAlreadyExists(err) {
		return kit.Stop(), fmt.Errorf("create monitoring credentials: %w", errTaken)
	}
	if err != nil {
		return kit.Stop(), fmt.Errorf("create secret %q: %w", secret.Name, err)
	}
	logf.FromContext(ctx).Info("Monitoring credentials created", "secret", secret.Name)
	return kit.Stop(), nil
}

// delete removes the garden's own credentials where an operator has created others.
func (r *Reconciler) delete(ctx context.Context, plan Plan) (kit.Outcome, error) {
	if plan.Delete == nil {
		return kit.Continue(), nil
	}
	return kit.Continue(), kit.Remove(ctx, r.Client, plan.Delete)
}

// rotate writes the password together with the next operation, so that one password is generated. After a conflict the next
// pass reads the credentials again.
func (r *Reconciler) rotate(ctx context.Context, plan Plan) (kit.Outcome, error) {
	secret := plan.Rotate
	if secret == nil {
		return kit.Continue(), nil
	}
	if err := fill(secret, r.Clock.Now()); err != nil {
		return kit.Stop(), err
	}
	metav1.SetMetaDataAnnotation(&secret.ObjectMeta, gardencorev1beta1.AnnotationOperation, gardencorev1beta1.OperationReconcile)
	if err := r.Client.Update(ctx, secret); err != nil {
		return kit.Stop(), fmt.Errorf("write new password of secret %q: %w", secret.Name, err)
	}
	logf.FromContext(ctx).Info("Monitoring credentials rotated", "secret", secret.Name)
	return kit.Stop(), nil
}

// announce waits until every seed has the password, and then has the seeds reconciled to use it. A seed with another
// operation annotation is left alone, because it is about to be reconciled anyway.
func (r *Reconciler) announce(ctx context.Context, plan Plan) (kit.Outcome, error) {
	secret := plan.Announce
	if secret == nil {
		return kit.Continue(), nil
	}
	seeds := &gardencorev1beta1.SeedList{}
	if err := r.Client.List(ctx, seeds); err != nil {
		return kit.Stop(), fmt.Errorf("list seeds: %w", err)
	}
	for i := range seeds.Items {
		have, err := r.has(ctx, &seeds.Items[i], secret)
		if err != nil {
			return kit.Stop(), err
		}
		if !have {
			return kit.RequeueAfter(patience), nil
		}
	}
	for i := range seeds.Items {
		if err := r.tell(ctx, &seeds.Items[i]); err != nil {
			return kit.Stop(), err
		}
	}
	commit := kit.Begin(r.Client, secret)
	delete(secret.Annotations, gardencorev1beta1.AnnotationOperation)
	return kit.Continue(), commit.WriteObject(ctx)
}

// has reports whether a seed has the same credentials. A seed in deletion needs none.
func (r *Reconciler) has(ctx context.Context, seed *gardencorev1beta1.Seed, secret *corev1.Secret) (bool, error) {
	if seed.DeletionTimestamp != nil {
		return true, nil
	}
	have := &corev1.Secret{}
	key := client.ObjectKey{Namespace: namespace.Name(seed.Name), Name: secret.Name}
	if err := r.Reader.Get(ctx, key, have); err != nil {
		if client.IgnoreNotFound(err) == nil {
			return false, nil
		}
		return false, fmt.Errorf("get credentials of seed %q: %w", seed.Name, err)
	}
	return maps.EqualFunc(have.Data, secret.Data, bytes.Equal), nil
}

func (r *Reconciler) tell(ctx context.Context, seed *gardencorev1beta1.Seed) error {
	if seed.DeletionTimestamp != nil || seed.Annotations[gardencorev1beta1.AnnotationOperation] != "" {
		return nil
	}
	patch := client.MergeFrom(seed.DeepCopy())
	metav1.SetMetaDataAnnotation(&seed.ObjectMeta, gardencorev1beta1.AnnotationOperation, gardencorev1beta1.OperationReconcile)
	if err := r.Client.Patch(ctx, seed, patch); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("have seed %q reconciled with the new password: %w", seed.Name, err)
	}
	return nil
}
