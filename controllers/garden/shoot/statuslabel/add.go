// SPDX-License-Identifier: Apache-2.0

package statuslabel

import (
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const controllerName = "shoot-statuslabel"

var _ kit.Adder = (*Reconciler)(nil)

// Reconciler labels shoots. Unset fields are filled by AddToManager.
type Reconciler struct {
	// Client reaches the garden.
	Client client.Client
	// Queue bounds the work.
	Queue kit.Queue
}

// AddToManager implements kit.Adder. Only a shoot whose label is wrong is enqueued: deciding that is cheaper than a
// place in the queue.
func (r *Reconciler) AddToManager(mgr manager.Manager) error {
	if r.Client == nil {
		r.Client = mgr.GetClient()
	}
	err := builder.ControllerManagedBy(mgr).
		Named(controllerName).
		For(&gardencorev1beta1.Shoot{}, builder.WithPredicates(predicate.NewPredicateFuncs(isWrong))).
		WithOptions(r.Queue.Options()).
		Complete(r)
	if err != nil {
		return fmt.Errorf("add controller %q: %w", controllerName, err)
	}
	return nil
}

func isWrong(object client.Object) bool {
	shoot, ok := object.(*gardencorev1beta1.Shoot)
	return ok && shoot.Labels[gardencorev1beta1.LabelShootStatus] != Decide(shoot)
}
