// SPDX-License-Identifier: Apache-2.0

package activity

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const controllerName = "project-activity"

var _ kit.Adder = (*Reconciler)(nil)

// Reconciler notes activity.
type Reconciler struct {
	kit.Base

	// Config is the section of the configuration.
	Config gardenconfigv1alpha1.ConcurrencyConfiguration
}

// AddToManager implements kit.Adder. Projects themselves are not watched: what is done to them is no activity in them.
func (r *Reconciler) AddToManager(clusters kit.Clusters) error {
	b := r.Controller(clusters, controllerName, kit.Workers(r.Config.ConcurrentSyncs))
	to := handler.EnqueueRequestsFromMapFunc(r.projectOf)
	work := builder.WithPredicates(Work(r.Clock))
	b.Watches(&gardencorev1beta1.Shoot{}, to, work).
		Watches(&gardencorev1beta1.BackupEntry{}, to, work).
		Watches(&gardencorev1beta1.Quota{}, to, builder.WithPredicates(Everything(r.Clock, anyQuota))).
		WatchesMetadata(&corev1.Secret{}, to, builder.WithPredicates(Everything(r.Clock, inUse)))
	return kit.Complete(b, controllerName, r)
}

// projectOf maps an object to the project that owns its namespace. A failed list loses one note: the cache that fails here
// fails the manager.
func (r *Reconciler) projectOf(ctx context.Context, object client.Object) []reconcile.Request {
	projects := &gardencorev1beta1.ProjectList{}
	if err := r.Client.List(ctx, projects, client.UnsafeDisableDeepCopy); err != nil {
		return nil
	}
	for i := range projects.Items {
		if namespace := projects.Items[i].Spec.Namespace; namespace != nil && *namespace == object.GetNamespace() {
			return []reconcile.Request{{NamespacedName: types.NamespacedName{Name: projects.Items[i].Name}}}
		}
	}
	return nil
}

// Reconcile notes that something happened. Several things in one second are one write.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	project := &gardencorev1beta1.Project{}
	if err := r.Client.Get(ctx, request.NamespacedName, project); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	commit := kit.Begin(r.Client, project)
	Note(&project.Status, r.Clock.Now())
	return commit.Status(ctx, kit.Stop(), nil)
}
