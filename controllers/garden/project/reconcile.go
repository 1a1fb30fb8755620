// SPDX-License-Identifier: Apache-2.0

package project

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// scope is one pass over one project.
type scope struct {
	project *gardencorev1beta1.Project
	commit  *kit.Commit
	// changed tells whether this pass wrote the namespace.
	changed bool
}

// namespace is the name of the project's namespace; claimNamespace has made sure that there is one.
func (s *scope) namespace() string {
	if s.project.Spec.Namespace == nil {
		return ""
	}
	return *s.project.Spec.Namespace
}

// Reconcile brings one project to what it should be, or takes it away.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	project := &gardencorev1beta1.Project{}
	if err := r.Client.Get(ctx, request.NamespacedName, project); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	s := &scope{project: project}
	if project.DeletionTimestamp != nil {
		return r.delete(ctx, s)
	}
	if err := kit.EnsureFinalizer(ctx, r.Client, project, gardencorev1beta1.FinalizerGardener); err != nil {
		return kit.Result(kit.Stop(), err)
	}

	s.commit = kit.Begin(r.Client, project)
	outcome, err := kit.Run(ctx, s,
		r.begin,
		r.claimNamespace,
		r.ensureNamespace,
		r.ensureQuota,
		r.ensureRoles,
		r.ensureExtensionRoles,
		r.finish,
	)
	r.reportFailure(s, err)
	return s.commit.Status(ctx, outcome, err)
}

func (r *Reconciler) delete(ctx context.Context, s *scope) (reconcile.Result, error) {
	if !controllerutil.ContainsFinalizer(s.project, gardencorev1beta1.FinalizerGardener) {
		return reconcile.Result{}, nil
	}
	s.commit = kit.Begin(r.Client, s.project)
	outcome, err := kit.Run(ctx, s, r.waitForShoots, r.releaseNamespace)
	if err != nil || outcome.Stopped() {
		r.reportFailedDeletion(s, err)
		r.setPhase(s, gardencorev1beta1.ProjectPhaseTerminating)
		return s.commit.Status(ctx, outcome, err)
	}
	return kit.Result(kit.Stop(), kit.DropFinalizer(ctx, r.Client, s.project, gardencorev1beta1.FinalizerGardener))
}

// begin is GCM-PROJECT-1: a new project is Pending before anything is made for it.
func (r *Reconciler) begin(_ context.Context, s *scope) (kit.Outcome, error) {
	if s.project.Status.Phase != "" {
		return kit.Continue(), nil
	}
	r.setPhase(s, gardencorev1beta1.ProjectPhasePending)
	return kit.Stop(), nil
}

// finish is the good half of GCM-PROJECT-9. The event tells of a change, not of every pass.
func (r *Reconciler) finish(_ context.Context, s *scope) (kit.Outcome, error) {
	if s.changed || s.project.Status.Phase != gardencorev1beta1.ProjectPhaseReady {
		r.event(s, corev1.EventTypeNormal, gardencorev1beta1.EventNamespaceReconcileSuccessful, "Namespace "+s.namespace()+" is ready")
	}
	r.setPhase(s, gardencorev1beta1.ProjectPhaseReady)
	return kit.Stop(), nil
}

// reportFailure is the bad half of GCM-PROJECT-9.
func (r *Reconciler) reportFailure(s *scope, err error) {
	if !kit.IsFailure(err) {
		return
	}
	r.event(s, corev1.EventTypeWarning, gardencorev1beta1.EventNamespaceReconcileFailed, err.Error())
	r.setPhase(s, gardencorev1beta1.ProjectPhaseFailed)
}

func (r *Reconciler) reportFailedDeletion(s *scope, err error) {
	if !kit.IsFailure(err) {
		return
	}
	r.event(s, corev1.EventTypeWarning, gardencorev1beta1.EventNamespaceDeletionFailed, err.Error())
}

func (r *Reconciler) setPhase(s *scope, phase gardencorev1beta1.ProjectPhase) {
	s.project.Status.Phase = phase
	s.project.Status.ObservedGeneration = s.project.Generation
}

func (r *Reconciler) event(s *scope, kind, reason, message string) {
	action := gardencorev1beta1.EventActionReconcile
	if s.project.DeletionTimestamp != nil {
		action = gardencorev1beta1.EventActionDelete
	}
	kit.Record(r.Recorder, s.project, kit.Notice{Type: kind, Reason: reason, Action: action, Message: message})
}
