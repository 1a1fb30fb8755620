// SPDX-License-Identifier: Apache-2.0

// Package workloadidentity renews tokens of workload identities: a Secret of the seed that names an identity of the garden holds a
// valid token of it, which is renewed after half of its life. The maker of such a Secret asks for the first token itself, so the
// Secret never exists without one. A token never gets into a log or an event.
package workloadidentity

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const (
	controllerName = "tokenrequestor-workload-identity"
	fieldOwner     = "gardenlet"
)

var _ kit.Adder = (*Reconciler)(nil)

// Reconciler renews the tokens of a seed.
type Reconciler struct {
	kit.SeedBase

	// Config is the section of the configuration.
	Config *gardenconfigv1alpha1.TokenRequestorWorkloadIdentityControllerConfiguration
}

// AddToManager implements kit.Adder.
func (r *Reconciler) AddToManager(clusters kit.Clusters) error {
	secrets := source.Kind(clusters.Seed.GetCache(), &corev1.Secret{}, &handler.TypedEnqueueRequestForObject[*corev1.Secret]{},
		predicate.NewTypedPredicateFuncs(func(secret *corev1.Secret) bool { return Wanted().Matches(labels.Set(secret.Labels)) }))
	b := r.Controller(clusters, controllerName, kit.Workers(r.Config.ConcurrentSyncs)).WatchesRawSource(secrets)
	return kit.Complete(b, controllerName, r)
}

// Wanted selects the Secrets that hold a token.
func Wanted() labels.Selector {
	return labels.SelectorFromSet(labels.Set{gardensecurityv1alpha1.LabelPurpose: gardensecurityv1alpha1.LabelPurposeTokenRequestor})
}

// Reconcile renews the token of a Secret if it is time (GLET-TOK-2).
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	live := &corev1.Secret{}
	if err := r.SeedClient.Get(ctx, request.NamespacedName, live); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if live.DeletionTimestamp != nil || !Wanted().Matches(labels.Set(live.Labels)) {
		return reconcile.Result{}, nil
	}
	issuer := Issuer{Garden: r.GardenClient, Validity: r.Config.TokenExpirationDuration.Duration, Clock: r.Clock}
	if due := issuer.Due(live); due > 0 {
		return reconcile.Result{RequeueAfter: due}, nil
	}
	// What is applied is all that the gardenlet owns of the Secret. If the Secret is described anew, nothing else is left of it.
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: live.Namespace, Name: live.Name, Labels: live.Labels, Annotations: live.Annotations},
		Type:       live.Type, Data: live.Data,
	}
	if err := issuer.Renew(ctx, secret); err != nil {
		return reconcile.Result{}, fmt.Errorf("renew token in Secret %q: %w", request.NamespacedName, err)
	}
	if err := r.write(ctx, live, secret); err != nil {
		return kit.Result(kit.Stop(), fmt.Errorf("write token into Secret %q: %w", request.NamespacedName, err))
	}
	return reconcile.Result{RequeueAfter: max(issuer.Due(secret), 0)}, nil
}

// write replaces the Secret that was read. While the garden was asked for the token, the Secret may have been described anew, for another
// identity, or deleted; then the token is given up, and another pass looks at what there is now.
func (r *Reconciler) write(ctx context.Context, read, secret *corev1.Secret) error {
	err := deploy.Engine{Client: r.SeedClient, Owner: fieldOwner, Clock: r.Clock}.ApplyTo(ctx, read, secret)
	if apierrors.IsNotFound(err) {
		return kit.Wait(time.Second, "the Secret is gone")
	}
	return err
}
