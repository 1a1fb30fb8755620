// SPDX-License-Identifier: Apache-2.0

package workloadidentity

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const (
	controllerName = "tokenrequestor-workload-identity"
	fieldOwner     = "gardenlet"
	// jitter is the part by which a renewal may come later.
	jitter = 0.05
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

// Wanted selects the Secrets that are to hold a token.
func Wanted() labels.Selector {
	return labels.SelectorFromSet(labels.Set{gardensecurityv1alpha1.LabelPurpose: gardensecurityv1alpha1.LabelPurposeTokenRequestor})
}

func (r *Reconciler) issuer() Issuer {
	return Issuer{Garden: r.GardenClient, Validity: r.Config.TokenExpirationDuration.Duration, Clock: r.Clock, Jitter: Jitter}
}

// Jitter spreads renewals.
func Jitter(d time.Duration) time.Duration { return wait.Jitter(d, jitter) }
