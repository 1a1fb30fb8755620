// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
)

const (
	// extensionType is what a shoot names in spec.extensions.
	extensionType = "greeting"
	finalizer     = "extensions.gardener.cloud/greeting"
)

// reconciler answers the objects of kind Extension and type greeting.
type reconciler struct {
	client client.Client
	// reader reads around the cache: the answer to a request must not build on what was before it.
	reader client.Reader
}

// add begins with the unfinished work that is found at the start. After that, only a request or a deletion starts a run (EXT-OP-6).
func (r *reconciler) add(m manager.Manager) error {
	return ctrl.NewControllerManagedBy(m).Named("greeting").WithEventFilter(predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool { return mine(e.Object) },
		UpdateFunc: func(e event.UpdateEvent) bool {
			return mine(e.ObjectNew) && (requested(e.ObjectNew) != "" || e.ObjectNew.GetDeletionTimestamp() != nil)
		},
		DeleteFunc: func(event.DeleteEvent) bool { return false },
	}).For(&gardenextensionsv1alpha1.Extension{}).Complete(r)
}

// mine reports whether the object is for this extension: of its type, and for a shoot or a seed (EXT-OP-8).
func mine(object client.Object) bool {
	x, ok := object.(*gardenextensionsv1alpha1.Extension)
	return ok && x.Spec.Type == extensionType && (ofSeed(x) || x.Spec.Class == nil || *x.Spec.Class == gardenextensionsv1alpha1.ExtensionClassShoot)
}

// ofSeed reports whether the object is for the seed itself. Then it is in the namespace garden, and there is no Cluster (EXT-CLASS-2).
func ofSeed(x *gardenextensionsv1alpha1.Extension) bool {
	return x.Spec.Class != nil && *x.Spec.Class == gardenextensionsv1alpha1.ExtensionClassSeed
}

func requested(object client.Object) string {
	return object.GetAnnotations()[gardencorev1beta1.AnnotationOperation]
}

// Reconcile makes one run. Errors are written into the status, where the owner of the shoot sees them, and tried again.
func (r *reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	x := &gardenextensionsv1alpha1.Extension{}
	if err := r.reader.Get(ctx, request.NamespacedName, x); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	operation, needed := operationOf(x)
	if !needed {
		return reconcile.Result{}, nil
	}
	c, err := r.cluster(ctx, x)
	if err != nil {
		return reconcile.Result{}, err
	}
	if err := r.begin(ctx, x, operation); err != nil {
		return reconcile.Result{}, err
	}
	work := r.greet
	if operation == gardencorev1beta1.LastOperationTypeDelete || operation == gardencorev1beta1.LastOperationTypeMigrate {
		work = r.forget
	}
	failure := work(ctx, x, c)
	if err := r.report(ctx, x, operation, failure); err != nil || failure != nil {
		return reconcile.Result{}, errors.Join(failure, err)
	}
	return reconcile.Result{}, r.release(ctx, x, operation)
}

// operationOf says what a run is to do, if there is anything (EXT-OP-4, EXT-CTRL-1).
func operationOf(x *gardenextensionsv1alpha1.Extension) (gardencorev1beta1.LastOperationType, bool) {
	last, request := x.Status.LastOperation, requested(x)
	unfinished := last != nil && last.State != gardencorev1beta1.LastOperationStateSucceeded
	switch {
	case request == gardencorev1beta1.OperationMigrate:
		return gardencorev1beta1.LastOperationTypeMigrate, true
	case x.DeletionTimestamp != nil:
		return gardencorev1beta1.LastOperationTypeDelete, controllerutil.ContainsFinalizer(x, finalizer)
	case request == gardencorev1beta1.OperationRestore:
		return gardencorev1beta1.LastOperationTypeRestore, true
	case request == gardencorev1beta1.OperationWaitForState:
		return "", false
	case last == nil:
		return gardencorev1beta1.LastOperationTypeCreate, true
	case unfinished:
		return last.Type, true
	default:
		return gardencorev1beta1.LastOperationTypeReconcile, request == gardencorev1beta1.OperationReconcile
	}
}

// begin takes the request, and reports that the work has begun (EXT-OP-3, EXT-STAT-1).
func (r *reconciler) begin(ctx context.Context, x *gardenextensionsv1alpha1.Extension, operation gardencorev1beta1.LastOperationType) error {
	before := x.DeepCopy()
	if x.DeletionTimestamp == nil {
		controllerutil.AddFinalizer(x, finalizer)
	}
	if requested(x) == gardencorev1beta1.OperationReconcile {
		delete(x.Annotations, gardencorev1beta1.AnnotationOperation)
	}
	if err := r.client.Patch(ctx, x, client.MergeFrom(before)); err != nil {
		return fmt.Errorf("take the request: %w", err)
	}
	before = x.DeepCopy()
	x.Status.LastOperation = state(operation, gardencorev1beta1.LastOperationStateProcessing, 1, "Greeting the cluster")
	return r.client.Status().Patch(ctx, x, client.MergeFrom(before))
}

// report writes the result, with the generation that it is about (EXT-STAT-2, EXT-STAT-3).
func (r *reconciler) report(ctx context.Context, x *gardenextensionsv1alpha1.Extension, operation gardencorev1beta1.LastOperationType, failure error) error {
	before := x.DeepCopy()
	x.Status.ObservedGeneration, x.Status.LastError = x.Generation, nil
	x.Status.LastOperation = state(operation, gardencorev1beta1.LastOperationStateSucceeded, 100, "The cluster was greeted")
	if failure != nil {
		x.Status.LastOperation = state(operation, gardencorev1beta1.LastOperationStateError, 50, failure.Error())
		x.Status.LastError = &gardencorev1beta1.LastError{Description: failure.Error(), LastUpdateTime: new(metav1.Now())}
		if errors.Is(failure, errConfiguration) {
			x.Status.LastError.Codes = []gardencorev1beta1.ErrorCode{gardencorev1beta1.ErrorCodeConfigurationProblem}
		}
	}
	x.Status.Conditions = healthy(x, failure)
	return r.client.Status().Patch(ctx, x, client.MergeFrom(before))
}

// release lets the object go once nothing is left to do (EXT-CTRL-3, EXT-CTRL-4).
func (r *reconciler) release(ctx context.Context, x *gardenextensionsv1alpha1.Extension, operation gardencorev1beta1.LastOperationType) error {
	before := x.DeepCopy()
	switch operation {
	case gardencorev1beta1.LastOperationTypeDelete:
		controllerutil.RemoveFinalizer(x, finalizer)
	case gardencorev1beta1.LastOperationTypeMigrate:
		controllerutil.RemoveFinalizer(x, finalizer)
		delete(x.Annotations, gardencorev1beta1.AnnotationOperation)
	case gardencorev1beta1.LastOperationTypeRestore:
		delete(x.Annotations, gardencorev1beta1.AnnotationOperation)
	default:
		return nil
	}
	return client.IgnoreNotFound(r.client.Patch(ctx, x, client.MergeFrom(before)))
}

func state(operation gardencorev1beta1.LastOperationType, state gardencorev1beta1.LastOperationState, progress int32, text string) *gardencorev1beta1.LastOperation {
	return &gardencorev1beta1.LastOperation{Type: operation, State: state, Progress: progress, Description: text, LastUpdateTime: metav1.Now()}
}

// healthy is the extension's part of the shoot's condition ControlPlaneHealthy, or the seed's SeedSystemComponentsHealthy (EXT-HEALTH-1).
func healthy(x *gardenextensionsv1alpha1.Extension, failure error) []gardencorev1beta1.Condition {
	c := gardencorev1beta1.Condition{
		Type: gardencorev1beta1.ConditionTypeControlPlaneHealthy, Status: gardencorev1beta1.ConditionTrue, Reason: "Greeted", Message: "The greeting is there",
		LastTransitionTime: metav1.Now(), LastUpdateTime: metav1.Now(),
	}
	if ofSeed(x) {
		c.Type = gardencorev1beta1.ConditionTypeSeedSystemComponentsHealthy
	}
	if failure != nil {
		c.Status, c.Reason, c.Message = gardencorev1beta1.ConditionFalse, "NotGreeted", failure.Error()
	}
	return []gardencorev1beta1.Condition{c}
}
