// SPDX-License-Identifier: Apache-2.0

package stale

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const controllerName = "project-stale"

// Reconciler finds stale projects. It reads around the cache before it deletes one.
type Reconciler struct {
	kit.Base

	// Config is the section of the configuration.
	Config gardenconfigv1alpha1.ServerProjectControllerConfiguration
}

// AddToManager implements kit.Adder. Of the changes of a project, only activity in it and its namespace count.
func (r *Reconciler) AddToManager(clusters kit.Clusters) error {
	b := r.Controller(clusters, controllerName, kit.Workers(r.Config.ConcurrentSyncs)).
		For(&gardencorev1beta1.Project{}, builder.WithPredicates(kit.Changed(facts)))
	return kit.Complete(b, controllerName, reconcile.AsReconciler(r.Client, r))
}

func facts(project *gardencorev1beta1.Project) any {
	return []any{project.Status.LastActivityTimestamp, project.Spec.Namespace}
}

// Reconcile notes whether one project is stale, and deletes it when its time has come; and again after the sync period
// (GCM-STALE-1). The time of deletion is written before it is acted upon, so that it can always be seen why a project went.
func (r *Reconciler) Reconcile(ctx context.Context, project *gardencorev1beta1.Project) (reconcile.Result, error) {
	again := kit.RequeueAfter(r.Config.StaleSyncPeriod.Duration)
	stale, judged, err := r.judge(ctx, r.Client, project)
	if err != nil || !judged {
		return kit.Result(again, err)
	}
	now := r.Clock.Now()
	commit := kit.Begin(r.Client, project)
	Note(&project.Status, stale, r.periods(), now)
	if err := commit.WriteStatus(ctx); err != nil {
		return kit.Result(again, client.IgnoreNotFound(err))
	}
	if !Due(&project.Status, now) {
		return kit.Result(again, nil)
	}
	return kit.Result(again, r.remove(ctx, project))
}

// judge reports whether a project is stale. A project in deletion, or without a namespace, is not judged (GCM-STALE-2).
func (r *Reconciler) judge(ctx context.Context, reader client.Reader, project *gardencorev1beta1.Project) (stale, judged bool, err error) {
	home := client.ObjectKey{Name: ptr.Deref(project.Spec.Namespace, "")}
	if project.DeletionTimestamp != nil || home.Name == "" {
		return false, false, nil
	}
	if Active(project, r.periods().Minimum, r.Clock.Now()) {
		return false, true, nil
	}
	namespace := &corev1.Namespace{}
	if err := reader.Get(ctx, home, namespace); err != nil {
		if apierrors.IsNotFound(err) {
			return false, false, nil
		}
		return false, false, fmt.Errorf("read namespace %q: %w", home.Name, err)
	}
	if Exempt(namespace) {
		return false, true, nil
	}
	used, err := inUse(ctx, reader, namespace.Name)
	return !used, err == nil, err
}

// remove judges a project again by what the server has now, and deletes it if it is still stale and due (GCM-STALE-6). If
// something happens in the project meanwhile, that changes its status, and the deletion fails with a conflict. A shoot that is
// created at the very same time is not lost, because the project in deletion waits for it.
func (r *Reconciler) remove(ctx context.Context, project *gardencorev1beta1.Project) error {
	live := &gardencorev1beta1.Project{}
	if err := r.Reader.Get(ctx, client.ObjectKeyFromObject(project), live); err != nil {
		return client.IgnoreNotFound(err)
	}
	stale, judged, err := r.judge(ctx, r.Reader, live)
	if err != nil || !judged || !stale || live.UID != project.UID || !Due(&live.Status, r.Clock.Now()) {
		return err
	}
	logf.FromContext(ctx).Info("Project is deleted because nobody uses it", "since", live.Status.StaleSinceTimestamp.UTC())
	return kit.DeleteConfirmed(ctx, r.Client, live)
}

func (r *Reconciler) periods() Periods {
	return Periods{
		Minimum:    days(r.Config.MinimumLifetimeDays),
		Grace:      days(r.Config.StaleGracePeriodDays),
		Expiration: days(r.Config.StaleExpirationTimeDays),
	}
}

func days(n *int) time.Duration { return time.Duration(*n) * 24 * time.Hour }
