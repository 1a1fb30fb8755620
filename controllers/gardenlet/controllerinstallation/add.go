// SPDX-License-Identifier: Apache-2.0

package controllerinstallation

import (
	"fmt"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/seed"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const controllerName = "controllerinstallation"

// Reconciler installs extensions in one seed. Unset fields are filled by AddToManager.
type Reconciler struct {
	// GardenClient reaches the garden; ControllerInstallations and Seeds come from the cache.
	GardenClient client.Client
	// SeedClient reaches the seed, around any cache.
	SeedClient client.Client
	// Clock tells the time.
	Clock clock.Clock
	// SeedName is the name of the seed. It is required.
	SeedName string
	// Version is the version of the Gardener API that charts are told.
	Version string
	// FeatureGates of the gardenlet, which charts are told.
	FeatureGates map[string]bool
	// KubernetesVersion asks the seed for its version.
	KubernetesVersion func() (string, error)
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
	if r.KubernetesVersion == nil {
		version, err := seed.AskVersion(target)
		if err != nil {
			return err
		}
		r.KubernetesVersion = version
	}
	err := builder.ControllerManagedBy(mgr).
		Named(controllerName).
		For(&gardencorev1beta1.ControllerInstallation{}, builder.WithPredicates(Of(r.SeedName), predicate.Or(
			predicate.GenerationChangedPredicate{}, predicate.LabelChangedPredicate{}, predicate.AnnotationChangedPredicate{},
		))).
		WithOptions(r.Queue.Options()).
		Complete(r)
	if err != nil {
		return fmt.Errorf("add controller %q: %w", controllerName, err)
	}
	return nil
}

// Of lets only installations for one seed pass.
func Of(seedName string) predicate.Predicate {
	return predicate.NewPredicateFuncs(func(object client.Object) bool {
		installation, ok := object.(*gardencorev1beta1.ControllerInstallation)
		return ok && installation.Spec.SeedRef != nil && installation.Spec.SeedRef.Name == seedName
	})
}

// Set is the inventory of an installation in the seed.
func Set(installation string) deploy.Set {
	return deploy.Set{Namespace: gardencorev1beta1.NamespaceGarden, Name: installation}
}

// Namespace is where an installation goes unless its chart says otherwise.
func Namespace(installation string) string {
	return gardencorev1beta1.NamespacePrefixExtension + installation
}

func (r *Reconciler) engine() deploy.Engine { return seed.Engine(r.SeedClient, r.Clock) }
