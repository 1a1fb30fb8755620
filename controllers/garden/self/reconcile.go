// SPDX-License-Identifier: Apache-2.0

package self

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperatorv1alpha1 "github.com/terrarium-garden/terrarium/apis/operator/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const (
	defaultPeriod = time.Minute
	// unsettled is the time between two looks at a server that starts.
	unsettled = time.Second
	complete  = 100

	description = "The Garden describes this server."
)

// pass is what one pass knows.
type pass struct {
	garden *garden
	commit *kit.Commit
	// asked says that somebody wants something: another spec, or an operation.
	asked bool
	// done are the operations that were carried out, refused those that cannot be.
	done    []string
	refused []refusal
	// failed is what has gone wrong, and is tried again.
	failed error
}

// Reconcile brings Garden and server together.
func (r *Reconciler) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	found, err := r.find(ctx)
	if err != nil {
		return kit.Result(kit.Stop(), err)
	}
	p := &pass{garden: found, commit: kit.Begin(r.Client, found)}
	p.failed = errors.Join(r.settings(ctx, p), r.operations(ctx, p))
	if kit.IsTransient(p.failed) {
		return kit.Result(kit.Stop(), p.failed)
	}
	failed := p.failed
	outcome, err := r.status(ctx, p)
	if err == nil {
		err = r.answer(ctx, p)
	}
	if err != nil && failed == nil {
		failed = err
	}

	return kit.Result(outcome, failed)
}

// find returns the Garden, and makes it if there is none. A Garden that does not describe this garden was written when nobody acted on
// it, and is replaced.
func (r *Reconciler) find(ctx context.Context) (*garden, error) {
	list := &gardenoperatorv1alpha1.GardenList{}
	if err := r.Reader.List(ctx, list); err != nil {
		return nil, fmt.Errorf("list Gardens: %w", err)
	}
	for i := range list.Items {
		found := &list.Items[i]
		if found.DeletionTimestamp == nil && found.Name == gardenoperatorv1alpha1.GardenName &&
			found.Spec.VirtualCluster.Gardener.ClusterIdentity == r.Server.Identity {
			return found, nil
		}
		if err := r.replace(ctx, found); err != nil {
			return nil, err
		}
	}
	made := &garden{ObjectMeta: metav1.ObjectMeta{Name: gardenoperatorv1alpha1.GardenName}, Spec: *r.Server.Describe(&spec{})}
	if err := r.Client.Create(ctx, made); err != nil {
		return nil, fmt.Errorf("create Garden: %w", err)
	}
	logf.FromContext(ctx).Info("Garden created", "garden", made.Name)

	return made, nil
}

func (r *Reconciler) replace(ctx context.Context, other *garden) error {
	logf.FromContext(ctx).Info("Replacing a Garden that does not describe this server", "garden", other.Name)
	before := other.DeepCopy()
	if other.Finalizers = nil; len(before.Finalizers) > 0 {
		err := r.Client.Patch(ctx, other, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("remove finalizers of Garden %q: %w", other.Name, err)
		}
	}

	return kit.Remove(ctx, r.Client, other)
}

// settings makes the server do what is new in the spec, and then shows in the spec what the server is.
func (r *Reconciler) settings(ctx context.Context, p *pass) error {
	is := p.garden
	p.asked = is.Generation != is.Status.ObservedGeneration
	// The first generation is what the server has written about itself.
	changed := p.asked && is.Generation > 1
	if err := r.Server.Apply(ctx, &is.Spec, changed); err != nil {
		return fmt.Errorf("apply the spec: %w", err)
	}
	want := r.Server.Describe(&is.Spec)
	if equality.Semantic.DeepEqual(&is.Spec, want) {
		return nil
	}
	is.Spec = *want

	return p.commit.WriteObject(ctx)
}

// status writes all that is to be known. It does not write if nothing has changed.
func (r *Reconciler) status(ctx context.Context, p *pass) (kit.Outcome, error) {
	status, now := &p.garden.Status, r.Clock.Now()
	outcome := kit.RecheckAfter(unsettled)
	if r.Server.Settled() {
		outcome = kit.RecheckAfter(r.period())
		p.failed = errors.Join(p.failed, r.care(ctx, status, now))
	}
	p.failed = errors.Join(p.failed, r.Server.Report(status))
	rotations, err := r.Server.Rotations(ctx)
	if err == nil {
		rotations.write(status, now)
	}
	p.failed = errors.Join(p.failed, err)
	if !kit.IsFailure(p.failed) {
		status.ObservedGeneration = p.garden.Generation
	}
	p.note(status, now)

	return outcome, p.commit.WriteStatus(ctx)
}

// note writes the last operation, unless nothing has happened (OPER-REC-3).
func (p *pass) note(status *gardenoperatorv1alpha1.GardenStatus, now time.Time) {
	last := gardencorev1beta1.LastOperation{
		Type: gardencorev1beta1.LastOperationTypeReconcile, State: gardencorev1beta1.LastOperationStateSucceeded, Progress: complete,
		Description: description, LastUpdateTime: metav1.NewTime(now),
	}
	refused, failing := p.refusals(), kit.IsFailure(p.failed)
	switch {
	case failing:
		last.State, last.Progress = gardencorev1beta1.LastOperationStateError, 0
		last.Description = errors.Join(refused, p.failed).Error() + ". The server tries again."
	case refused != nil:
		last.State, last.Progress, last.Description = gardencorev1beta1.LastOperationStateFailed, 0, refused.Error()
	}
	have := status.LastOperation
	changed := have == nil || have.State != last.State || have.Description != last.Description
	if have != nil && have.State == gardencorev1beta1.LastOperationStateFailed && !p.asked && !failing {
		return // A refusal stays until somebody asks for something else.
	}
	if p.asked || changed {
		status.LastOperation = &last
	}
}

// care writes the conditions (OPER-CARE-1, 4), also if only some of them could be found out.
func (r *Reconciler) care(ctx context.Context, status *gardenoperatorv1alpha1.GardenStatus, now time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, r.period())
	defer cancel()
	found, err := r.Server.Health(ctx)
	for _, c := range found {
		c.Status = kit.Damp(query.FindCondition(status.Conditions, c.Type), c.Status, kit.Threshold(r.Config.ConditionThresholds, c.Type), now)
		status.Conditions = kit.SetCondition(status.Conditions, c, now)
	}
	if err != nil {
		return fmt.Errorf("examine the server: %w", err)
	}

	return nil
}

func (r *Reconciler) period() time.Duration {
	if p := r.Config.SyncPeriod; p != nil && p.Duration > 0 {
		return p.Duration
	}

	return defaultPeriod
}
