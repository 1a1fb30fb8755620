// SPDX-License-Identifier: Apache-2.0

// Package shoot creates, reconciles and deletes the shoots of one seed. A pass first decides whether there is something to do. If
// so, it runs one of two task graphs, to reconcile or to delete, and keeps the Shoot's last operation and last errors up to date
// while it runs.
//
// Every task reads the current state and may be repeated, so a pass that a crash has interrupted is run again. The Cluster object
// is written before a run, so that the seed's extensions know what the run is for, and once more when the run has ended.
package shoot

import (
	"context"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/rotation"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	lastoperation "github.com/terrarium-garden/terrarium/controllers/operation"
)

const (
	// recheck is the longest pause while something other than the shoot has to change first.
	recheck = 15 * time.Second

	// initialPatience is how long a run tries to read what it needs before its first task, initialPause is the time between two tries.
	initialPatience = 10 * time.Minute
	initialPause    = 10 * time.Second
	// initialWait is the same for all errors, because the time for which it was shown is the time that the run has waited.
	initialWait = "Waiting until everything can be read that the operation needs"
)

// Reconcile makes one pass on a shoot, which a forced deletion ends early: that is no failure, and the next pass is asked for already.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	ctx, leave := r.passes.enter(ctx, request.NamespacedName)
	defer leave()
	result, err := r.pass(ctx, request)
	if wasInterrupted(ctx) {
		return reconcile.Result{}, nil
	}
	return result, err
}

// pass reads around the cache, which may lag behind the writes of the last pass.
func (r *Reconciler) pass(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	shoot := &gardencorev1beta1.Shoot{}
	if found, err := kit.Live(ctx, r.GardenReader, r.GardenClient, request.NamespacedName, shoot); !found {
		return reconcile.Result{}, err
	}
	r.passes.reads(shoot)
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
		return reconcile.Result{}, r.release(ctx, shoot)
	case ActionRun:
		return r.operate(ctx, shoot, decision.Operation)
	default:
		return reconcile.Result{RequeueAfter: decision.After}, nil
	}
}

// syncOnly writes the Cluster object of a shoot on which no operation runs.
func (r *Reconciler) syncOnly(ctx context.Context, shoot *gardencorev1beta1.Shoot) (reconcile.Result, error) {
	if shoot.Status.LastOperation == nil {
		reason := "The shoot is ignored: annotation " + gardencorev1beta1.AnnotationShootIgnore + " is set"
		return reconcile.Result{}, r.on(shoot).Pend(ctx, gardencorev1beta1.LastOperationTypeCreate, reason)
	}
	if shoot.Status.TechnicalID == "" {
		return reconcile.Result{}, nil
	}
	seed, err := r.ownSeed(ctx)
	if err != nil {
		return reconcile.Result{}, err
	}
	at, err := r.placeOf(ctx, shoot)
	if err != nil {
		return reconcile.Result{}, err
	}
	o := &operation{r: r, facts: facts.Shoot{Shoot: shoot, Seed: seed, Namespace: at.namespace}}
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
	deletion := kind == gardencorev1beta1.LastOperationTypeDelete
	if !deletion {
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
		return reconcile.Result{RequeueAfter: recheck}, r.on(shoot).Postpone(ctx, kind, err)
	}
	if deletedAlready(shoot) {
		return r.finish(ctx, shoot)
	}
	o, result, err := r.begin(ctx, shoot, seed, kind)
	if o == nil {
		return result, err
	}
	if err := r.run(ctx, o, kind); err != nil {
		return o.failed(ctx, err)
	}
	if deletion {
		if err := r.deleted(ctx, o.status, o.facts.Namespace); err != nil {
			return o.failed(ctx, err)
		}
		return reconcile.Result{}, nil
	}
	if err := r.succeeded(ctx, o); err != nil {
		return o.failed(ctx, err)
	}
	return reconcile.Result{RequeueAfter: nextPass(o.status.Object(), r.settings(), r.Clock.Now())}, nil
}

// finish makes the last steps of a deletion.
func (r *Reconciler) finish(ctx context.Context, shoot *gardencorev1beta1.Shoot) (reconcile.Result, error) {
	at, err := r.placeOf(ctx, shoot)
	if err != nil {
		return r.on(shoot).Fail(ctx, lastoperation.AtStep(lastoperation.StepInitialize, err))
	}
	return kit.Result(kit.Continue(), r.deleted(ctx, r.on(shoot), at.namespace))
}

// begin reads what a run needs and reports that it has begun: first to the extensions, which act on the Cluster object. If it
// returns no operation, the run does not start.
func (r *Reconciler) begin(
	ctx context.Context, shoot *gardencorev1beta1.Shoot, seed *gardencorev1beta1.Seed, kind gardencorev1beta1.LastOperationType,
) (*operation, reconcile.Result, error) {
	status := r.on(shoot)
	waited := failedToRead(shoot)
	answers := r.plan(status, shoot, kind)
	o, err := r.load(ctx, status.Object(), seed)
	if err != nil {
		result, err := unread(ctx, status, waited, err)
		return nil, result, err
	}
	start := lastoperation.Start[*gardencorev1beta1.Shoot]{Type: kind, Change: func(s *gardencorev1beta1.Shoot) { s.Status.TechnicalID = o.facts.Namespace }}
	start.Change(o.facts.Shoot)
	o.status = status
	if err := o.syncCluster(ctx, o.facts.Shoot); err != nil {
		// A seed that cannot be reached is reported by its own checks, not by its shoots. Pauses that grow would last longer than its trouble.
		ctrl.LoggerFrom(ctx).Error(err, "Extensions could not be told of the operation, so it does not begin yet", "again", recheck)
		return nil, reconcile.Result{RequeueAfter: recheck}, nil
	}
	if err := status.Begin(ctx, start); err != nil {
		return nil, reconcile.Result{}, err
	}
	if err := r.answerOperations(ctx, status.Object(), answers); err != nil {
		return nil, reconcile.Result{}, err
	}
	return o, reconcile.Result{}, nil
}

// unread ends a pass that could not read what its run needs. That may pass by itself, so the run waits for a while and shows the error
// before it fails with it (GLET-FLOW-9). What the owner of the shoot has to correct fails at once, and so does what an earlier run has waited
// for in vain: the pauses between such runs grow.
func unread(ctx context.Context, status *account, waited bool, err error) (reconcile.Result, error) {
	err = lastoperation.AtStep(lastoperation.StepInitialize, err)
	left := initialPatience - status.Waited(initialWait)
	if left > 0 && !waited && !slices.ContainsFunc(lastoperation.Codes(err), lastoperation.Final) {
		err = fmt.Errorf("%w: %w", kit.Wait(min(left, initialPause), initialWait), err)
	}
	return status.Fail(ctx, err)
}

// failedToRead reports whether the last run of a shoot has ended because it could not read what it needed.
func failedToRead(shoot *gardencorev1beta1.Shoot) bool {
	last := shoot.Status.LastOperation
	return last != nil && last.State == gardencorev1beta1.LastOperationStateError &&
		slices.ContainsFunc(shoot.Status.LastErrors, func(e gardencorev1beta1.LastError) bool {
			return ptr.Deref(e.TaskID, "") == lastoperation.StepInitialize
		})
}

// atRest reports whether a shoot is as its owner wants it.
func atRest(shoot *gardencorev1beta1.Shoot) bool {
	return shoot.DeletionTimestamp == nil && shoot.Generation == shoot.Status.ObservedGeneration && lastoperation.Succeeded(shoot.Status.LastOperation)
}

// run compiles and runs the graph of the operation.
func (r *Reconciler) run(ctx context.Context, o *operation, kind gardencorev1beta1.LastOperationType) (err error) {
	build := o.reconcileGraph
	if kind == gardencorev1beta1.LastOperationTypeDelete {
		if build = o.deleteGraph; Forced(o.facts.Shoot) {
			build = o.forceGraph
		} else if err := o.refuseWithBastions(ctx); err != nil {
			return err
		}
	} else if err := o.requireExtensions(ctx); err != nil {
		return err
	}
	began := r.Clock.Now()
	defer func() { r.Flows.Operation(string(kind), r.Clock.Since(began), err) }()
	graph, err := build(ctx)
	if err != nil {
		return err
	}
	return o.status.Run(ctx, graph, ptr.Deref(r.Config.ProgressReportPeriod, metav1.Duration{}).Duration)
}

// nextPass is the time until the next pass after an operation that succeeded. A rotation may go on by itself. A shoot that has to be refused is so at once, because
// only then does its owner learn what to change.
func nextPass(shoot *gardencorev1beta1.Shoot, s Settings, now time.Time) time.Duration {
	if Refusal(shoot) != nil || rotation.Continues(shoot) {
		return time.Second
	}
	next := due(shoot, s, now, now)
	if next.IsZero() {
		return 0
	}
	return next.Sub(now)
}
