// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/flow"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const (
	// recheck is the pause when something beside the shoot has to change first.
	recheck = 15 * time.Second
	// farewell bounds the last write of a run that is cut off.
	farewell = 5 * time.Second
)

// Reconcile makes one pass on a shoot. It reads around the cache, because the last pass has just written.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	shoot := &gardencorev1beta1.Shoot{}
	if found, err := kit.Live(ctx, r.GardenReader, r.GardenClient, request.NamespacedName, shoot); !found {
		return reconcile.Result{}, err
	}
	settings := r.settings()
	if Responsible(shoot) == settings.SeedName && !ignored(shoot, settings) {
		if err := r.declineOperations(ctx, shoot); err != nil {
			return kit.Result(kit.Continue(), client.IgnoreNotFound(err))
		}
	}
	decision := Decide(shoot, settings, r.Clock.Now())
	switch decision.Action {
	case ActionRefuse:
		return r.refuse(ctx, shoot, decision.Operation)
	case ActionSync:
		return r.syncOnly(ctx, shoot)
	case ActionRelease:
		return reconcile.Result{}, kit.DropFinalizer(ctx, r.GardenClient, shoot, gardencorev1beta1.FinalizerGardener)
	case ActionRun:
		return r.operate(ctx, shoot, decision.Operation)
	default:
		return reconcile.Result{RequeueAfter: decision.After}, nil
	}
}

// syncOnly lets extensions see a shoot on which nothing is done. What cannot be read now is tried again.
func (r *Reconciler) syncOnly(ctx context.Context, shoot *gardencorev1beta1.Shoot) (reconcile.Result, error) {
	if shoot.Status.LastOperation == nil {
		return reconcile.Result{}, newStatusWriter(r.GardenClient, shoot).change(ctx, func(s gardencorev1beta1.ShootStatus) gardencorev1beta1.ShootStatus {
			return Pending(s, r.Clock.Now())
		})
	}
	if shoot.Status.TechnicalID == "" {
		return reconcile.Result{}, nil
	}
	seed, err := r.ownSeed(ctx)
	if err != nil {
		return reconcile.Result{}, err
	}
	o := &operation{r: r, shoot: shoot, seed: seed, namespace: shoot.Status.TechnicalID}
	if err := o.loadProfile(ctx); err != nil {
		return reconcile.Result{}, err
	}
	return reconcile.Result{}, o.syncCluster(ctx, shoot)
}

func (r *Reconciler) ownSeed(ctx context.Context) (*gardencorev1beta1.Seed, error) {
	seed := &gardencorev1beta1.Seed{}
	if err := r.GardenReader.Get(ctx, client.ObjectKey{Name: r.SeedName}, seed); err != nil {
		return nil, fmt.Errorf("get seed %q: %w", r.SeedName, err)
	}
	return seed, nil
}

// operate runs an operation from its first to its last write.
func (r *Reconciler) operate(ctx context.Context, shoot *gardencorev1beta1.Shoot, kind gardencorev1beta1.LastOperationType) (reconcile.Result, error) {
	if kind != gardencorev1beta1.LastOperationTypeDelete {
		if err := kit.EnsureFinalizer(ctx, r.GardenClient, shoot, gardencorev1beta1.FinalizerGardener); err != nil {
			return kit.Result(kit.Continue(), err)
		}
	}
	seed, err := r.ownSeed(ctx)
	if err != nil {
		return reconcile.Result{}, err
	}
	if err := CheckSeed(seed, r.Identity); err != nil {
		if query.EmergencyStopped(seed) && atRest(shoot) {
			return reconcile.Result{RequeueAfter: recheck}, nil
		}
		return r.waitForSeed(ctx, shoot, kind, err)
	}
	status := newStatusWriter(r.GardenClient, shoot)
	begun := shoot.DeepCopy()
	begun.Status = Started(shoot, kind, r.Identity, r.Clock.Now())
	o, err := r.load(ctx, begun, seed)
	if err != nil {
		return r.failed(ctx, nil, status, begun.Status, err)
	}
	begun.Status.TechnicalID = o.namespace
	o.status = status
	if deletedAlready(shoot) {
		return r.deleted(ctx, o)
	}
	if err := o.syncCluster(ctx, begun); err != nil {
		// The run does not start; what is wrong with the seed is seen by its own checks.
		return reconcile.Result{RequeueAfter: recheck}, err
	}
	if err := status.change(ctx, func(gardencorev1beta1.ShootStatus) gardencorev1beta1.ShootStatus { return begun.Status }); err != nil {
		return kit.Result(kit.Continue(), err)
	}
	r.event(shoot, kind, eventBegin)
	if err := r.run(ctx, o, kind); err != nil {
		return r.failed(ctx, o, status, status.current().Status, err)
	}
	if kind == gardencorev1beta1.LastOperationTypeDelete {
		return r.deleted(ctx, o)
	}
	return r.succeeded(ctx, o)
}

// atRest tells whether a shoot is as its owner wants it: that nothing is done with it for a while is no news.
func atRest(shoot *gardencorev1beta1.Shoot) bool {
	last := shoot.Status.LastOperation
	return shoot.DeletionTimestamp == nil && shoot.Generation == shoot.Status.ObservedGeneration &&
		last != nil && last.State == gardencorev1beta1.LastOperationStateSucceeded
}

// waitForSeed shows why nothing happens. The time does not count as a failed attempt.
func (r *Reconciler) waitForSeed(ctx context.Context, shoot *gardencorev1beta1.Shoot, kind gardencorev1beta1.LastOperationType, reason error) (reconcile.Result, error) {
	err := newStatusWriter(r.GardenClient, shoot).change(ctx, func(s gardencorev1beta1.ShootStatus) gardencorev1beta1.ShootStatus {
		return Waiting(s, kind, reason, r.Clock.Now())
	})
	return reconcile.Result{RequeueAfter: recheck}, err
}

// run compiles and runs the graph of the operation.
func (r *Reconciler) run(ctx context.Context, o *operation, kind gardencorev1beta1.LastOperationType) (err error) {
	began := r.Clock.Now()
	defer func() { r.Flows.Operation(string(kind), r.Clock.Since(began), err) }()
	build := o.reconcileGraph
	if kind == gardencorev1beta1.LastOperationTypeDelete {
		build = o.deleteGraph
	} else if err := o.awaitRequired(ctx); err != nil {
		return err
	}
	graph, err := build(ctx)
	if err != nil {
		return err
	}
	log := ctrl.LoggerFrom(ctx)
	options := flow.Options{Clock: r.Clock, Log: log, Progress: func(p flow.Progress) {
		err := o.status.change(ctx, func(s gardencorev1beta1.ShootStatus) gardencorev1beta1.ShootStatus {
			return Progressed(s, p, r.Clock.Now())
		})
		if err != nil && ctx.Err() == nil {
			log.Info("Progress not reported", "reason", err.Error())
		}
	}}
	if r.Config.ProgressReportPeriod != nil {
		options.ReportPeriod = r.Config.ProgressReportPeriod.Duration
	}
	return r.Flows.Run(ctx, graph, options)
}

// succeeded ends a creation or a reconciliation.
func (r *Reconciler) succeeded(ctx context.Context, o *operation) (reconcile.Result, error) {
	if err := o.secrets.Cleanup(ctx); err != nil {
		return r.failed(ctx, o, o.status, o.status.current().Status, err)
	}
	if err := o.todo().finishRecords(ctx); err != nil {
		return r.failed(ctx, o, o.status, o.status.current().Status, err)
	}
	done := o.status.current()
	if err := r.refreshConditions(ctx, done); err != nil {
		return r.failed(ctx, o, o.status, done.Status, err)
	}
	done.Status = Succeeded(done, r.Clock.Now())
	if err := o.syncCluster(ctx, done); err != nil {
		return r.failed(ctx, o, o.status, o.status.current().Status, err)
	}
	if err := o.status.change(ctx, func(gardencorev1beta1.ShootStatus) gardencorev1beta1.ShootStatus { return done.Status }); err != nil {
		return kit.Result(kit.Continue(), err)
	}
	r.event(o.shoot, done.Status.LastOperation.Type, eventEnd)
	return reconcile.Result{RequeueAfter: nextPass(done, r.settings())}, nil
}

// nextPass is when a shoot is looked at again after an operation that succeeded. One that turned out to want what cannot be
// had is so at once: only when that is reported, its owner can take it back.
func nextPass(shoot *gardencorev1beta1.Shoot, s Settings) time.Duration {
	if Refusal(shoot) != nil {
		return time.Second
	}
	return max(syncPeriod(shoot, s), 0)
}

// refreshConditions reads what the health checks have written meanwhile. The success that is about to be written makes them
// look again, so what is lost to a check of this very moment comes back at once.
func (r *Reconciler) refreshConditions(ctx context.Context, shoot *gardencorev1beta1.Shoot) error {
	live := &gardencorev1beta1.Shoot{}
	if err := r.GardenReader.Get(ctx, client.ObjectKeyFromObject(shoot), live); err != nil {
		return fmt.Errorf("get shoot %q: %w", shoot.Name, err)
	}
	shoot.Status.Conditions, shoot.Status.Constraints = live.Status.Conditions, live.Status.Constraints
	return nil
}

// failed ends an operation that did not succeed. The operation is nil if it was not loaded.
func (r *Reconciler) failed(ctx context.Context, o *operation, writer *statusWriter, status gardencorev1beta1.ShootStatus, err error) (reconcile.Result, error) {
	if ctx.Err() != nil {
		return reconcile.Result{}, r.aborted(ctx, writer)
	}
	next := Failed(status, Failure{Err: err, RetryDuration: r.Config.RetryDuration.Duration}, r.Clock.Now())
	final := next.LastOperation.State == gardencorev1beta1.LastOperationStateFailed
	writeErr := writer.change(ctx, func(gardencorev1beta1.ShootStatus) gardencorev1beta1.ShootStatus { return next })
	r.warn(writer.current(), next.LastOperation)
	if writeErr != nil {
		return reconcile.Result{}, fmt.Errorf("%w; and the failure could not be reported: %w", err, writeErr)
	}
	if !final {
		return reconcile.Result{}, err
	}
	if o != nil {
		// Extensions stop to act on the shoot until its owner has acted.
		if syncErr := o.syncCluster(ctx, writer.current()); syncErr != nil {
			return reconcile.Result{}, fmt.Errorf("%w; and the extensions could not be told: %w", err, syncErr)
		}
	}
	return reconcile.Result{}, reconcile.TerminalError(err)
}

// aborted says that a run was cut off: the process ends. The next one takes it up.
func (r *Reconciler) aborted(ctx context.Context, writer *statusWriter) error {
	cause := context.Cause(ctx)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewell)
	defer cancel()
	err := writer.change(ctx, func(s gardencorev1beta1.ShootStatus) gardencorev1beta1.ShootStatus { return Aborted(s, r.Clock.Now()) })
	if err != nil {
		return err
	}
	return cause
}

type moment int

const (
	eventBegin moment = iota
	eventEnd
)

func (r *Reconciler) event(shoot *gardencorev1beta1.Shoot, kind gardencorev1beta1.LastOperationType, m moment) {
	notice := kit.Notice{Type: corev1.EventTypeNormal, Action: gardencorev1beta1.EventActionReconcile}
	deletion := kind == gardencorev1beta1.LastOperationTypeDelete
	if deletion {
		notice.Action = gardencorev1beta1.EventActionDelete
	}
	switch {
	case m == eventBegin && deletion:
		notice.Reason, notice.Message = gardencorev1beta1.EventDeleting, beginning(kind)
	case m == eventBegin:
		notice.Reason, notice.Message = gardencorev1beta1.EventReconciling, beginning(kind)
	case deletion:
		notice.Reason, notice.Message = gardencorev1beta1.EventDeleted, ended(kind)
	default:
		notice.Reason, notice.Message = gardencorev1beta1.EventReconciled, ended(kind)
	}
	kit.Record(r.Recorder, shoot, notice)
}

func (r *Reconciler) warn(shoot *gardencorev1beta1.Shoot, last *gardencorev1beta1.LastOperation) {
	notice := kit.Notice{
		Type: corev1.EventTypeWarning, Action: gardencorev1beta1.EventActionReconcile,
		Reason: gardencorev1beta1.EventReconcileError, Message: last.Description,
	}
	if last.Type == gardencorev1beta1.LastOperationTypeDelete {
		notice.Action, notice.Reason = gardencorev1beta1.EventActionDelete, gardencorev1beta1.EventDeleteError
	}
	kit.Record(r.Recorder, shoot, notice)
}
