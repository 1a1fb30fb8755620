// SPDX-License-Identifier: Apache-2.0

package seed

import (
	"context"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/extensions"
	"github.com/terrarium-garden/terrarium/apis/extensions/kind"
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
	// NodeToleration says how long pods of the seed stay on nodes that are lost; nil leaves it to the resource manager.
	NodeToleration *gardenconfigv1alpha1.NodeToleration
	// Journal is told what happens to the seed; it may be nil.
	Journal operation.Journal
	// Config is the section of the configuration.
	Config *gardenconfigv1alpha1.SeedControllerConfiguration
	// IdentityTokenValidity is how long tokens of workload identities are to be valid, to which the seed refers.
	IdentityTokenValidity time.Duration
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
	b.Watches(&gardencorev1beta1.ControllerRegistration{}, handler.EnqueueRequestsFromMapFunc(r.always), builder.WithPredicates(offers()))
	b.Watches(&gardencorev1beta1.ControllerInstallation{}, handler.EnqueueRequestsFromMapFunc(r.afterFailure), builder.WithPredicates(installed()))
	return kit.Complete(b, controllerName, r)
}

func (r *Reconciler) always(context.Context, client.Object) []reconcile.Request {
	return []reconcile.Request{{NamespacedName: client.ObjectKey{Name: r.SeedName}}}
}

// afterFailure starts a pass if the last one has failed, as one that has waited for an extension in vain.
func (r *Reconciler) afterFailure(ctx context.Context, object client.Object) []reconcile.Request {
	seed := &gardencorev1beta1.Seed{}
	if err := r.GardenClient.Get(ctx, client.ObjectKey{Name: r.SeedName}, seed); err != nil {
		return nil // It is gone, or the pass that failed is repeated later.
	}
	if last := seed.Status.LastOperation; last == nil || last.State != gardencorev1beta1.LastOperationStateError {
		return nil
	}
	return r.always(ctx, object)
}

// offers lets changes through of what extensions offer to seeds.
func offers() predicate.Predicate {
	facts := func(registration *gardencorev1beta1.ControllerRegistration) []gardencorev1beta1.ControllerResource {
		return slices.DeleteFunc(slices.Clone(registration.Spec.Resources), func(r gardencorev1beta1.ControllerResource) bool {
			return r.Kind != kind.Extension || !slices.Contains(r.ClusterCompatibility, gardencorev1beta1.ClusterTypeSeed)
		})
	}
	some := func(object client.Object) bool {
		registration, ok := object.(*gardencorev1beta1.ControllerRegistration)
		return ok && len(facts(registration)) > 0
	}
	changes := kit.Changed(func(registration *gardencorev1beta1.ControllerRegistration) any { return facts(registration) })
	changes.CreateFunc = func(e event.CreateEvent) bool { return some(e.Object) }
	changes.DeleteFunc = func(e event.DeleteEvent) bool { return some(e.Object) }
	return changes
}

// installed lets changes through of whether an extension is installed and healthy.
func installed() predicate.Predicate {
	changes := kit.Changed(func(i *gardencorev1beta1.ControllerInstallation) any { return extensions.Installed(i) })
	changes.CreateFunc = func(event.CreateEvent) bool { return false }
	changes.DeleteFunc = func(event.DeleteEvent) bool { return false }
	return changes
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
