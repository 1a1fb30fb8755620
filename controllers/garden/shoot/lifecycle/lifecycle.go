// SPDX-License-Identifier: Apache-2.0

// Package lifecycle notices that the gardenlet of a self-hosted shoot stopped sending heartbeats (GCM-SEEDLIFE-6). It does for such a Shoot
// what the lifecycle of seeds does for a Seed: if the lease in the namespace of the Shoot is not renewed in time, the condition GardenletReady
// becomes Unknown. If it stays so, all conditions that the gardenlet reports become Unknown too. Shoots on seeds cost nothing here.
package lifecycle

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/garden/heartbeat"
	"github.com/terrarium-garden/terrarium/controllers/garden/shoot/selfhosted"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const controllerName = "shoot-lifecycle"

// Reconciler checks the heartbeats of the gardenlets of self-hosted shoots.
type Reconciler struct {
	kit.Base

	// Config is the section of the configuration, which is that of seeds: the same gardenlet sends the same heartbeats.
	Config gardenconfigv1alpha1.ServerSeedControllerConfiguration

	heartbeats heartbeat.Listener
}

// AddToManager implements kit.Adder.
func (r *Reconciler) AddToManager(clusters kit.Clusters) error {
	b := r.Controller(clusters, controllerName, kit.Workers(r.Config.ConcurrentSyncs)).
		For(&gardencorev1beta1.Shoot{}, builder.WithPredicates(kit.Matching(selfhosted.Is), kit.Changed(connected)))
	return kit.Complete(b, controllerName, reconcile.AsReconciler(r.Client, r))
}

// connected reports whether a shoot has had a gardenlet. Nothing else starts a pass: it is looked at again by itself from then on.
func connected(shoot *gardencorev1beta1.Shoot) any { return len(shoot.Status.Conditions) > 0 }

// Reconcile checks one shoot, and again after the sync period. One that has never had a gardenlet is not checked again before it has one
// (GCM-SEEDLIFE-6).
func (r *Reconciler) Reconcile(ctx context.Context, shoot *gardencorev1beta1.Shoot) (reconcile.Result, error) {
	if len(shoot.Status.Conditions) == 0 {
		return reconcile.Result{}, nil
	}
	commit := kit.Begin(r.Client, shoot)
	outcome, err := kit.Run(ctx, shoot, r.listen, r.forget)
	return commit.Status(ctx, outcome, err)
}

func (r *Reconciler) listen(ctx context.Context, shoot *gardencorev1beta1.Shoot) (kit.Outcome, error) {
	return r.heartbeats.Listen(ctx, &r.Base, r.Config, heartbeat.Sender{
		Object:     shoot,
		Lease:      client.ObjectKey{Namespace: shoot.Namespace, Name: gardencorev1beta1.LeasePrefixSelfHostedShoot + shoot.Name},
		Conditions: &shoot.Status.Conditions,
	})
}

// forget sets to Unknown what the gardenlet reports, when it has been silent for long. Both are written at once, with the condition of the
// gardenlet.
func (r *Reconciler) forget(_ context.Context, shoot *gardencorev1beta1.Shoot) (kit.Outcome, error) {
	if now := r.Clock.Now(); heartbeat.Lost(shoot.Status.Conditions, r.Config.ShootMonitorPeriod.Duration, now) {
		heartbeat.Forget(shoot, now)
	}
	return kit.Continue(), nil
}
