// SPDX-License-Identifier: Apache-2.0

// Package gardentoken keeps tokens of the garden in Secrets of the seed, for extensions that act in the garden. A Secret with the labels
// for it names a service account in the seed's namespace of the garden. It gets a token that is valid for half a day, and a new one long
// before the end, or as soon as the garden refuses the one that it has (GLET-TOK-1).
//
// Any client that may write Secrets in the seed can ask. So an extension gets the account of its own installation only, and what an account is
// called and where it is, is not for the asker to choose.
package gardentoken

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/resourcemanager/tokens"
)

const (
	controllerName = "tokenrequestor"
	// reasonInvalid marks Secrets that ask for what they cannot get.
	reasonInvalid = "InvalidSecret"
	// patience limits the time that the garden has to say whether it accepts a token.
	patience = 10 * time.Second
)

var _ kit.Adder = (*Reconciler)(nil)

// Reconciler keeps the tokens of a seed.
type Reconciler struct {
	kit.SeedBase

	// Garden reaches the garden without credentials, as extensions do before they add their token.
	Garden func() *rest.Config
	// Accepts asks the garden whether it accepts a token. If it is nil, Garden is asked.
	Accepts func(ctx context.Context, token string) (bool, error)
	// Config is the section of the configuration.
	Config *gardenconfigv1alpha1.TokenRequestorServiceAccountControllerConfiguration
}

// AddToManager implements kit.Adder. The cache is one of its own, because that of the seed has other Secrets.
func (r *Reconciler) AddToManager(clusters kit.Clusters) error {
	secrets, err := cache.New(clusters.Seed.GetConfig(), cache.Options{
		Scheme: clusters.Seed.GetScheme(), Mapper: clusters.Seed.GetRESTMapper(), DefaultTransform: withoutData,
		ByObject: map[client.Object]cache.ByObject{&corev1.Secret{}: {Label: Wanted()}},
	})
	if err == nil {
		err = clusters.Garden.Add(secrets)
	}
	if err != nil {
		return fmt.Errorf("watch Secrets that ask for a token of the garden: %w", err)
	}
	b := r.Controller(clusters, controllerName, kit.Workers(r.Config.ConcurrentSyncs)).
		WatchesRawSource(source.Kind(secrets, &corev1.Secret{}, &handler.TypedEnqueueRequestForObject[*corev1.Secret]{}))
	return kit.Complete(b, controllerName, r)
}

// withoutData keeps tokens out of the cache: Secrets are read anew when they are looked at.
func withoutData(object any) (any, error) {
	if secret, ok := object.(*corev1.Secret); ok {
		secret.Data, secret.ManagedFields = nil, nil
	}
	return object, nil
}

// Wanted selects the Secrets that ask for a token of the garden.
func Wanted() labels.Selector {
	return labels.SelectorFromSet(labels.Set{
		gardenresourcesv1alpha1.LabelPurpose: gardenresourcesv1alpha1.PurposeTokenRequestor,
		gardenresourcesv1alpha1.LabelClass:   gardenresourcesv1alpha1.ClassGarden,
	})
}

// NamespaceOf is the namespace of a seed in the garden, where the service accounts are.
func NamespaceOf(seed string) string { return gardencorev1beta1.NamespacePrefixSeed + seed }

// Reconcile renews the token of one Secret if it is time.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	secret := &corev1.Secret{}
	if err := r.SeedClient.Get(ctx, request.NamespacedName, secret); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if secret.DeletionTimestamp != nil || !Wanted().Matches(labels.Set(secret.Labels)) {
		return reconcile.Result{}, nil
	}
	if err := r.check(secret); err != nil {
		return reconcile.Result{}, fmt.Errorf("secret %q asks for a token of the garden: %w", request.NamespacedName, kit.UserMustFix(reasonInvalid, err))
	}
	// The asker need not know the name of the namespace. This is not written.
	metav1.SetMetaDataAnnotation(&secret.ObjectMeta, gardenresourcesv1alpha1.AnnotationServiceAccountNamespace, NamespaceOf(r.SeedName))
	return tokens.Keeper{Seed: r.SeedClient, Clock: r.Clock}.Keep(ctx, r.cluster(), secret)
}

// check refuses what would let one extension act as another one, or give it rights that are meant for others: roles select accounts by
// their labels (GCM-CREXT-2), so only the gardenlet sets these.
func (r *Reconciler) check(secret *corev1.Secret) error {
	asked := secret.Annotations
	name, namespace := asked[gardenresourcesv1alpha1.AnnotationServiceAccountName], asked[gardenresourcesv1alpha1.AnnotationServiceAccountNamespace]
	ofExtension := strings.HasPrefix(secret.Namespace, gardencorev1beta1.NamespacePrefixExtension)
	switch {
	case namespace != "" && namespace != NamespaceOf(r.SeedName):
		return fmt.Errorf("annotation %s: the service account has to be in %q; leave it out",
			gardenresourcesv1alpha1.AnnotationServiceAccountNamespace, NamespaceOf(r.SeedName))
	case !ofExtension:
		return fmt.Errorf("metadata.namespace: tokens of the garden are for Secrets in the namespaces of extensions, which begin with %q",
			gardencorev1beta1.NamespacePrefixExtension)
	case name != secret.Namespace:
		return fmt.Errorf("annotation %s: an extension has the service account with the name of its namespace, %q",
			gardenresourcesv1alpha1.AnnotationServiceAccountName, secret.Namespace)
	}
	for _, key := range []string{
		gardenresourcesv1alpha1.AnnotationServiceAccountLabels,
		gardenresourcesv1alpha1.AnnotationTargetSecretName, gardenresourcesv1alpha1.AnnotationTargetSecretNamespace,
	} {
		if _, set := asked[key]; set {
			return fmt.Errorf("annotation %s: cannot be used for the garden; remove it", key)
		}
	}
	return nil
}

// cluster is the garden as the cluster of service accounts.
func (r *Reconciler) cluster() tokens.Cluster {
	garden := r.Garden()
	accepts := r.Accepts
	if accepts == nil {
		accepts = func(ctx context.Context, token string) (bool, error) { return accepted(ctx, garden, token) }
	}
	return tokens.Cluster{Client: r.GardenClient, CA: garden.CAData, Accepts: accepts}
}

// accepted asks the garden with the token itself, because a gardenlet may not have tokens reviewed. A garden that does not answer has
// not refused it.
func accepted(ctx context.Context, garden *rest.Config, token string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	config := rest.AnonymousClientConfig(garden)
	config.BearerToken = token
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return false, errors.New("build client of the garden for the token") // the error may quote the token
	}
	_, err = clients.AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	switch {
	case apierrors.IsUnauthorized(err):
		return false, nil
	case err == nil || apierrors.IsForbidden(err):
		return true, nil
	default:
		return false, errors.New("ask the garden about the token: the request failed")
	}
}
