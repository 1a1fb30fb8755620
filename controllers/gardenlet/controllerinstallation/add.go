// SPDX-License-Identifier: Apache-2.0

package controllerinstallation

import (
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/seed"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const controllerName = "controllerinstallation"

var _ kit.Adder = (*Reconciler)(nil)

// Reconciler installs extensions in one seed.
type Reconciler struct {
	kit.SeedBase

	// Version is the version of the Gardener API that charts are told.
	Version string
	// FeatureGates of the gardenlet, which charts are told.
	FeatureGates map[string]bool
	// KubernetesVersion asks the seed for its version.
	KubernetesVersion func() (string, error)
	// Config is the section of the configuration.
	Config *gardenconfigv1alpha1.ControllerInstallationControllerConfiguration
}

// AddToManager implements kit.Adder.
func (r *Reconciler) AddToManager(clusters kit.Clusters) error {
	version, err := seed.AskVersion(clusters.Seed)
	if err != nil {
		return err
	}
	r.KubernetesVersion = version
	b := r.Controller(clusters, controllerName, kit.Workers(r.Config.ConcurrentSyncs))
	b.For(&gardencorev1beta1.ControllerInstallation{}, builder.WithPredicates(Of(r.SeedName), predicate.Or(
		predicate.GenerationChangedPredicate{}, predicate.LabelChangedPredicate{}, predicate.AnnotationChangedPredicate{},
	)))
	return kit.Complete(b, controllerName, r)
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
