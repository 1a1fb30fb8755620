// SPDX-License-Identifier: Apache-2.0

package seed

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/flow"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// progressPeriod is the shortest time between two reports of progress.
const progressPeriod = 5 * time.Second

// scope is one pass over the seed.
type scope struct {
	seed *gardencorev1beta1.Seed
	// eventful is set if the progress of this pass is shown.
	eventful bool
	// renewed is set if the pass follows a change of the spec.
	renewed bool
	// identity and version are those of the cluster.
	identity, version string
}

// Reconcile brings the seed to what it should be, or takes it away.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	seed := &gardencorev1beta1.Seed{}
	if err := r.GardenClient.Get(ctx, request.NamespacedName, seed); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	s := &scope{seed: seed}
	if seed.DeletionTimestamp != nil {
		return r.delete(ctx, s)
	}
	if err := kit.EnsureFinalizer(ctx, r.GardenClient, seed, gardencorev1beta1.FinalizerGardener); err != nil {
		return kit.Result(kit.Stop(), err)
	}
	s.eventful = Eventful(seed, r.Gardenlet)
	s.renewed = seed.Status.ObservedGeneration != 0 && seed.Status.ObservedGeneration != seed.Generation

	outcome, err := kit.Run(ctx, s, r.answerOperation, r.inspect, r.begin, r.deploy, r.finish)
	if err != nil {
		err = r.fail(ctx, s, err)
	}
	return kit.Result(outcome, err)
}

// answerOperation does what the operation annotation asks for and removes it (GLET-SEED-11).
func (r *Reconciler) answerOperation(ctx context.Context, s *scope) (kit.Outcome, error) {
	operation := s.seed.Annotations[gardencorev1beta1.AnnotationOperation]
	switch operation {
	case gardencorev1beta1.OperationReconcile:
	case gardencorev1beta1.OperationRenewKubeconfig:
		if r.RenewKubeconfig != nil {
			if err := r.RenewKubeconfig(ctx); err != nil {
				return kit.Stop(), err
			}
		}
	default:
		return kit.Continue(), nil
	}
	commit := kit.Begin(r.GardenClient, s.seed)
	delete(s.seed.Annotations, gardencorev1beta1.AnnotationOperation)
	return kit.Continue(), commit.WriteObject(ctx)
}

// inspect asks the cluster who it is.
func (r *Reconciler) inspect(ctx context.Context, s *scope) (kit.Outcome, error) {
	var err error
	if s.version, err = r.KubernetesVersion(); err != nil {
		return kit.Stop(), err
	}
	if s.identity, err = ClusterIdentity(ctx, r.SeedClient); err != nil {
		return kit.Stop(), err
	}
	return kit.Continue(), nil
}

// begin writes what is known now, and that an operation is under way (GLET-SEED-3).
func (r *Reconciler) begin(ctx context.Context, s *scope) (kit.Outcome, error) {
	return kit.Continue(), r.patch(ctx, s.seed, func(status *gardencorev1beta1.SeedStatus) {
		r.describe(status, s)
		if s.eventful {
			status.LastOperation = r.operation(s, gardencorev1beta1.LastOperationStateProcessing, 0, "Reconciliation of the seed has begun")
		}
	})
}

func (r *Reconciler) describe(status *gardencorev1beta1.SeedStatus, s *scope) {
	status.Gardener = new(r.Gardenlet)
	status.ObservedGeneration = s.seed.Generation
	status.KubernetesVersion = &s.version
	status.Capacity, status.Allocatable = Allocatable(r.Resources)
	if r.Expiry != nil {
		status.ClientCertificateExpirationTimestamp = r.Expiry()
	}
	if status.ClusterIdentity == nil {
		status.ClusterIdentity = &s.identity
	}
}

// deploy runs the flow.
func (r *Reconciler) deploy(ctx context.Context, s *scope) (kit.Outcome, error) {
	if err := CheckVersion(s.version); err != nil {
		return kit.Stop(), err
	}
	graph, err := ReconcileGraph(Engine(r.SeedClient, r.Clock), s.seed, s.identity)
	if err != nil {
		return kit.Stop(), err
	}
	options := flow.Options{Clock: r.Clock, Log: ctrl.LoggerFrom(ctx), ReportPeriod: progressPeriod}
	var failed error
	if s.eventful {
		options.Progress = func(p flow.Progress) {
			if len(p.Succeeded) == p.Total || failed != nil {
				return
			}
			failed = r.patch(ctx, s.seed, func(status *gardencorev1beta1.SeedStatus) {
				status.LastOperation = r.operation(s, gardencorev1beta1.LastOperationStateProcessing, p.Percent(), p.Description())
			})
		}
	}
	if err := r.Flows.Run(ctx, graph, options); err != nil {
		return kit.Stop(), err
	}
	return kit.Continue(), failed
}

// finish reports success.
func (r *Reconciler) finish(ctx context.Context, s *scope) (kit.Outcome, error) {
	if s.renewed {
		// Conditions have other writers, so this write is refused when one of them was faster, and the pass repeated.
		commit := kit.Begin(r.GardenClient, s.seed)
		s.seed.Status.Conditions = Reevaluate(s.seed.Status.Conditions, r.Clock.Now())
		if err := commit.WriteStatus(ctx); err != nil {
			return kit.Stop(), err
		}
	}
	err := r.patch(ctx, s.seed, func(status *gardencorev1beta1.SeedStatus) {
		status.LastOperation = r.operation(s, gardencorev1beta1.LastOperationStateSucceeded, 100, "The seed is ready for shoots")
	})
	if err == nil && s.eventful {
		r.event(s, corev1.EventTypeNormal, gardencorev1beta1.EventReconciled, "The seed is ready for shoots")
	}
	return kit.RequeueAfter(r.Config.SyncPeriod.Duration), err
}

// fail shows an error as state of the last operation. Lost races are not worth it: the pass is repeated at once.
func (r *Reconciler) fail(ctx context.Context, s *scope, err error) error {
	if kit.IsTransient(err) || ctx.Err() != nil {
		return err
	}
	r.event(s, corev1.EventTypeWarning, gardencorev1beta1.EventReconcileError, err.Error())
	writeErr := r.patch(ctx, s.seed, func(status *gardencorev1beta1.SeedStatus) {
		progress := int32(0)
		if status.LastOperation != nil {
			progress = min(status.LastOperation.Progress, 99)
		}
		status.LastOperation = r.operation(s, gardencorev1beta1.LastOperationStateError, progress, err.Error())
	})
	if writeErr != nil {
		return fmt.Errorf("%w; and the failure could not be reported: %w", err, writeErr)
	}
	return err
}

// operation is the last operation of the pass in another state.
func (r *Reconciler) operation(s *scope, state gardencorev1beta1.LastOperationState, progress int32, text string) *gardencorev1beta1.LastOperation {
	want := gardencorev1beta1.LastOperation{
		Type: gardencorev1beta1.LastOperationTypeReconcile, State: state, Progress: progress, Description: text,
	}
	if s.seed.DeletionTimestamp != nil {
		want.Type = gardencorev1beta1.LastOperationTypeDelete
	}
	return Operate(s.seed.Status.LastOperation, want, r.Clock.Now())
}

// patch writes the fields of the status that only this controller writes, so it needs no lock: the heartbeat and others
// write the conditions at the same time.
func (r *Reconciler) patch(ctx context.Context, seed *gardencorev1beta1.Seed, change func(status *gardencorev1beta1.SeedStatus)) error {
	before := seed.DeepCopy()
	change(&seed.Status)
	patch := client.MergeFrom(before)
	if data, err := patch.Data(seed); err != nil || string(data) == "{}" {
		return err
	}
	if err := r.GardenClient.Status().Patch(ctx, seed, patch); err != nil {
		return fmt.Errorf("write status of seed %q: %w", seed.Name, err)
	}
	return nil
}

func (r *Reconciler) event(s *scope, kind, reason, message string) {
	action := gardencorev1beta1.EventActionReconcile
	if s.seed.DeletionTimestamp != nil {
		action = gardencorev1beta1.EventActionDelete
	}
	kit.Record(r.Recorder, s.seed, kit.Notice{Type: kind, Reason: reason, Action: action, Message: message})
}
