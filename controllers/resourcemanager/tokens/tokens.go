// SPDX-License-Identifier: Apache-2.0

// Package tokens keeps tokens of service accounts of another cluster in Secrets of the seed: of a shoot in Secrets of its control plane,
// for components and extensions that act in the shoot, and of the garden for extensions. A Secret with the label for it names the
// service account, which is created if it does not exist. The token is requested with a short life and renewed before its end. It
// never gets into a log, an error or an event.
package tokens

import (
	"context"
	"errors"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/resourcemanager/target"
)

const (
	controllerName = "token-requestor"
	// unreachablePause is the time between two attempts while the shoot cannot be reached.
	unreachablePause = 10 * time.Second
)

// Reconciler keeps the tokens of all shoots of a seed.
type Reconciler struct {
	kit.Base

	// Targets finds the shoot of a Secret.
	Targets target.Finder
}

// AddToManager registers the reconciler in the manager of the seed.
func (r *Reconciler) AddToManager(seed manager.Manager) error {
	// Every change of such a Secret starts a look at it, because a user who removes its token wants a new one.
	b := r.ManagedBy(seed, controllerName, target.Queue()).
		For(&corev1.Secret{}, builder.OnlyMetadata, builder.WithPredicates(predicate.NewPredicateFuncs(wanted)))
	return kit.Complete(b, controllerName, r)
}

// wanted reports whether a Secret asks for a token of a shoot (GRM-TOKREQ-1).
func wanted(secret client.Object) bool {
	labels := secret.GetLabels()
	class := labels[gardenresourcesv1alpha1.LabelClass]
	return labels[gardenresourcesv1alpha1.LabelPurpose] == gardenresourcesv1alpha1.PurposeTokenRequestor &&
		(class == "" || class == gardenresourcesv1alpha1.ClassShoot)
}

// Reconcile renews the token of one Secret if it is time.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	secret := &corev1.Secret{}
	if err := r.Reader.Get(ctx, request.NamespacedName, secret); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if secret.DeletionTimestamp != nil || !wanted(secret) {
		return reconcile.Result{}, nil
	}
	shoot, err := r.Targets.ShootOf(ctx, secret.Namespace)
	switch {
	case errors.Is(err, target.ErrGone):
		return reconcile.Result{}, nil
	case errors.Is(err, target.ErrAsleep) || errors.Is(err, kit.ErrNoShootAccess):
		return reconcile.Result{RequeueAfter: unreachablePause}, nil
	case err != nil:
		return reconcile.Result{}, err
	}
	run, cancel := target.Bound(ctx, 1)
	defer cancel()
	result, err := Keeper{Seed: r.Client, Clock: r.Clock}.Keep(run, shootOf(shoot), secret)
	return result, target.Explain(run, err)
}

// shootOf is a shoot as the cluster of service accounts.
func shootOf(shoot *kit.Shoot) Cluster {
	return Cluster{Client: shoot, CA: shoot.CA, Accepts: func(ctx context.Context, token string) (bool, error) {
		review := &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token}}
		if err := shoot.Create(ctx, review); err != nil {
			return false, errors.New("ask the shoot about the token: the request failed") // the error may quote the request
		}
		return review.Status.Authenticated, nil
	}}
}
