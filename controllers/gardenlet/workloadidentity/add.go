// SPDX-License-Identifier: Apache-2.0

package workloadidentity

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"

	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const (
	controllerName = "tokenrequestor-workload-identity"
	fieldOwner     = "gardenlet"
	// jitter is the part by which a renewal may come later.
	jitter = 0.05
)

// Reconciler renews the tokens of a seed. Unset fields are filled by AddToManager.
type Reconciler struct {
	// GardenClient reaches the garden.
	GardenClient client.Client
	// SeedClient reaches the seed around any cache.
	SeedClient client.Client
	// Clock tells when a token is to be renewed.
	Clock clock.Clock
	// Validity is the wanted lifetime of tokens; DefaultValidity if unset.
	Validity time.Duration
	// Queue bounds the work.
	Queue kit.Queue
}

// AddToManager registers the controller with the manager of the garden.
func (r *Reconciler) AddToManager(mgr manager.Manager, target cluster.Cluster) error {
	if r.GardenClient == nil {
		r.GardenClient = mgr.GetClient()
	}
	if r.SeedClient == nil {
		r.SeedClient = target.GetClient()
	}
	if r.Clock == nil {
		r.Clock = clock.RealClock{}
	}
	secrets := source.Kind(target.GetCache(), &corev1.Secret{}, &handler.TypedEnqueueRequestForObject[*corev1.Secret]{},
		predicate.NewTypedPredicateFuncs(func(secret *corev1.Secret) bool { return Wanted().Matches(labels.Set(secret.Labels)) }))
	err := builder.ControllerManagedBy(mgr).Named(controllerName).WatchesRawSource(secrets).WithOptions(r.Queue.Options()).Complete(r)
	if err != nil {
		return fmt.Errorf("add controller %q: %w", controllerName, err)
	}
	return nil
}

// Wanted selects the Secrets that are to hold a token.
func Wanted() labels.Selector {
	return labels.SelectorFromSet(labels.Set{gardensecurityv1alpha1.LabelPurpose: gardensecurityv1alpha1.LabelPurposeTokenRequestor})
}

func (r *Reconciler) issuer() Issuer {
	return Issuer{Garden: r.GardenClient, Validity: r.Validity, Clock: r.Clock, Jitter: Jitter}
}

// Jitter spreads renewals.
func Jitter(d time.Duration) time.Duration { return wait.Jitter(d, jitter) }
