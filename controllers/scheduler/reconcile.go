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

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/profile"
	"github.com/terrarium-garden/terrarium/controllers/scheduler/picture"
)

const subresource = "binding"

// Reconcile makes one attempt to find a seed for the shoot (SCHED-BIND-1 to SCHED-BIND-4).
func (r *Reconciler) Reconcile(ctx context.Context, shoot *gardencorev1beta1.Shoot) (reconcile.Result, error) {
	if !Wants(shoot) {
		return reconcile.Result{}, nil
	}
	seed, err := r.place(ctx, shoot)
	if apierrors.IsConflict(err) {
		// Somebody else wrote the shoot since the cache was filled. One attempt with what is stored now nearly always succeeds.
		seed, err = r.placeStored(ctx, shoot)
	}
	switch {
	case errors.Is(err, picture.ErrPlaced):
		return reconcile.Result{}, nil
	case err != nil:
		return r.fail(ctx, shoot, err)
	}
	kit.Record(r.Recorder, shoot, kit.Notice{
		Type: corev1.EventTypeNormal, Reason: gardencorev1beta1.EventSchedulingSuccessful,
		Action: gardencorev1beta1.EventActionReconcile, Message: fmt.Sprintf("Scheduled to seed %q", seed),
	})
	logf.FromContext(ctx).Info("Shoot scheduled", "seed", seed)
	return reconcile.Result{}, nil
}

// place chooses a seed, assumes that the shoot gets it, and binds the shoot.
func (r *Reconciler) place(ctx context.Context, shoot *gardencorev1beta1.Shoot) (string, error) {
	seed, err := r.choose(ctx, shoot)
	if err != nil {
		return "", err
	}
	err = r.bind(ctx, shoot, seed)
	switch {
	case err == nil:
		r.Picture.Written(shoot)
	case refused(err):
		r.Picture.Forget(shoot)
	}
	return seed, err
}

// placeStored is place for the shoot as it is stored. A shoot that does not wait any more is placed.
func (r *Reconciler) placeStored(ctx context.Context, shoot *gardencorev1beta1.Shoot) (string, error) {
	stored := &gardencorev1beta1.Shoot{}
	if err := r.Reader.Get(ctx, client.ObjectKeyFromObject(shoot), stored); err != nil {
		return "", fmt.Errorf("read shoot %q: %w", client.ObjectKeyFromObject(shoot), err)
	}
	if !Wants(stored) {
		return "", picture.ErrPlaced
	}
	return r.place(ctx, stored)
}

// refused reports whether the server has decided against a binding. After any other error, such as a timeout, the binding may
// have been written, and the seed is assumed until a watch shows the shoot or the assumption expires.
func refused(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsNotFound(err) ||
		apierrors.IsBadRequest(err) || apierrors.IsTooManyRequests(err)
}

// fail reports why the attempt has failed, and says when the next one is due.
func (r *Reconciler) fail(ctx context.Context, shoot *gardencorev1beta1.Shoot, err error) (reconcile.Result, error) {
	commit := kit.Begin(r.Client, shoot)
	r.report(shoot, err)
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
// that it doubles with each attempt. A time in the future is of a clock that was wrong: how long the shoot has waited is not known.
func (r *Reconciler) pause(shoot *gardencorev1beta1.Shoot) time.Duration {
	waited := r.Clock.Since(shoot.Status.LastOperation.LastUpdateTime.Time)
	if waited < 0 {
		return r.Queue.MaxDelay
	}
	return min(max(waited, r.Queue.BaseDelay), r.Queue.MaxDelay)
}

// choose reads what a decision depends on, and decides (SCHED-SEL-3). Seeds and their usage come from the picture, so that nothing
// is listed.
func (r *Reconciler) choose(ctx context.Context, shoot *gardencorev1beta1.Shoot) (string, error) {
	offer, err := profile.Of(ctx, shared{r.Client}, shoot)
	if err != nil {
		return "", err
	}
	project, err := r.project(ctx, shoot)
	if err != nil {
		return "", err
	}
	domains, err := r.domains(ctx, shoot)
	if err != nil {
		return "", err
	}
	distances, err := r.distances(ctx, shoot, offer.Name)
	if err != nil {
		return "", err
	}
	return r.Picture.Assume(shoot, Prepare(Input{
		Shoot: shoot, CloudProfile: offer, Seeds: r.Picture.Seeds(), Strategy: r.strategy(), Project: project, Domains: domains, Distances: distances,
	}).Choose)
}

// shared reads objects that are shared with the cache and must not be changed: a cloud profile can be large.
type shared struct{ client.Reader }

// Get implements client.Reader.
func (s shared) Get(ctx context.Context, key client.ObjectKey, object client.Object, o ...client.GetOption) error {
	return s.Reader.Get(ctx, key, object, append(o, client.UnsafeDisableDeepCopy)...)
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
// operation keeps its time while its description stays the same. One that has failed for good stays, because it says what the owner
// of the shoot has to mend.
func (r *Reconciler) report(shoot *gardencorev1beta1.Shoot, err error) {
	if !kit.IsFailure(err) {
		return
	}
	kit.Record(r.Recorder, shoot, kit.Notice{
		Type: corev1.EventTypeWarning, Reason: gardencorev1beta1.EventSchedulingFailed,
		Action: gardencorev1beta1.EventActionReconcile, Message: err.Error(),
	})
	have := shoot.Status.LastOperation
	if have != nil && have.State == gardencorev1beta1.LastOperationStateFailed {
		return
	}
	last := gardencorev1beta1.LastOperation{
		Type:        gardencorev1beta1.LastOperationTypeCreate,
		State:       gardencorev1beta1.LastOperationStatePending,
		Description: "Waiting for a seed: " + err.Error(),
	}
	if have != nil && have.Type == last.Type && have.State == last.State && have.Description == last.Description {
		return
	}
	last.LastUpdateTime = metav1.NewTime(r.Clock.Now())
	shoot.Status.LastOperation = &last
}
