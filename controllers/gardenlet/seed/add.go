// SPDX-License-Identifier: Apache-2.0

package seed

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const (
	controllerName    = "seed"
	defaultSyncPeriod = time.Minute
)

// Reconciler looks after one seed. Unset fields are filled by AddToManager.
type Reconciler struct {
	// GardenClient reaches the garden; Seeds, Shoots and ControllerInstallations of this seed come from the cache.
	GardenClient client.Client
	// SeedClient reaches the seed, around any cache.
	SeedClient client.Client
	// Recorder writes events of the Seed.
	Recorder events.EventRecorder
	// Clock tells the time.
	Clock clock.Clock
	// SeedName is the name of the seed. It is required.
	SeedName string
	// Gardenlet is who acts.
	Gardenlet gardencorev1beta1.Gardener
	// Resources is how much the seed can take; nil says nothing about it.
	Resources *gardenconfigv1alpha1.ResourcesConfiguration
	// SyncPeriod is the time between two passes without an event.
	SyncPeriod time.Duration
	// Expiry is the end of the gardenlet's certificate for the garden; it may be nil and may return nil.
	Expiry func() *metav1.Time
	// RenewKubeconfig asks for new credentials for the garden; nil means that they cannot be renewed.
	RenewKubeconfig func(ctx context.Context) error
	// KubernetesVersion asks the seed for its version.
	KubernetesVersion func() (string, error)
}

// AddToManager registers the controller with the manager of the garden.
func (r *Reconciler) AddToManager(mgr manager.Manager, seed cluster.Cluster) error {
	if r.GardenClient == nil {
		r.GardenClient = mgr.GetClient()
	}
	if r.SeedClient == nil {
		r.SeedClient = seed.GetClient()
	}
	if r.Recorder == nil {
		r.Recorder = mgr.GetEventRecorder(controllerName)
	}
	if r.Clock == nil {
		r.Clock = clock.RealClock{}
	}
	if r.SyncPeriod <= 0 {
		r.SyncPeriod = defaultSyncPeriod
	}
	if r.KubernetesVersion == nil {
		version, err := AskVersion(seed)
		if err != nil {
			return err
		}
		r.KubernetesVersion = version
	}
	err := builder.ControllerManagedBy(mgr).
		Named(controllerName).
		For(&gardencorev1beta1.Seed{}, builder.WithPredicates(r.own(), predicate.Or(predicate.GenerationChangedPredicate{}, asked()))).
		WithOptions(kit.Queue{Concurrency: 1, MaxDelay: r.SyncPeriod}.Options()).
		Complete(r)
	if err != nil {
		return fmt.Errorf("add controller %q: %w", controllerName, err)
	}
	return nil
}

func (r *Reconciler) own() predicate.Predicate {
	return predicate.NewPredicateFuncs(func(object client.Object) bool { return object.GetName() == r.SeedName })
}

// asked lets an operation annotation start a pass.
func asked() predicate.Predicate {
	return predicate.NewPredicateFuncs(func(object client.Object) bool {
		return object.GetAnnotations()[gardencorev1beta1.AnnotationOperation] != ""
	})
}

// AskVersion returns a function that asks a cluster for its Kubernetes version.
func AskVersion(target cluster.Cluster) (func() (string, error), error) {
	clients, err := discovery.NewDiscoveryClientForConfig(target.GetConfig())
	if err != nil {
		return nil, fmt.Errorf("build client for the version of the seed: %w", err)
	}
	return func() (string, error) {
		info, err := clients.ServerVersion()
		if err != nil {
			return "", fmt.Errorf("ask the seed for its version: %w", err)
		}
		return info.GitVersion, nil
	}, nil
}
