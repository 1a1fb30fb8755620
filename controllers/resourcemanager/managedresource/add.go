// SPDX-License-Identifier: Apache-2.0

package managedresource

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/resourcemanager/target"
)

const controllerName = "managedresource"

// Reconciler reconciles the ManagedResources of a seed.
type Reconciler struct {
	kit.Base

	// Targets finds the cluster of a ManagedResource.
	Targets target.Finder
	// ClusterID stands before the origin of objects; it may be empty.
	ClusterID string
	// SyncPeriod is the time after which objects are applied again, against changes in their cluster.
	SyncPeriod time.Duration
	// KeepGarbage leaves ConfigMaps and Secrets to the garbage collector that it looks after.
	KeepGarbage bool
}

// AddToManager registers the reconciler in the manager of the seed.
func (r *Reconciler) AddToManager(seed manager.Manager) error {
	queue := target.Queue()
	queue.MaxDelay = r.SyncPeriod
	b := r.ManagedBy(seed, controllerName, queue).
		For(&gardenresourcesv1alpha1.ManagedResource{}, builder.WithPredicates(Causes())).
		Watches(&corev1.Secret{}, kit.EnqueueMatching(seed.GetClient(), &gardenresourcesv1alpha1.ManagedResourceList{}, holds), builder.OnlyMetadata)
	return kit.Complete(b, controllerName, r)
}

// holds reports whether a Secret has manifests of a ManagedResource.
func holds(secret client.Object, mr *gardenresourcesv1alpha1.ManagedResource) bool {
	if secret.GetNamespace() != mr.Namespace {
		return false
	}
	for _, ref := range mr.Spec.SecretRefs {
		if ref.Name == secret.GetName() {
			return true
		}
	}
	return false
}

// Causes lets through what starts a run: a new spec or a deletion, the order to reconcile, work that is stopped or goes on, and health
// that has turned bad (GRM-MR-7).
func Causes() predicate.Predicate {
	turned := predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, ok := e.ObjectOld.(*gardenresourcesv1alpha1.ManagedResource)
		after, same := e.ObjectNew.(*gardenresourcesv1alpha1.ManagedResource)
		if !ok || !same {
			return false
		}
		return after.DeletionTimestamp != nil && before.DeletionTimestamp == nil ||
			ignored(before) != ignored(after) ||
			after.Annotations[gardencorev1beta1.AnnotationOperation] == gardencorev1beta1.OperationReconcile ||
			ailment(after) != "" && ailment(after) != ailment(before)
	}}
	return predicate.Or(predicate.GenerationChangedPredicate{}, turned)
}

// ailment is the reason why the objects of a ManagedResource are not healthy, empty if they are. An object that is being deleted first
// is unhealthy and then missing, and only then an apply brings it back.
func ailment(mr *gardenresourcesv1alpha1.ManagedResource) string {
	healthy := query.FindCondition(mr.Status.Conditions, gardenresourcesv1alpha1.ConditionTypeResourcesHealthy)
	if healthy == nil || healthy.Status != gardencorev1beta1.ConditionFalse {
		return ""
	}
	return healthy.Reason
}

// ignored reports whether nothing is done about a ManagedResource. One in deletion is never ignored (GRM-MR-6).
func ignored(mr *gardenresourcesv1alpha1.ManagedResource) bool {
	return mr.DeletionTimestamp == nil && truthy(mr.Annotations[gardenresourcesv1alpha1.AnnotationIgnore])
}

// Ignored reports whether nothing is done about a ManagedResource.
func Ignored(mr *gardenresourcesv1alpha1.ManagedResource) bool { return ignored(mr) }

// ClassOf is the class of a ManagedResource.
func ClassOf(mr *gardenresourcesv1alpha1.ManagedResource) string {
	if mr.Spec.Class == nil || *mr.Spec.Class == "" {
		return gardenresourcesv1alpha1.ClassDefault
	}
	return *mr.Spec.Class
}

// finalizerOf is the finalizer of a class (GRM-MR-5).
func finalizerOf(class string) string {
	if class == gardenresourcesv1alpha1.ClassDefault {
		return gardenresourcesv1alpha1.FinalizerResourceManager
	}
	return gardenresourcesv1alpha1.FinalizerResourceManager + "-" + class
}

// live reads the ManagedResource around the cache, because a run that acts on an old list of objects could forget some.
func (r *Reconciler) live(ctx context.Context, key client.ObjectKey) (*gardenresourcesv1alpha1.ManagedResource, error) {
	mr := &gardenresourcesv1alpha1.ManagedResource{}
	return mr, r.Reader.Get(ctx, key, mr)
}
