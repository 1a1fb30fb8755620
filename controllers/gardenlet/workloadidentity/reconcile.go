// SPDX-License-Identifier: Apache-2.0

package workloadidentity

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/terrarium-garden/terrarium/controllers/deploy"
)

// Reconcile renews the token of a Secret if it is time (GLET-TOK-2).
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	live := &corev1.Secret{}
	if err := r.SeedClient.Get(ctx, request.NamespacedName, live); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if live.DeletionTimestamp != nil || !Wanted().Matches(labels.Set(live.Labels)) {
		return reconcile.Result{}, nil
	}
	issuer := r.issuer()
	if due := issuer.Due(live); due > 0 {
		return reconcile.Result{RequeueAfter: due}, nil
	}
	// What is applied is all that a gardenlet owns of the Secret: another one that it describes leaves nothing of this one.
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: live.Namespace, Name: live.Name, Labels: live.Labels, Annotations: live.Annotations},
		Type:       live.Type, Data: live.Data,
	}
	if err := issuer.Renew(ctx, secret); err != nil {
		return reconcile.Result{}, fmt.Errorf("renew token in Secret %q: %w", request.NamespacedName, err)
	}
	if err := (deploy.Engine{Client: r.SeedClient, Owner: fieldOwner, Clock: r.Clock}).Apply(ctx, secret); err != nil {
		return reconcile.Result{}, fmt.Errorf("renew token in Secret %q: %w", request.NamespacedName, err)
	}
	return reconcile.Result{RequeueAfter: max(issuer.Due(secret), 0)}, nil
}
