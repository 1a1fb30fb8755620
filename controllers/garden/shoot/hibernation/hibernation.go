// SPDX-License-Identifier: Apache-2.0

// Package hibernation puts shoots to sleep and wakes them up at the times of their schedules (GCM-HIBER-1 to GCM-HIBER-6). It acts
// only if sleeping is served; until then the API warns users who set a schedule.
package hibernation

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/schedule"
)

const (
	controllerName = "shoot-hibernation"
	// action is the action of events.
	action = "Hibernate"
	// late is the pause after the time of a schedule, so that a pass never sees it in the future.
	late = 100 * time.Millisecond
	// wrong is how far in the future a time is of a clock that was wrong.
	wrong = 24 * time.Hour
)

// Reconciler carries out the schedules of shoots.
type Reconciler struct {
	kit.Base

	// Config is the section of the configuration.
	Config gardenconfigv1alpha1.ServerShootHibernationConfiguration
}

// AddToManager implements kit.Adder.
func (r *Reconciler) AddToManager(clusters kit.Clusters) error {
	b := r.Controller(clusters, controllerName, kit.Workers(r.Config.ConcurrentSyncs)).
		For(&gardencorev1beta1.Shoot{}, builder.WithPredicates(Concerns()))
	return kit.Complete(b, controllerName, reconcile.AsReconciler(r.Client, r))
}

// Concerns lets through what a pass depends on: new and changed schedules, above all those that a shoot had not before.
func Concerns() predicate.Predicate {
	scheduled := kit.Matching(func(shoot *gardencorev1beta1.Shoot) bool { return len(schedulesOf(shoot)) > 0 })
	return predicate.And[client.Object](scheduled, kit.Changed(facts))
}

// facts are what the next pass depends on.
func facts(shoot *gardencorev1beta1.Shoot) any {
	return []any{schedulesOf(shoot), failed(shoot), shoot.DeletionTimestamp != nil}
}

// Reconcile carries out the schedule whose time has come, and comes back right after the next one (GCM-HIBER-4, 5).
func (r *Reconciler) Reconcile(ctx context.Context, shoot *gardencorev1beta1.Shoot) (reconcile.Result, error) {
	schedules, err := schedule.Parse(schedulesOf(shoot))
	if err != nil {
		// Validation rejects such schedules. One that was stored before can only be changed by its owner.
		logf.FromContext(ctx).Info("Ignoring hibernation schedules", "reason", err.Error())
		return reconcile.Result{}, nil
	}
	if shoot.DeletionTimestamp != nil || len(schedules) == 0 {
		return reconcile.Result{}, nil
	}
	now := r.Clock.Now()
	outcome := kit.Stop()
	if next := schedules.Next(now); !next.IsZero() {
		outcome = kit.RequeueAfter(kit.Until(next.Sub(now) + late))
	}
	return kit.Result(outcome, client.IgnoreNotFound(r.follow(ctx, shoot, schedules, now)))
}

// follow carries out what is due by the schedules. What a pass has carried out that was killed before it was noted comes first: it must not be
// carried out again, after the owner may have wanted otherwise (GCM-HIBER-6).
func (r *Reconciler) follow(ctx context.Context, shoot *gardencorev1beta1.Shoot, schedules schedule.Set, now time.Time) error {
	deadline := r.Config.TriggerDeadlineDuration.Duration
	if at, found := unnoted(shoot, deadline, now); found {
		// The schedules may have been changed since. Those of now tell nothing then, unless they have a time that was due as well.
		sleep, known := schedules.Last(since(shoot, deadline, at), at)
		if err := note(ctx, kit.Begin(r.Client, shoot).WriteStatus, shoot, at); err != nil {
			return err
		}
		if known {
			kit.Record(r.Recorder, shoot, notice(sleep))
		}
	}
	if failed(shoot) {
		return nil
	}
	sleep, found := schedules.Last(since(shoot, deadline, now), now)
	if !found {
		return nil
	}
	return r.trigger(ctx, shoot, sleep, now)
}

// trigger puts a shoot to sleep or wakes it up, notes the time and tells of it, also for a shoot that is as the schedule wants it
// already (GCM-HIBER-4). The time is written with the change, in place of one in the future, and then to the status, whatever others have
// written since.
func (r *Reconciler) trigger(ctx context.Context, shoot *gardencorev1beta1.Shoot, sleep bool, now time.Time) error {
	commit := kit.Begin(r.Client, shoot)
	write := commit.WriteStatus
	if query.HibernationWanted(shoot) != sleep || ahead(shoot, now) {
		metav1.SetMetaDataAnnotation(&shoot.ObjectMeta, gardencorev1beta1.AnnotationShootHibernationTriggered, now.UTC().Format(time.RFC3339))
		if err := r.change(ctx, commit, shoot, sleep); err != nil {
			return err
		}
		write = commit.WriteOwnStatus
	}
	if err := note(ctx, write, shoot, now); err != nil {
		return err
	}
	kit.Record(r.Recorder, shoot, notice(sleep))
	return nil
}

// note writes the time at which a schedule was carried out. Events come after it, so that a pass that is repeated tells nothing twice.
func note(ctx context.Context, write func(context.Context) error, shoot *gardencorev1beta1.Shoot, at time.Time) error {
	shoot.Status.LastHibernationTriggerTime = new(metav1.NewTime(at))
	return write(ctx)
}

// change writes whether a shoot is to sleep, and tells its owner of a refusal.
func (r *Reconciler) change(ctx context.Context, commit *kit.Commit, shoot *gardencorev1beta1.Shoot, sleep bool) error {
	shoot.Spec.Hibernation.Enabled = &sleep
	err := commit.WriteObject(ctx)
	if err == nil {
		return nil
	}
	if apierrors.IsForbidden(err) || apierrors.IsInvalid(err) {
		kit.Record(r.Recorder, shoot, kit.Notice{
			Type: corev1.EventTypeWarning, Action: action, Reason: gardencorev1beta1.EventHibernationFailed,
			Message: "The cluster does not follow its hibernation schedule: " + err.Error(),
		})
	}
	return fmt.Errorf("hibernate shoot %q (%t): %w", client.ObjectKeyFromObject(shoot), sleep, err)
}

func notice(sleep bool) kit.Notice {
	if sleep {
		return kit.Notice{Type: corev1.EventTypeNormal, Action: action, Reason: gardencorev1beta1.EventHibernated, Message: "A schedule puts the cluster to sleep"}
	}
	return kit.Notice{Type: corev1.EventTypeNormal, Action: action, Reason: gardencorev1beta1.EventWokenUp, Message: "A schedule wakes the cluster up"}
}

func schedulesOf(shoot *gardencorev1beta1.Shoot) []gardencorev1beta1.HibernationSchedule {
	if shoot.Spec.Hibernation == nil {
		return nil
	}
	return shoot.Spec.Hibernation.Schedules
}

// failed reports whether the last operation of a shoot has failed for good, so that its owner has to act first (GCM-HIBER-1).
func failed(shoot *gardencorev1beta1.Shoot) bool {
	last := shoot.Status.LastOperation
	return last != nil && last.State == gardencorev1beta1.LastOperationStateFailed && shoot.Status.ObservedGeneration == shoot.Generation
}

// unnoted returns when a schedule has changed a shoot, if that is not noted in the status yet. A time from before the shoot was created
// was copied with the annotations of another one.
func unnoted(shoot *gardencorev1beta1.Shoot, deadline time.Duration, now time.Time) (time.Time, bool) {
	at, found := mark(shoot)
	if !found || at.Before(shoot.CreationTimestamp.Time) || !counts(at, deadline, now) {
		return time.Time{}, false
	}
	noted := shoot.Status.LastHibernationTriggerTime
	return at, noted == nil || !counts(noted.Time, deadline, now) || noted.Time.Before(at)
}

// ahead reports whether the shoot has a time in the future, of a clock that was wrong. It would count once it comes.
func ahead(shoot *gardencorev1beta1.Shoot, now time.Time) bool {
	at, found := mark(shoot)
	return found && at.After(now)
}

// mark returns the time that the last change by a schedule has left in the annotations.
func mark(shoot *gardencorev1beta1.Shoot) (at time.Time, found bool) {
	at, err := time.Parse(time.RFC3339, shoot.Annotations[gardencorev1beta1.AnnotationShootHibernationTriggered])
	return at, err == nil
}

// counts reports whether a time at which a schedule was carried out is believed: with one that is far in the future schedules would stand
// still until then (GCM-HIBER-3).
func counts(at time.Time, deadline time.Duration, now time.Time) bool {
	return at.Sub(now) <= min(deadline, wrong)
}

// since is the time after which a schedule has not been carried out yet, as far back as it still is (GCM-HIBER-3).
func since(shoot *gardencorev1beta1.Shoot, deadline time.Duration, now time.Time) time.Time {
	const longest = 7 * 24 * time.Hour
	from := shoot.CreationTimestamp.Time
	if t := shoot.Status.LastHibernationTriggerTime; t != nil && counts(t.Time, deadline, now) {
		from = t.Time
	}
	if from.Sub(now) > wrong {
		from = time.Time{} // When the shoot was created is not known.
	}
	if earliest := now.Add(-min(deadline, longest)); from.Before(earliest) {
		return earliest
	}
	return from
}
