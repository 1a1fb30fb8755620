// SPDX-License-Identifier: Apache-2.0

// Package cloudprofile writes the stage of life of each version into the status of its CloudProfile (GCM-CLOUDPROFILE-2).
package cloudprofile

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const controllerName = "cloudprofile-status"

// Reconciler keeps the status of CloudProfiles up to date.
type Reconciler struct {
	kit.Base

	// Config is the section of the configuration.
	Config gardenconfigv1alpha1.ConcurrencyConfiguration
}

// AddToManager implements kit.Adder. Spec and status themselves are compared, because profiles have no generation, and a status
// that somebody else wrote is written again.
func (r *Reconciler) AddToManager(clusters kit.Clusters) error {
	content := func(profile *gardencorev1beta1.CloudProfile) any { return []any{profile.Spec, profile.Status} }
	b := r.Controller(clusters, controllerName, kit.Workers(r.Config.ConcurrentSyncs)).
		For(&gardencorev1beta1.CloudProfile{}, builder.WithPredicates(kit.Changed(content)))
	return kit.Complete(b, controllerName, reconcile.AsReconciler(r.Client, r))
}

// Reconcile writes the stage of life of each version, and requeues the profile for when the first of them enters the next
// one (GCM-CLOUDPROFILE-2).
func (r *Reconciler) Reconcile(ctx context.Context, profile *gardencorev1beta1.CloudProfile) (reconcile.Result, error) {
	if profile.DeletionTimestamp != nil {
		return reconcile.Result{}, nil
	}
	commit := kit.Begin(r.Client, profile)
	now := r.Clock.Now()
	status, next := Status(&profile.Spec, now)
	profile.Status = status
	if next.IsZero() {
		return commit.Status(ctx, kit.Stop(), nil)
	}
	return commit.Status(ctx, kit.RequeueAfter(kit.Until(next.Sub(now))), nil)
}

// Status lists the stage of life of each version at the time now, and returns when the first of them enters the next one.
// That time is zero if none will.
func Status(spec *gardencorev1beta1.CloudProfileSpec, now time.Time) (gardencorev1beta1.CloudProfileStatus, time.Time) {
	var next time.Time
	stages := func(versions []gardencorev1beta1.ExpirableVersion) []gardencorev1beta1.ExpirableVersionStatus {
		all := make([]gardencorev1beta1.ExpirableVersionStatus, 0, len(versions))
		for _, v := range versions {
			all = append(all, gardencorev1beta1.ExpirableVersionStatus{Version: v.Version, Classification: query.Stage(v, now)})
			if change, ok := query.NextStage(v, now); ok && (next.IsZero() || change.Before(next)) {
				next = change
			}
		}
		return all
	}
	status := gardencorev1beta1.CloudProfileStatus{}
	if len(spec.Kubernetes.Versions) > 0 {
		status.Kubernetes = &gardencorev1beta1.KubernetesStatus{Versions: stages(spec.Kubernetes.Versions)}
	}
	for _, image := range spec.MachineImages {
		versions := make([]gardencorev1beta1.ExpirableVersion, 0, len(image.Versions))
		for _, v := range image.Versions {
			versions = append(versions, v.ExpirableVersion)
		}
		status.MachineImages = append(status.MachineImages, gardencorev1beta1.MachineImageStatus{Name: image.Name, Versions: stages(versions)})
	}
	return status, next
}
