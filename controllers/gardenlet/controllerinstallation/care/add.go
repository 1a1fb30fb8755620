// SPDX-License-Identifier: Apache-2.0

package care

import (
	"time"

	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/controllerinstallation"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const (
	controllerName = "controllerinstallation-care"
	// impatientPeriod is the time between two checks while something is not as it should be.
	impatientPeriod = 2 * time.Second
)

var _ kit.Adder = (*Reconciler)(nil)

// Reconciler checks the extensions of one seed.
type Reconciler struct {
	kit.SeedBase

	// Config is the section of the configuration.
	Config *gardenconfigv1alpha1.ControllerInstallationCareControllerConfiguration
}

// AddToManager implements kit.Adder.
func (r *Reconciler) AddToManager(clusters kit.Clusters) error {
	b := r.Controller(clusters, controllerName, kit.Workers(r.Config.ConcurrentSyncs))
	b.For(&gardencorev1beta1.ControllerInstallation{},
		builder.WithPredicates(controllerinstallation.Of(r.SeedName), predicate.Or(predicate.GenerationChangedPredicate{}, installed())))
	return kit.Complete(b, controllerName, r)
}

// installed starts a check as soon as an extension was installed, instead of some time later.
func installed() predicate.Predicate {
	return predicate.Funcs{
		UpdateFunc:  func(e event.UpdateEvent) bool { return isInstalled(e.ObjectNew) && !isInstalled(e.ObjectOld) },
		DeleteFunc:  func(event.DeleteEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}

func isInstalled(object client.Object) bool {
	installation, ok := object.(*gardencorev1beta1.ControllerInstallation)
	return ok && kit.ConditionIs(installation.Status.Conditions, gardencorev1beta1.ConditionTypeInstalled, gardencorev1beta1.ConditionTrue)
}
