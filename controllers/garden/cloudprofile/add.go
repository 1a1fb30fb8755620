// SPDX-License-Identifier: Apache-2.0

package cloudprofile

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const controllerName = "cloudprofile-status"

var _ kit.Adder = (*Reconciler)(nil)

// Reconciler keeps the status of CloudProfiles true. Unset fields are filled by AddToManager.
type Reconciler struct {
	// Client reaches the garden.
	Client client.Client
	// Clock is the real clock if nil.
	Clock clock.PassiveClock
	// Queue bounds the work.
	Queue kit.Queue
}

// AddToManager implements kit.Adder.
func (r *Reconciler) AddToManager(mgr manager.Manager) error {
	if r.Client == nil {
		r.Client = mgr.GetClient()
	}
	if r.Clock == nil {
		r.Clock = clock.RealClock{}
	}
	err := builder.ControllerManagedBy(mgr).
		Named(controllerName).
		For(&gardencorev1beta1.CloudProfile{}, builder.WithPredicates(predicate.Funcs{UpdateFunc: changed})).
		WithOptions(r.Queue.Options()).
		Complete(r)
	if err != nil {
		return fmt.Errorf("add controller %q: %w", controllerName, err)
	}
	return nil
}

// changed looks at spec and status themselves, because profiles have no generation. A status that somebody else wrote is
// written again.
func changed(e event.UpdateEvent) bool {
	was, ok := e.ObjectOld.(*gardencorev1beta1.CloudProfile)
	is, same := e.ObjectNew.(*gardencorev1beta1.CloudProfile)
	return !ok || !same || !equality.Semantic.DeepEqual(was.Spec, is.Spec) || !equality.Semantic.DeepEqual(was.Status, is.Status)
}
