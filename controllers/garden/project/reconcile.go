// SPDX-License-Identifier: Apache-2.0

package project

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const controllerName = "project"

// Reconciler reconciles projects. It reads around the cache whether a project is empty before its namespace is deleted.
type Reconciler struct {
	kit.Base

	// Config is the section of the configuration.
	Config gardenconfigv1alpha1.ServerProjectControllerConfiguration
}

// AddToManager implements kit.Adder. Everything created for a project is owned by it, so that each edit starts another pass
// (GCM-PROJECT-13). The deletion of a Shoot enqueues the project in deletion that waits for it (GCM-PROJECT-10), and the ClusterRole of an
// extension those whose members hold the role that it adds to (GCM-PROJECT-8).
func (r *Reconciler) AddToManager(clusters kit.Clusters) error {
	b := r.Controller(clusters, controllerName, kit.Workers(r.Config.ConcurrentSyncs))
	// The quota controller writes the status of quotas, which have no generation to tell such changes apart.
	quota := func(quota *corev1.ResourceQuota) any {
		return []any{quota.Spec, quota.Labels, quota.Annotations, quota.OwnerReferences}
	}
	b.For(&gardencorev1beta1.Project{}).
		Owns(&corev1.Namespace{}).
		Owns(&corev1.ResourceQuota{}, builder.WithPredicates(kit.Changed(quota))).
		Owns(&rbacv1.ClusterRole{}).
		Owns(&rbacv1.ClusterRoleBinding{}).
		Owns(&rbacv1.RoleBinding{}).
		Watches(&gardencorev1beta1.Shoot{}, Emptied(r.Client), builder.WithPredicates(deletions())).
		Watches(&rbacv1.ClusterRole{}, Defined(r.Client), builder.WithPredicates(kit.Touching(isPart)))
	return kit.Complete(b, controllerName, reconcile.AsReconciler(r.Client, r))
}

// Emptied enqueues the project in deletion that a shoot has kept from ending. The reader must read from the cache.
func Emptied(reader client.Reader) handler.EventHandler {
	return kit.EnqueueMatching(reader, &gardencorev1beta1.ProjectList{}, func(shoot client.Object, project *gardencorev1beta1.Project) bool {
		return project.DeletionTimestamp != nil && project.Spec.Namespace != nil && *project.Spec.Namespace == shoot.GetNamespace()
	})
}

// Defined enqueues the projects whose members hold an extension role that gets its rules from a ClusterRole, or did. The reader must read
// from the cache.
func Defined(reader client.Reader) handler.EventHandler {
	return kit.EnqueueMatching(reader, &gardencorev1beta1.ProjectList{}, func(part client.Object, project *gardencorev1beta1.Project) bool {
		_, held := MembersOf(project).Extensions[part.GetLabels()[gardencorev1beta1.LabelAggregateToExtensionRole]]
		return held
	})
}

// isPart reports whether a ClusterRole adds rules to an extension role.
func isPart(role *rbacv1.ClusterRole) bool {
	_, is := role.Labels[gardencorev1beta1.LabelAggregateToExtensionRole]
	return is
}

func deletions() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc:  func(event.CreateEvent) bool { return false },
		UpdateFunc:  func(event.UpdateEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}

// scope is one pass over one project.
type scope struct {
	project *gardencorev1beta1.Project
	commit  *kit.Commit
	// changed reports whether this pass wrote the namespace.
	changed bool
}

// namespace is the name of the project's namespace. It is empty until claimNamespace has set it.
func (s *scope) namespace() string {
	if s.project.Spec.Namespace == nil {
		return ""
	}
	return *s.project.Spec.Namespace
}

// Reconcile brings one project to the state in its spec, or deletes what was created for it.
func (r *Reconciler) Reconcile(ctx context.Context, project *gardencorev1beta1.Project) (reconcile.Result, error) {
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
	if kit.IsFailure(err) {
		r.event(s, corev1.EventTypeWarning, gardencorev1beta1.EventNamespaceReconcileFailed, err.Error())
		r.setPhase(s, gardencorev1beta1.ProjectPhaseFailed)
	}
	return s.commit.Status(ctx, outcome, err)
}

func (r *Reconciler) delete(ctx context.Context, s *scope) (reconcile.Result, error) {
	if !controllerutil.ContainsFinalizer(s.project, gardencorev1beta1.FinalizerGardener) {
		return reconcile.Result{}, nil
	}
	s.commit = kit.Begin(r.Client, s.project)
	outcome, err := kit.Run(ctx, s, r.waitForShoots, r.releaseNamespace)
	if err != nil || outcome.Stopped() {
		if kit.IsFailure(err) {
			r.event(s, corev1.EventTypeWarning, gardencorev1beta1.EventNamespaceDeletionFailed, err.Error())
		}
		r.setPhase(s, gardencorev1beta1.ProjectPhaseTerminating)
		return s.commit.Status(ctx, outcome, err)
	}
	return kit.Result(kit.Stop(), kit.DropFinalizer(ctx, r.Client, s.project, gardencorev1beta1.FinalizerGardener))
}

// begin sets a new project to Pending before anything is created for it (GCM-PROJECT-1).
func (r *Reconciler) begin(_ context.Context, s *scope) (kit.Outcome, error) {
	if s.project.Status.Phase != "" {
		return kit.Continue(), nil
	}
	r.setPhase(s, gardencorev1beta1.ProjectPhasePending)
	return kit.Stop(), nil
}

// finish sets the project to Ready (GCM-PROJECT-9). It records an event only if something changed.
func (r *Reconciler) finish(_ context.Context, s *scope) (kit.Outcome, error) {
	if s.changed || s.project.Status.Phase != gardencorev1beta1.ProjectPhaseReady {
		r.event(s, corev1.EventTypeNormal, gardencorev1beta1.EventNamespaceReconcileSuccessful, "Namespace "+s.namespace()+" is ready")
	}
	r.setPhase(s, gardencorev1beta1.ProjectPhaseReady)
	return kit.Stop(), nil
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
