// SPDX-License-Identifier: Apache-2.0

package shootstatus

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/rotation"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/shoot"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/operation"
)

const (
	controllerName = "shoot-status"
	// nodesPeriod is the time between two looks at the nodes of a shoot whose provider does not say which machines are updated.
	nodesPeriod = 30 * time.Second
)

var _ kit.Adder = (*Reconciler)(nil)

// Reconciler keeps the list of pools that are still to be updated in place.
type Reconciler struct {
	kit.SeedBase

	// Config is the section of the configuration.
	Config *gardenconfigv1alpha1.ShootStatusControllerConfiguration
}

// AddToManager implements kit.Adder.
func (r *Reconciler) AddToManager(clusters kit.Clusters) error {
	queue := kit.Workers(r.Config.ConcurrentSyncs)
	queue.BaseDelay, queue.MaxDelay = time.Second, time.Minute
	b := r.Controller(clusters, controllerName, queue).
		For(&gardencorev1beta1.Shoot{}, builder.WithPredicates(kit.Matching(r.waits)))
	b.WatchesRawSource(source.Kind(clusters.Seed.GetCache(), &gardenextensionsv1alpha1.Worker{}, handler.TypedEnqueueRequestsFromMapFunc(r.ofWorker)))
	return kit.Complete(b, controllerName, r)
}

// waits reports whether a shoot of this seed has pools that are still to be updated in place.
func (r *Reconciler) waits(s *gardencorev1beta1.Shoot) bool {
	return shoot.Responsible(s) == r.SeedName && s.Status.InPlaceUpdates != nil
}

// ofWorker maps a Worker to the Shoot whose control plane is in the same namespace.
func (r *Reconciler) ofWorker(ctx context.Context, worker *gardenextensionsv1alpha1.Worker) []reconcile.Request {
	list := &gardencorev1beta1.ShootList{}
	if err := r.GardenClient.List(ctx, list); err != nil {
		return nil // The list comes from the cache.
	}
	for i := range list.Items {
		if s := &list.Items[i]; s.Status.TechnicalID == worker.Namespace && s.Name == worker.Name && r.waits(s) {
			return []reconcile.Request{{NamespacedName: client.ObjectKeyFromObject(s)}}
		}
	}
	return nil
}

// Reconcile compares the list of one shoot with what its Worker says. The reconciliation is asked for before the status is written: an
// interruption between the two asks again, and does not forget it.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	s := &gardencorev1beta1.Shoot{}
	if err := r.GardenReader.Get(ctx, request.NamespacedName, s); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if !r.waits(s) || s.DeletionTimestamp != nil {
		return reconcile.Result{}, nil
	}
	if err := shoot.CheckPlace(ctx, r.SeedClient, s); err != nil {
		return reconcile.Result{}, fmt.Errorf("find the namespace of shoot %q: %w", s.Name, err)
	}
	worker := &gardenextensionsv1alpha1.Worker{}
	if err := r.SeedClient.Get(ctx, client.ObjectKey{Namespace: s.Status.TechnicalID, Name: s.Name}, worker); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	updated, byNodes, err := shoot.UpdatedPools(ctx, r.Shoots, s, worker)
	if err != nil {
		return reconcile.Result{}, err //nolint:wrapcheck // It says what was looked for.
	}
	left, result := Left(s, updated), reconcile.Result{}
	if left != nil && byNodes {
		result.RequeueAfter = nodesPeriod // Nobody watches the nodes of a shoot.
	}
	if equality.Semantic.DeepEqual(left, s.Status.InPlaceUpdates) {
		return result, nil
	}
	if err := r.ask(ctx, s, left); err != nil {
		return reconcile.Result{}, err
	}
	before := s.DeepCopy()
	s.Status.InPlaceUpdates = left
	if err := r.GardenClient.Status().Patch(ctx, s, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return reconcile.Result{}, fmt.Errorf("write which pools of shoot %q are to be updated in place: %w", s.Name, err)
	}
	return result, nil
}

// Left is what remains of the list of a shoot when its machines have been updated to these states. Pools that do not exist any more are not left.
func Left(s *gardencorev1beta1.Shoot, updated map[string]string) *gardencorev1beta1.InPlaceUpdatesStatus {
	listed := s.Status.InPlaceUpdates
	if listed == nil || listed.PendingWorkerUpdates == nil {
		return nil
	}
	behind := query.PendingInPlace(s, updated)
	if behind == nil {
		return nil
	}
	left := behind.PendingWorkerUpdates
	left.AutoInPlaceUpdate = both(listed.PendingWorkerUpdates.AutoInPlaceUpdate, left.AutoInPlaceUpdate)
	left.ManualInPlaceUpdate = both(listed.PendingWorkerUpdates.ManualInPlaceUpdate, left.ManualInPlaceUpdate)
	if len(left.AutoInPlaceUpdate)+len(left.ManualInPlaceUpdate) == 0 {
		return nil
	}
	return behind
}

func both(listed, behind []string) []string {
	return slices.DeleteFunc(slices.Clone(listed), func(pool string) bool { return !slices.Contains(behind, pool) })
}

// ask has the shoot reconciled if the last pool has gone that a rotation has waited for, unless an operation runs that may still find that.
func (r *Reconciler) ask(ctx context.Context, s *gardencorev1beta1.Shoot, left *gardencorev1beta1.InPlaceUpdatesStatus) error {
	done := s.DeepCopy()
	done.Status.InPlaceUpdates = left
	if len(query.PendingManually(s)) == 0 || len(query.PendingManually(done)) > 0 || !operation.Succeeded(s.Status.LastOperation) {
		return nil
	}
	phases := query.RotationPhases(s)
	if !rotation.WaitsForMachines(phases.CertificateAuthorities) && !rotation.WaitsForMachines(phases.ServiceAccountKey) {
		return nil
	}
	operations := query.Operations(s.Annotations[gardencorev1beta1.AnnotationOperation])
	if slices.Contains(operations, gardencorev1beta1.OperationReconcile) {
		return nil
	}
	before := s.DeepCopy()
	metav1.SetMetaDataAnnotation(&s.ObjectMeta, gardencorev1beta1.AnnotationOperation,
		strings.Join(append(operations, gardencorev1beta1.OperationReconcile), gardencorev1beta1.OperationSeparator))
	if err := r.GardenClient.Patch(ctx, s, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("have shoot %q reconciled: %w", s.Name, err)
	}
	return nil
}
