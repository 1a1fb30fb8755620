// SPDX-License-Identifier: Apache-2.0

package seed

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/flowmetrics"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/operation"
	"github.com/terrarium-garden/terrarium/controllers/reach"
)

const controllerName = "seed"

var _ kit.Adder = (*Reconciler)(nil)

// Reconciler reconciles one seed.
type Reconciler struct {
	kit.SeedBase

	// Gardenlet is the identity of the gardenlet.
	Gardenlet gardencorev1beta1.Gardener
	// Resources is the capacity of the seed; nil reports none.
	Resources *gardenconfigv1alpha1.ResourcesConfiguration
	// Expiry returns when the gardenlet's certificate for the garden expires; it may be nil and may return nil.
	Expiry func() *metav1.Time
	// RenewKubeconfig asks for new credentials for the garden; it is nil if they cannot be renewed.
	RenewKubeconfig func(ctx context.Context) error
	// KubernetesVersion asks the seed for its version.
	KubernetesVersion func() (string, error)
	// Image holds the terrarium binary, for the resource manager; empty for a seed that is not to have one.
	Image string
	// PolicyNamespaces are those of the seed in which traffic is denied. Without any, the resource manager makes no network policies.
	PolicyNamespaces reach.Namespaces
	// Journal is told what happens to the seed; it may be nil.
	Journal operation.Journal
	// Config is the section of the configuration.
	Config *gardenconfigv1alpha1.SeedControllerConfiguration
	// Flows records the durations of reconciliations; it may be nil.
	Flows *flowmetrics.Recorder
}

// AddToManager implements kit.Adder.
func (r *Reconciler) AddToManager(clusters kit.Clusters) error {
	var err error
	if r.KubernetesVersion, err = AskVersion(clusters.Seed); err != nil {
		return err
	}
	b := r.Controller(clusters, controllerName, kit.Queue{Concurrency: 1, MaxDelay: r.Config.SyncPeriod.Duration}).
		For(&gardencorev1beta1.Seed{}, builder.WithPredicates(r.own(), predicate.Or(predicate.GenerationChangedPredicate{}, asked())))
	return kit.Complete(b, controllerName, r)
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
