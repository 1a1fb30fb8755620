// SPDX-License-Identifier: Apache-2.0

// Package evictions says to the autoscalers of pods in a seed when they may make pods smaller: at any time, never, or in the maintenance
// time window of a shoot only. It writes their eviction requirements and nothing else of them. A seed without such autoscalers when the
// gardenlet starts has no such controller, and gets none from the gardenlet.
package evictions

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component/vertical"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const (
	controllerName = "vpa-eviction-requirements"
	// fieldOwner owns the requirements, apart from what describes the autoscaler.
	fieldOwner = "gardenlet-evictions"
)

var _ kit.Adder = (*Reconciler)(nil)

// Reconciler keeps the eviction requirements of autoscalers.
type Reconciler struct {
	kit.SeedBase

	// Config is the section of the configuration.
	Config *gardenconfigv1alpha1.VPAEvictionRequirementsControllerConfiguration
}

// AddToManager implements kit.Adder.
func (r *Reconciler) AddToManager(clusters kit.Clusters) error {
	served, err := vertical.Served(clusters.Seed.GetRESTMapper())
	if err != nil {
		return fmt.Errorf("find out whether the seed has autoscalers of pods: %w", err)
	}
	if !served {
		return nil
	}
	autoscaler := &metav1.PartialObjectMetadata{}
	autoscaler.SetGroupVersionKind(vertical.Kind())
	b := r.Controller(clusters, controllerName, kit.Workers(r.Config.ConcurrentSyncs)).
		WatchesRawSource(source.Kind(clusters.Seed.GetCache(), client.Object(autoscaler), &handler.EnqueueRequestForObject{}, concerned()))
	return kit.Complete(b, controllerName, r)
}

// managed reports whether the requirements of an autoscaler are those of this controller.
func managed(autoscaler client.Object) bool {
	return autoscaler.GetLabels()[gardencorev1beta1.LabelVPAEvictionRequirements] == gardencorev1beta1.LabelValueVPAEvictionRequirementsManaged
}

// concerned leaves out recommendations, which come every minute.
func concerned() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool { return managed(e.Object) },
		UpdateFunc: func(e event.UpdateEvent) bool {
			changed := e.ObjectOld.GetGeneration() != e.ObjectNew.GetGeneration() || !managed(e.ObjectOld) ||
				!maps.Equal(e.ObjectOld.GetAnnotations(), e.ObjectNew.GetAnnotations())
			return managed(e.ObjectNew) && changed
		},
		DeleteFunc: func(event.DeleteEvent) bool { return false },
	}
}

// Reconcile writes the requirements that an autoscaler has now, and comes back when its window begins or ends (GLET-VPA-1).
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	autoscaler := &unstructured.Unstructured{}
	autoscaler.SetGroupVersionKind(vertical.Kind())
	if err := r.SeedClient.Get(ctx, request.NamespacedName, autoscaler); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if autoscaler.GetDeletionTimestamp() != nil || !managed(autoscaler) {
		return reconcile.Result{}, nil
	}
	held, again, err := Decide(autoscaler.GetAnnotations(), r.Clock.Now())
	if err != nil {
		return reconcile.Result{}, reconcile.TerminalError(fmt.Errorf("autoscaler %q: %w", request.NamespacedName, err))
	}
	if err := r.write(ctx, autoscaler, held); err != nil {
		return reconcile.Result{}, err
	}
	return reconcile.Result{RequeueAfter: again}, nil
}

// Decide says whether pods may not become smaller now, and after which time to ask again; zero stands for never. Without a window that can
// be read, they may not at any time.
func Decide(annotations map[string]string, now time.Time) (held bool, again time.Duration, err error) {
	switch restriction := annotations[gardencorev1beta1.AnnotationVPADownscaleRestriction]; restriction {
	case "":
		return false, 0, nil
	case gardencorev1beta1.VPADownscaleNever:
		return true, 0, nil
	case gardencorev1beta1.VPADownscaleInMaintenanceWindowOnly:
	default:
		return false, 0, fmt.Errorf("annotation %s is %q, want %s or %s", gardencorev1beta1.AnnotationVPADownscaleRestriction, restriction,
			gardencorev1beta1.VPADownscaleNever, gardencorev1beta1.VPADownscaleInMaintenanceWindowOnly)
	}
	from, until, _ := strings.Cut(annotations[gardencorev1beta1.AnnotationVPAMaintenanceWindow], ",")
	window, valid := query.WholeMaintenanceWindow(&gardencorev1beta1.ShootSpec{Maintenance: &gardencorev1beta1.Maintenance{
		TimeWindow: &gardencorev1beta1.MaintenanceTimeWindow{Begin: from, End: until},
	}})
	if !valid {
		return true, 0, nil
	}
	begin, end := window.Occurrence(now)
	if begin.After(now) {
		return true, begin.Sub(now), nil
	}
	// The end belongs to the window.
	return false, end.Sub(now) + time.Second, nil
}

// write sets the requirements if they are others.
func (r *Reconciler) write(ctx context.Context, autoscaler *unstructured.Unstructured, held bool) error {
	path := []string{"spec", "updatePolicy", "evictionRequirements"}
	have, found, err := unstructured.NestedSlice(autoscaler.Object, path...)
	if err != nil {
		return fmt.Errorf("read the eviction requirements of %q: %w", autoscaler.GetName(), err)
	}
	if !held && !found || held && reflect.DeepEqual(have, requirements()) {
		return nil
	}
	before := autoscaler.DeepCopy()
	if held {
		err = unstructured.SetNestedSlice(autoscaler.Object, requirements(), path...)
	} else {
		unstructured.RemoveNestedField(autoscaler.Object, path...)
	}
	if err == nil {
		patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
		err = r.SeedClient.Patch(ctx, autoscaler, patch, client.FieldOwner(fieldOwner))
	}
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("write the eviction requirements of %q: %w", client.ObjectKeyFromObject(autoscaler), err)
	}
	return nil
}

// requirements permit only what makes a pod larger, in processor time or in memory.
func requirements() []any {
	return []any{map[string]any{"resources": []any{"cpu", "memory"}, "changeRequirement": "TargetHigherThanRequests"}}
}
