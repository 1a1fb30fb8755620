// SPDX-License-Identifier: Apache-2.0

package statuslabel

import (
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const controllerName = "shoot-statuslabel"

var _ kit.Adder = (*Reconciler)(nil)

// Reconciler labels shoots.
type Reconciler struct {
	kit.Base

	// Config is the section of the configuration.
	Config gardenconfigv1alpha1.ConcurrencyConfiguration
}

// AddToManager implements kit.Adder. Only a shoot whose label is wrong is enqueued: deciding that is cheaper than a
// place in the queue.
func (r *Reconciler) AddToManager(clusters kit.Clusters) error {
	b := r.Controller(clusters, controllerName, kit.Workers(r.Config.ConcurrentSyncs)).
		For(&gardencorev1beta1.Shoot{}, builder.WithPredicates(predicate.NewPredicateFuncs(isWrong)))
	return kit.Complete(b, controllerName, r)
}

func isWrong(object client.Object) bool {
	shoot, ok := object.(*gardencorev1beta1.Shoot)
	return ok && shoot.Labels[gardencorev1beta1.LabelShootStatus] != Decide(shoot)
}
