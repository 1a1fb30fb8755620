// SPDX-License-Identifier: Apache-2.0

package revocation

import (
	"context"
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/garden/seed/hosted"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const (
	controllerName = "seed-revocation"

	// Constraint is False on the shoots of a seed that is shut out.
	Constraint gardencorev1beta1.ConditionType = "SeedTrusted"

	reasonRevoked = "SeedRevoked"
	manyChanges   = 1024
)

// Records tells which seeds are shut out.
type Records interface {
	// Wait waits until it is known which seeds are shut out.
	Wait(ctx context.Context) error
	// Revoked reports whether a seed is shut out, and why.
	Revoked(seed string) (reason string, is bool)
	// OnChange adds a function that is called with the name of a seed after that has changed.
	OnChange(call func(seed string))
}

// Reconciler marks the shoots of seeds.
type Reconciler struct {
	kit.Base

	// Records are the seeds that are shut out.
	Records Records
}

// AddToManager implements kit.Adder. After a start, each seed is looked at once.
func (r *Reconciler) AddToManager(clusters kit.Clusters) error {
	changes := make(chan event.GenericEvent, manyChanges)
	r.Records.OnChange(func(seed string) {
		object := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: seed}}
		select {
		case changes <- event.GenericEvent{Object: object}:
		default:
		}
	})
	once := predicate.Funcs{
		UpdateFunc: func(event.UpdateEvent) bool { return false },
		DeleteFunc: func(event.DeleteEvent) bool { return false },
	}
	b := r.Controller(clusters, controllerName, kit.Workers(new(1))).
		For(&gardencorev1beta1.Seed{}, builder.WithPredicates(once)).
		Watches(&gardencorev1beta1.Shoot{}, kit.EnqueueNamed(func(shoot *gardencorev1beta1.Shoot) []types.NamespacedName {
			if _, change := r.mark(shoot); !change {
				return nil
			}
			return kit.Keys("", shoot.Spec.SeedName)
		})).
		WatchesRawSource(source.Channel(changes, &handler.EnqueueRequestForObject{}))

	return kit.Complete(b, controllerName, r)
}

// Reconcile marks the shoots of a seed, or removes the mark.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	if err := r.Records.Wait(ctx); err != nil {
		return reconcile.Result{}, fmt.Errorf("read records of seeds: %w", err)
	}
	shoots, err := hosted.Shoots(ctx, r.Client, request.Name)
	if err != nil {
		return reconcile.Result{}, err
	}
	var failed []error
	for i := range shoots {
		if on := shoots[i].Spec.SeedName; on != nil && *on == request.Name {
			failed = append(failed, r.write(ctx, &shoots[i]))
		}
	}

	return reconcile.Result{}, errors.Join(failed...)
}

// write marks one shoot if that is needed. One that cannot be marked does not hold up others.
func (r *Reconciler) write(ctx context.Context, before *gardencorev1beta1.Shoot) error {
	constraints, change := r.mark(before)
	if !change {
		return nil
	}
	after := before.DeepCopy()
	after.Status.Constraints = constraints
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := r.Client.Status().Patch(ctx, after, patch); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("mark shoot %q: %w", client.ObjectKeyFromObject(before), err)
	}

	return nil
}

// mark returns the constraints that a shoot should have, and whether they differ from what it has.
func (r *Reconciler) mark(shoot *gardencorev1beta1.Shoot) (constraints []gardencorev1beta1.Condition, change bool) {
	reason, revoked := "", false
	if shoot.Spec.SeedName != nil {
		reason, revoked = r.Records.Revoked(*shoot.Spec.SeedName)
	}
	have := query.FindCondition(shoot.Status.Constraints, Constraint)
	if !revoked {
		return slices.DeleteFunc(slices.Clone(shoot.Status.Constraints), func(c gardencorev1beta1.Condition) bool { return c.Type == Constraint }), have != nil
	}
	message := fmt.Sprintf("Seed %q is shut out of the garden, and what it could read may be known to others. The shoot is not reconciled.", *shoot.Spec.SeedName)
	if reason != "" {
		message += " Reason: " + reason
	}
	want := gardencorev1beta1.Condition{Type: Constraint, Status: gardencorev1beta1.ConditionFalse, Reason: reasonRevoked, Message: message}
	if have != nil && have.Status == want.Status && have.Message == want.Message {
		return shoot.Status.Constraints, false
	}

	return kit.SetCondition(shoot.Status.Constraints, want, r.Clock.Now()), true
}
