// SPDX-License-Identifier: Apache-2.0

package namespace

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// recheck is how soon a copy that had to be deleted is made anew, should its event be missed.
const recheck = 5 * time.Second

// Reconcile keeps the namespace of one seed. A seed in deletion takes its namespace with it, because it owns it.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	seed := &gardencorev1beta1.Seed{}
	if err := r.Client.Get(ctx, request.NamespacedName, seed); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if seed.DeletionTimestamp != nil {
		return reconcile.Result{}, nil
	}
	outcome, err := kit.Run(ctx, seed, r.ensureNamespace, r.copySecrets)
	return kit.Result(outcome, err)
}

// ensureNamespace is GCM-SEED-1. A namespace of that name that belongs to somebody else is not touched.
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

// copySecrets is GCM-SEED-2 and GCM-SEED-3.
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
