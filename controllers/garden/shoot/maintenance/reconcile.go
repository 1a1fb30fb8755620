// SPDX-License-Identifier: Apache-2.0

package maintenance

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/unserved"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/profile"
)

const (
	controllerName = "shoot-maintenance"
	// action is the action of events.
	action = "Maintain"
)

var errNotReplaced = errors.New("so the SecretBinding of the shoot cannot be replaced")

// Reconciler maintains shoots.
type Reconciler struct {
	kit.Base

	// Config is the section of the configuration.
	Config gardenconfigv1alpha1.ServerShootMaintenanceConfiguration
}

// AddToManager implements kit.Adder. Besides the time only another window and the request of an owner start a pass.
func (r *Reconciler) AddToManager(clusters kit.Clusters) error {
	b := r.Controller(clusters, controllerName, kit.Workers(r.Config.ConcurrentSyncs)).
		For(&gardencorev1beta1.Shoot{}, builder.WithPredicates(kit.Changed(facts)))
	return kit.Complete(b, controllerName, reconcile.AsReconciler(r.Client, r))
}

// facts are what the time of a maintenance depends on.
func facts(shoot *gardencorev1beta1.Shoot) any {
	var window gardencorev1beta1.MaintenanceTimeWindow
	if m := shoot.Spec.Maintenance; m != nil && m.TimeWindow != nil {
		window = *m.TimeWindow
	}
	return []any{window, asked(shoot), shoot.DeletionTimestamp != nil}
}

// Reconcile maintains a shoot if it is time, and comes back for its next maintenance.
func (r *Reconciler) Reconcile(ctx context.Context, shoot *gardencorev1beta1.Shoot) (reconcile.Result, error) {
	now := r.Clock.Now()
	todo, next := Decide(shoot, now)
	var err error
	switch todo {
	case Maintain:
		err = r.maintain(ctx, shoot, now)
	case Settle:
		err = r.settle(ctx, shoot, now)
	case Rest:
	}
	outcome := kit.Stop()
	if !next.IsZero() {
		// The next pass must not begin before that time, also if the delay is rounded.
		outcome = kit.RequeueAfter(kit.Until(next.Sub(now) + time.Second))
	}
	return kit.Result(outcome, err)
}

func (r *Reconciler) plan(ctx context.Context, shoot *gardencorev1beta1.Shoot, now time.Time) (Plan, error) {
	found, err := profile.Of(ctx, r.Client, shoot)
	if err != nil {
		return Plan{}, fmt.Errorf("maintain shoot %q: %w", client.ObjectKeyFromObject(shoot), err)
	}
	settings := Settings{
		RestartControlPlane: *r.Config.EnableShootControlPlaneRestarter, RestartCoreAddons: *r.Config.EnableShootCoreAddonRestarter,
		Served: func(operation string) bool { return len(unserved.Operations(operation)) == 0 },
	}
	return Make(shoot, &found.Spec, settings, now), nil
}

// maintain makes the changes that are planned. The first write of the shoot is a dry run: a plan that the server would refuse must
// change nothing of it (GCM-MAINT-12). A plan without steps only starts an operation, and needs no dry run.
func (r *Reconciler) maintain(ctx context.Context, shoot *gardencorev1beta1.Shoot, now time.Time) error {
	plan, err := r.plan(ctx, shoot, now)
	if err != nil {
		return err
	}
	if len(plan.Steps) > 0 {
		if err := r.bind(ctx, shoot, plan.Binding); err != nil {
			return r.refused(ctx, shoot, now, err)
		}
		if _, err := r.write(ctx, shoot, plan, client.DryRunAll); err != nil {
			return r.refused(ctx, shoot, now, err)
		}
	}
	announced := announce(plan, triggered(shoot, now))
	if err := r.report(ctx, shoot, announced); err != nil {
		return err
	}
	plan.Annotations[gardencorev1beta1.AnnotationShootMaintained] = stamp(announced)
	written, err := r.write(ctx, shoot, plan)
	if err != nil {
		return r.refused(ctx, shoot, now, err)
	}
	for _, step := range plan.Steps {
		r.tell(written, step)
	}
	return r.end(ctx, written, conclude(announced))
}

// settle ends a maintenance that was interrupted: it was made already, or its window is closed. Who may change the shoot may also change the
// annotation that tells the former, and could so keep a version that has expired. So a step that was announced and is planned again
// shows that it was not made. What else is planned by now waits for the next window.
func (r *Reconciler) settle(ctx context.Context, shoot *gardencorev1beta1.Shoot, now time.Time) error {
	plan, err := r.plan(ctx, shoot, now)
	if err != nil {
		return err
	}
	announced := *shoot.Status.LastMaintenance
	left := slices.ContainsFunc(plan.Done(), func(s Step) bool { return strings.Contains(announced.Description, s.Text) })
	switch {
	case made(shoot) && !left:
		return r.report(ctx, shoot, conclude(announced))
	case made(shoot) && query.MaintenanceTimes(&shoot.Spec).Contains(now):
		return r.maintain(ctx, shoot, now)
	default:
		return r.report(ctx, shoot, postpone(announced, plan))
	}
}

// write writes the planned spec and annotations, and returns the shoot as the server then has it. The server refuses it if the shoot
// was changed since it was read, because the plan was made for what it was then.
func (r *Reconciler) write(ctx context.Context, shoot *gardencorev1beta1.Shoot, plan Plan, options ...client.PatchOption) (*gardencorev1beta1.Shoot, error) {
	planned := shoot.DeepCopy()
	planned.Spec, planned.Annotations = *plan.Spec.DeepCopy(), maps.Clone(plan.Annotations)
	lock := client.MergeFromWithOptions(shoot, client.MergeFromWithOptimisticLock{})
	if err := r.Client.Patch(ctx, planned, lock, options...); err != nil {
		return nil, fmt.Errorf("maintain shoot %q: %w", client.ObjectKeyFromObject(shoot), err)
	}
	return planned, nil
}

// report writes the status of the maintenance, with a lock: the plan that it speaks of is about this version of the shoot.
func (r *Reconciler) report(ctx context.Context, shoot *gardencorev1beta1.Shoot, maintenance gardencorev1beta1.LastMaintenance) error {
	commit := kit.Begin(r.Client, shoot)
	shoot.Status.LastMaintenance = &maintenance
	return commit.WriteStatus(ctx)
}

// end reports a maintenance that was made. It needs no lock, because what was made remains true, and the gardenlet, which begins with it at
// once, writes the status as well. If this write fails or never comes, the next pass makes up for it.
func (r *Reconciler) end(ctx context.Context, shoot *gardencorev1beta1.Shoot, maintenance gardencorev1beta1.LastMaintenance) error {
	commit := kit.Begin(r.Client, shoot)
	shoot.Status.LastMaintenance = &maintenance
	return client.IgnoreNotFound(commit.WriteOwnStatus(ctx))
}

// refused reports a maintenance that the server refuses, which its owner has to know (GCM-MAINT-12). The request of the owner is
// taken away after that, so that it is answered in any case. All other errors are passed on, because the next try may succeed.
func (r *Reconciler) refused(ctx context.Context, shoot *gardencorev1beta1.Shoot, now time.Time, err error) error {
	if !refuses(err) {
		return err
	}
	if err := r.report(ctx, shoot, rejected(err, now)); err != nil {
		return err
	}
	kit.Record(r.Recorder, shoot, kit.Notice{
		Type: corev1.EventTypeWarning, Reason: gardencorev1beta1.EventMaintenanceFailed, Action: action, Message: err.Error(),
	})
	if !asked(shoot) {
		return nil
	}
	answered := Plan{Spec: &shoot.Spec, Annotations: maps.Clone(shoot.Annotations)}
	delete(answered.Annotations, gardencorev1beta1.AnnotationOperation)
	_, err = r.write(ctx, shoot, answered)
	return err
}

// refuses reports whether an error means that a change is not allowed, so that it would be refused again.
func refuses(err error) bool {
	return apierrors.IsInvalid(err) || apierrors.IsForbidden(err) || apierrors.IsBadRequest(err) || apierrors.IsRequestEntityTooLargeError(err) ||
		errors.Is(err, errNotReplaced)
}

// tell records the event about a step.
func (r *Reconciler) tell(shoot *gardencorev1beta1.Shoot, step Step) {
	if step.Event == "" {
		return
	}
	notice := kit.Notice{Type: corev1.EventTypeNormal, Reason: step.Event, Action: action, Message: step.Text}
	if step.Failure != "" {
		notice.Type, notice.Message = corev1.EventTypeWarning, step.Text+": "+step.Failure
	}
	kit.Record(r.Recorder, shoot, notice)
}

// bind makes the CredentialsBinding that takes the place of a SecretBinding, for the same credentials. It comes first, because the
// server refuses a shoot whose binding does not exist, also in a dry run. It stays if the dry run is refused: the maintenance of another
// shoot may count on it already, and the next one of this shoot needs it again.
func (r *Reconciler) bind(ctx context.Context, shoot *gardencorev1beta1.Shoot, name string) error {
	if name == "" {
		return nil
	}
	key := client.ObjectKey{Namespace: shoot.Namespace, Name: name}
	former := &gardencorev1beta1.SecretBinding{}
	if err := r.Client.Get(ctx, key, former); apierrors.IsNotFound(err) {
		return fmt.Errorf("SecretBinding %q does not exist, %w", name, errNotReplaced)
	} else if err != nil {
		return fmt.Errorf("get secret binding %q: %w", key, err)
	}
	binding := &gardensecurityv1alpha1.CredentialsBinding{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	binding.CredentialsRef, binding.Quotas = query.CredentialsOf(former), slices.Clone(former.Quotas)
	binding.Provider.Type = shoot.Spec.Provider.Type
	wanted := binding.CredentialsRef
	if err := r.Client.Create(ctx, binding); err == nil {
		return nil
	} else if !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create credentials binding %q: %w", key, err)
	}
	if err := r.Client.Get(ctx, key, binding); err != nil {
		return fmt.Errorf("get credentials binding %q: %w", key, err)
	}
	if !equality.Semantic.DeepEqual(binding.CredentialsRef, wanted) {
		return fmt.Errorf("CredentialsBinding %q is for other credentials, %w", name, errNotReplaced)
	}
	return nil
}
