// SPDX-License-Identifier: Apache-2.0

package activity

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const controllerName = "project-activity"

var _ kit.Adder = (*Reconciler)(nil)

// Reconciler notes activity. Unset fields are filled by AddToManager.
type Reconciler struct {
	// Client reaches the garden through the cache.
	Client client.Client
	// Clock tells the time of the activity.
	Clock clock.PassiveClock
	// Queue bounds the work.
	Queue kit.Queue
}

// AddToManager implements kit.Adder. Projects themselves are not watched: what is done to them is no activity in them.
func (r *Reconciler) AddToManager(mgr manager.Manager) error {
	if r.Client == nil {
		r.Client = mgr.GetClient()
	}
	if r.Clock == nil {
		r.Clock = clock.RealClock{}
	}
	to := handler.EnqueueRequestsFromMapFunc(r.projectOf)
	work := builder.WithPredicates(Work(r.Clock))
	err := builder.ControllerManagedBy(mgr).
		Named(controllerName).
		Watches(&gardencorev1beta1.Shoot{}, to, work).
		Watches(&gardencorev1beta1.BackupEntry{}, to, work).
		Watches(&gardencorev1beta1.Quota{}, to, builder.WithPredicates(Everything(r.Clock, anyQuota))).
		WatchesMetadata(&corev1.Secret{}, to, builder.WithPredicates(Everything(r.Clock, inUse))).
		WithOptions(r.Queue.Options()).
		Complete(r)
	if err != nil {
		return fmt.Errorf("add controller %q: %w", controllerName, err)
	}
	return nil
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
