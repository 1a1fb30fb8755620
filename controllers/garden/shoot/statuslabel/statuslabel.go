// SPDX-License-Identifier: Apache-2.0

// Package statuslabel summarizes the health of every Shoot in its label shoot.gardener.cloud/status (GCM-STATUSLABEL-1 to
// GCM-STATUSLABEL-3), so that lists can show it and selectors can match it.
package statuslabel

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const controllerName = "shoot-statuslabel"

// Reconciler labels shoots.
type Reconciler struct {
	kit.Base

	// Config is the section of the configuration.
	Config gardenconfigv1alpha1.ConcurrencyConfiguration
}

// AddToManager implements kit.Adder. Only shoots with a wrong label are enqueued, because that is cheaper to decide than to
// queue.
func (r *Reconciler) AddToManager(clusters kit.Clusters) error {
	b := r.Controller(clusters, controllerName, kit.Workers(r.Config.ConcurrentSyncs)).
		For(&gardencorev1beta1.Shoot{}, builder.WithPredicates(kit.Matching(isWrong)))
	return kit.Complete(b, controllerName, reconcile.AsReconciler(r.Client, r))
}

func isWrong(shoot *gardencorev1beta1.Shoot) bool {
	return shoot.Labels[gardencorev1beta1.LabelShootStatus] != Decide(shoot)
}

// Reconcile writes the label if it is wrong. The patch contains only this label, so it needs no lock: it cannot undo what others
// write.
func (r *Reconciler) Reconcile(ctx context.Context, shoot *gardencorev1beta1.Shoot) (reconcile.Result, error) {
	if !isWrong(shoot) {
		return reconcile.Result{}, nil
	}
	before := shoot.DeepCopy()
	metav1.SetMetaDataLabel(&shoot.ObjectMeta, gardencorev1beta1.LabelShootStatus, Decide(shoot))
	if err := r.Client.Patch(ctx, shoot, client.MergeFrom(before)); client.IgnoreNotFound(err) != nil {
		return kit.Result(kit.Stop(), fmt.Errorf("label shoot %q %q: %w", client.ObjectKeyFromObject(shoot), Decide(shoot), err))
	}
	return reconcile.Result{}, nil
}

// health orders the label values from best to worst (GCM-STATUSLABEL-1).
type health int

const (
	healthy health = iota
	progressing
	unknown
	unhealthy
)

func (h health) label() string {
	switch h {
	case healthy:
		return gardencorev1beta1.ShootStatusHealthy
	case progressing:
		return gardencorev1beta1.ShootStatusProgressing
	case unknown:
		return gardencorev1beta1.ShootStatusUnknown
	default:
		return gardencorev1beta1.ShootStatusUnhealthy
	}
}

// Decide returns the label value for the shoot (GCM-STATUSLABEL-2). While the shoot is created or deleted only errors count,
// because its conditions cannot be True yet, or any more.
func Decide(shoot *gardencorev1beta1.Shoot) string {
	last := shoot.Status.LastOperation
	if last == nil {
		return healthy.label()
	}
	failing := bad(len(shoot.Status.LastErrors) > 0)
	creating := last.Type == gardencorev1beta1.LastOperationTypeCreate && last.State != gardencorev1beta1.LastOperationStateSucceeded
	if creating || last.Type == gardencorev1beta1.LastOperationTypeDelete {
		return failing.label()
	}
	worst := healthy
	for _, condition := range shoot.Status.Conditions {
		worst = max(worst, ofCondition(condition.Status))
	}
	if last.State == gardencorev1beta1.LastOperationStateProcessing {
		return max(worst, failing).label()
	}
	return max(worst, bad(last.State != gardencorev1beta1.LastOperationStateSucceeded)).label()
}

func bad(is bool) health {
	if is {
		return unhealthy
	}
	return healthy
}

func ofCondition(status gardencorev1beta1.ConditionStatus) health {
	switch status {
	case gardencorev1beta1.ConditionTrue:
		return healthy
	case gardencorev1beta1.ConditionProgressing:
		return progressing
	case gardencorev1beta1.ConditionFalse:
		return unhealthy
	default:
		return unknown
	}
}
