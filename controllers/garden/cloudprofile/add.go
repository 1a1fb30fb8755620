// SPDX-License-Identifier: Apache-2.0

package cloudprofile

import (
	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const controllerName = "cloudprofile-status"

var _ kit.Adder = (*Reconciler)(nil)

// Reconciler keeps the status of CloudProfiles true.
type Reconciler struct {
	kit.Base

	// Config is the section of the configuration.
	Config gardenconfigv1alpha1.ConcurrencyConfiguration
}

// AddToManager implements kit.Adder.
func (r *Reconciler) AddToManager(clusters kit.Clusters) error {
	b := r.Controller(clusters, controllerName, kit.Workers(r.Config.ConcurrentSyncs)).
		For(&gardencorev1beta1.CloudProfile{}, builder.WithPredicates(predicate.Funcs{UpdateFunc: changed}))
	return kit.Complete(b, controllerName, r)
}

// changed looks at spec and status themselves, because profiles have no generation. A status that somebody else wrote is
// written again.
func changed(e event.UpdateEvent) bool {
	was, ok := e.ObjectOld.(*gardencorev1beta1.CloudProfile)
	is, same := e.ObjectNew.(*gardencorev1beta1.CloudProfile)
	return !ok || !same || !equality.Semantic.DeepEqual(was.Spec, is.Spec) || !equality.Semantic.DeepEqual(was.Status, is.Status)
}
