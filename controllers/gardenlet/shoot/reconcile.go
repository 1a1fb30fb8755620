// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	lastoperation "github.com/terrarium-garden/terrarium/controllers/operation"
)

// recheck is the pause when something beside the shoot has to change first, unless a watch ends it.
const recheck = 15 * time.Second

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
	o := &operation{r: r, facts: facts.Shoot{Shoot: shoot, Seed: seed, Namespace: shoot.Status.TechnicalID}}
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
		return kit.Result(kit.Continue(), r.deleted(ctx, r.on(shoot), shoot.Status.TechnicalID))
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
	return reconcile.Result{RequeueAfter: nextPass(o.status.Object(), r.settings())}, nil
}

// begin reads what a run needs, and says that it has begun: first to the extensions, which act on what they are told. Without
// an operation the run does not start.
func (r *Reconciler) begin(
	ctx context.Context, shoot *gardencorev1beta1.Shoot, seed *gardencorev1beta1.Seed, kind gardencorev1beta1.LastOperationType,
) (*operation, reconcile.Result, error) {
	status := r.on(shoot)
	status.Plan(beginning(shoot, kind, r.Identity))
	o, err := r.load(ctx, status.Object(), seed)
	if err != nil {
		result, err := status.Fail(ctx, err)
		return nil, result, err
	}
	start := lastoperation.Start[*gardencorev1beta1.Shoot]{Type: kind, Change: func(s *gardencorev1beta1.Shoot) { s.Status.TechnicalID = o.facts.Namespace }}
	start.Change(o.facts.Shoot)
	o.status = status
	if err := o.syncCluster(ctx, o.facts.Shoot); err != nil {
		// What is wrong with the seed is seen by its own checks.
		return nil, reconcile.Result{}, err
	}
	if err := status.Begin(ctx, start); err != nil {
		return nil, reconcile.Result{}, err
	}
	return o, reconcile.Result{}, nil
}

// atRest tells whether a shoot is as its owner wants it: that nothing is done with it for a while is no news.
func atRest(shoot *gardencorev1beta1.Shoot) bool {
	last := shoot.Status.LastOperation
	return shoot.DeletionTimestamp == nil && shoot.Generation == shoot.Status.ObservedGeneration &&
		last != nil && last.State == gardencorev1beta1.LastOperationStateSucceeded
}

// run compiles and runs the graph of the operation.
func (r *Reconciler) run(ctx context.Context, o *operation, kind gardencorev1beta1.LastOperationType) (err error) {
	build := o.reconcileGraph
	if kind == gardencorev1beta1.LastOperationTypeDelete {
		build = o.deleteGraph
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

// nextPass is when a shoot is looked at again after an operation that succeeded. One that turned out to want what cannot be
// had is so at once: only when that is reported, its owner can take it back.
func nextPass(shoot *gardencorev1beta1.Shoot, s Settings) time.Duration {
	if Refusal(shoot) != nil {
		return time.Second
	}
	return max(syncPeriod(shoot, s), 0)
}
