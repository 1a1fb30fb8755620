// SPDX-License-Identifier: Apache-2.0

package event

import (
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const controllerName = "event"

var _ kit.Adder = (*Reconciler)(nil)

// Reconciler deletes Events.
type Reconciler struct {
	kit.Base

	// Config is the section of the configuration; nil if Events are not to be deleted.
	Config *gardenconfigv1alpha1.ServerEventControllerConfiguration
}

// AddToManager implements kit.Adder. Without its section of the configuration nothing is watched (GCM-EVENT-1).
func (r *Reconciler) AddToManager(clusters kit.Clusters) error {
	if r.Config == nil {
		return nil
	}
	b := r.Controller(clusters, controllerName, kit.Workers(r.Config.ConcurrentSyncs)).
		For(&corev1.Event{}, builder.WithPredicates(isNew(), predicate.NewPredicateFuncs(isMortal)))
	return kit.Complete(b, controllerName, r)
}

// isNew ignores changes: an Event that happened again is found out when its time has come.
func isNew() predicate.Predicate {
	return predicate.Funcs{
		UpdateFunc: func(event.UpdateEvent) bool { return false },
		DeleteFunc: func(event.DeleteEvent) bool { return false },
	}
}

func isMortal(object client.Object) bool {
	e, ok := object.(*corev1.Event)
	return ok && !AboutShoot(e)
}
