// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/profile"
)

const subresource = "binding"

// Reconcile makes one attempt to find a seed for the shoot (SCHED-BIND-1 to SCHED-BIND-4).
func (r *Reconciler) Reconcile(ctx context.Context, shoot *gardencorev1beta1.Shoot) (reconcile.Result, error) {
	if !Wants(shoot) {
		return reconcile.Result{}, nil
	}

	commit := kit.Begin(r.Client, shoot)
	seed, err := r.choose(ctx, shoot)
	if err == nil {
		err = r.bind(ctx, shoot, seed)
	}
	r.report(shoot, seed, err)
	if err == nil {
		logf.FromContext(ctx).Info("Shoot scheduled", "seed", seed)
	}
	if waits(err) {
		// The status of the shoot gives the reason to its owner. The scheduler itself works, so this is not an error.
		return commit.Status(ctx, kit.RequeueAfter(r.pause(shoot)), nil)
	}
	return commit.Status(ctx, kit.Stop(), err)
}

// waits reports whether an attempt failed only because the garden is not ready for the shoot: no seed fits it, or its cloud
// profile does not exist yet.
func waits(err error) bool {
	_, unschedulable := errors.AsType[*UnschedulableError](err)
	return unschedulable || apierrors.IsNotFound(err) || errors.Is(err, profile.ErrNotMerged)
}

// pause returns the time until the next attempt. It is the time for which the shoot has already waited for the same reason, so
// that it doubles with each attempt.
func (r *Reconciler) pause(shoot *gardencorev1beta1.Shoot) time.Duration {
	waited := r.Clock.Since(shoot.Status.LastOperation.LastUpdateTime.Time)
	return min(max(waited, r.Queue.BaseDelay), r.Queue.MaxDelay)
}

// choose reads everything that a decision depends on and decides (SCHED-SEL-3). The lists are shared with the cache and must not
// be changed.
func (r *Reconciler) choose(ctx context.Context, shoot *gardencorev1beta1.Shoot) (string, error) {
	offer, err := profile.Of(ctx, r.Client, shoot)
	if err != nil {
		return "", err
	}
	seeds := &gardencorev1beta1.SeedList{}
	if err := r.Client.List(ctx, seeds, client.UnsafeDisableDeepCopy); err != nil {
		return "", fmt.Errorf("list seeds: %w", err)
	}
	shoots := &gardencorev1beta1.ShootList{}
	if err := r.Client.List(ctx, shoots, client.UnsafeDisableDeepCopy); err != nil {
		return "", fmt.Errorf("list shoots: %w", err)
	}
	project, err := r.project(ctx, shoot)
	if err != nil {
		return "", err
	}
	distances, err := r.distances(ctx, shoot, offer.Name)
	if err != nil {
		return "", err
	}
	return Decide(Input{
		Shoot: shoot, CloudProfile: offer, Seeds: seeds.Items, Shoots: shoots.Items, Strategy: r.strategy(), Project: project, Distances: distances,
	})
}

// project returns the name of the shoot's project. It is only needed, and only read, if the shoot has a domain.
func (r *Reconciler) project(ctx context.Context, shoot *gardencorev1beta1.Shoot) (string, error) {
	if query.Domain(shoot.Spec.DNS) == "" {
		return "", nil
	}
	namespace := &corev1.Namespace{}
	if err := r.Client.Get(ctx, client.ObjectKey{Name: shoot.Namespace}, namespace); err != nil {
		return "", fmt.Errorf("get namespace %q: %w", shoot.Namespace, err)
	}
	return namespace.Labels[gardencorev1beta1.LabelProjectName], nil
}

// bind sets the seed through the subresource, where admission checks it again (SCHED-BIND-1).
func (r *Reconciler) bind(ctx context.Context, shoot *gardencorev1beta1.Shoot, seed string) error {
	bound := shoot.DeepCopy()
	bound.Spec.SeedName = &seed
	if err := r.Client.SubResource(subresource).Update(ctx, bound); err != nil {
		return fmt.Errorf("bind to seed %q: %w", seed, err)
	}
	return nil
}

// report records an event and sets the last operation (SCHED-BIND-2, SCHED-BIND-3). Conflicts are not reported. The last
// operation keeps its time while its description stays the same.
func (r *Reconciler) report(shoot *gardencorev1beta1.Shoot, seed string, err error) {
	if err == nil {
		kit.Record(r.Recorder, shoot, kit.Notice{
			Type: corev1.EventTypeNormal, Reason: gardencorev1beta1.EventSchedulingSuccessful,
			Action: gardencorev1beta1.EventActionReconcile, Message: fmt.Sprintf("Scheduled to seed %q", seed),
		})
		return
	}
	if !kit.IsFailure(err) {
		return
	}
	kit.Record(r.Recorder, shoot, kit.Notice{
		Type: corev1.EventTypeWarning, Reason: gardencorev1beta1.EventSchedulingFailed,
		Action: gardencorev1beta1.EventActionReconcile, Message: err.Error(),
	})
	last := gardencorev1beta1.LastOperation{
		Type:        gardencorev1beta1.LastOperationTypeCreate,
		State:       gardencorev1beta1.LastOperationStatePending,
		Description: "Waiting for a seed: " + err.Error(),
	}
	if have := shoot.Status.LastOperation; have != nil && have.Type == last.Type && have.State == last.State && have.Description == last.Description {
		return
	}
	last.LastUpdateTime = metav1.NewTime(r.Clock.Now())
	shoot.Status.LastOperation = &last
}
