// SPDX-License-Identifier: Apache-2.0

// Package workloadidentity renews tokens of workload identities: a Secret of the seed that names an identity of the garden holds a
// valid token of it, which is renewed after half of its life. The maker of such a Secret asks for the first token itself, so the
// Secret never exists without one. A token never gets into a log or an event.
//
// Any client that may write a Secret in the seed can make it ask. So a Secret in the namespace of a shoot gets a token that is used for this
// shoot, one in the namespace garden a token for the seed, and others get none. The garden issues it only if the shoot, or the seed, refers
// to the identity.
package workloadidentity

import (
	"context"
	"encoding/json"
	"errors"
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
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const (
	controllerName = "tokenrequestor-workload-identity"
	fieldOwner     = "gardenlet"
	// reasonInvalid marks Secrets that ask for what they cannot get.
	reasonInvalid = "InvalidSecret"
	// pause is the time until a Secret that has changed meanwhile is looked at again.
	pause = time.Second
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
		return reconcile.Result{RequeueAfter: kit.Until(due)}, nil
	}
	if err := r.check(ctx, live); err != nil {
		return reconcile.Result{}, fmt.Errorf("secret %q asks for a token of a workload identity: %w", request.NamespacedName, err)
	}
	// What is applied is all that the gardenlet owns of the Secret. If the Secret is described anew, nothing else is left of it.
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: live.Namespace, Name: live.Name, Labels: live.Labels, Annotations: live.Annotations},
		Type:       live.Type, Data: live.Data,
	}
	err := issuer.Renew(ctx, secret)
	if err == nil {
		err = deploy.Engine{Client: r.SeedClient, Owner: fieldOwner, Clock: r.Clock}.ApplyOver(ctx, live, secret)
	}
	if apierrors.IsConflict(err) {
		// The garden took its time, and the Secret was described anew or deleted meanwhile.
		return reconcile.Result{RequeueAfter: pause}, nil
	}
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("renew token in Secret %q: %w", request.NamespacedName, err)
	}
	return reconcile.Result{RequeueAfter: kit.Until(max(issuer.Due(secret), 0))}, nil
}

// check refuses a Secret that asks for a token on behalf of another object than the one that its namespace is for.
func (r *Reconciler) check(ctx context.Context, secret *corev1.Secret) error {
	asked, err := contextOf(secret)
	if err != nil {
		return kit.UserMustFix(reasonInvalid, err)
	}
	if secret.Namespace == gardencorev1beta1.NamespaceGarden {
		if asked.Kind != "Seed" || asked.Name != r.SeedName {
			return refused(fmt.Errorf("has to name the Seed %q", r.SeedName))
		}
		return nil
	}
	shoot, err := r.shootOf(ctx, secret.Namespace)
	switch {
	case apierrors.IsNotFound(err):
		return refused(errors.New("the namespace is that of no shoot"))
	case err != nil:
		return err
	case asked.Kind != "Shoot" || asked.Namespace == nil || *asked.Namespace != shoot.Namespace || asked.Name != shoot.Name || asked.UID != shoot.UID:
		return refused(fmt.Errorf("has to name the Shoot %q with UID %q", client.ObjectKeyFromObject(shoot), shoot.UID))
	default:
		return nil
	}
}

func refused(err error) error {
	return kit.UserMustFix(reasonInvalid, fmt.Errorf("annotation %s: %w", gardensecurityv1alpha1.AnnotationWorkloadIdentityContextObject, err))
}

// shootOf is the shoot whose control plane is in a namespace, as the gardenlet has written it into the Cluster.
func (r *Reconciler) shootOf(ctx context.Context, namespace string) (*gardencorev1beta1.Shoot, error) {
	cluster := &gardenextensionsv1alpha1.Cluster{}
	if err := r.SeedClient.Get(ctx, client.ObjectKey{Name: namespace}, cluster); err != nil {
		return nil, fmt.Errorf("get cluster %q: %w", namespace, err)
	}
	shoot := &gardencorev1beta1.Shoot{}
	if err := json.Unmarshal(cluster.Spec.Shoot.Raw, shoot); err != nil {
		return nil, fmt.Errorf("read the shoot of cluster %q: %w", namespace, err)
	}
	return shoot, nil
}
