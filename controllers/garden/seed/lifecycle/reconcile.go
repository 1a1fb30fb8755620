// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/garden/heartbeat"
	"github.com/terrarium-garden/terrarium/controllers/garden/seed/hosted"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const controllerName = "seed-lifecycle"

// Reconciler checks the heartbeats of the gardenlets of seeds.
type Reconciler struct {
	kit.Base

	// Config is the section of the configuration.
	Config gardenconfigv1alpha1.ServerSeedControllerConfiguration

	heartbeats heartbeat.Listener
}

// AddToManager implements kit.Adder.
func (r *Reconciler) AddToManager(clusters kit.Clusters) error {
	b := r.Controller(clusters, controllerName, kit.Workers(r.Config.ConcurrentSyncs)).
		For(&gardencorev1beta1.Seed{}, builder.WithPredicates(predicate.GenerationChangedPredicate{}))
	return kit.Complete(b, controllerName, reconcile.AsReconciler(r.Client, r))
}

// Reconcile checks one seed, and again after the sync period (GCM-SEEDLIFE-1).
func (r *Reconciler) Reconcile(ctx context.Context, seed *gardencorev1beta1.Seed) (reconcile.Result, error) {
	commit := kit.Begin(r.Client, seed)
	outcome, err := kit.Run(ctx, seed, r.listen, r.follow)
	return commit.Status(ctx, outcome, err)
}

func (r *Reconciler) listen(ctx context.Context, seed *gardencorev1beta1.Seed) (kit.Outcome, error) {
	return r.heartbeats.Listen(ctx, &r.Base, r.Config, heartbeat.Sender{
		Object: seed, Lease: client.ObjectKey{Namespace: gardencorev1beta1.NamespaceSeedLease, Name: seed.Name}, Conditions: &seed.Status.Conditions,
	})
}

// follow does what follows from the silence. A ManagedSeed that cannot be written does not keep users from learning that nobody looks at
// their shoots, nor the other way round.
func (r *Reconciler) follow(ctx context.Context, seed *gardencorev1beta1.Seed) (kit.Outcome, error) {
	return kit.Continue(), errors.Join(r.renew(ctx, seed), r.forgetShoots(ctx, seed))
}

// Expired reports whether the certificate of the gardenlet has expired, so that it cannot connect any more
// (GCM-SEEDLIFE-4).
func Expired(seed *gardencorev1beta1.Seed, now time.Time) bool {
	until := seed.Status.ClientCertificateExpirationTimestamp
	return until != nil && !now.Before(until.Time)
}

// renew has the gardenlet of a ManagedSeed deployed again if its certificate has expired (GCM-SEEDLIFE-4).
func (r *Reconciler) renew(ctx context.Context, seed *gardencorev1beta1.Seed) error {
	if !Expired(seed, r.Clock.Now()) {
		return nil
	}
	managed := &gardenseedmanagementv1alpha1.ManagedSeed{}
	key := client.ObjectKey{Namespace: gardencorev1beta1.NamespaceGarden, Name: seed.Name}
	if err := r.Reader.Get(ctx, key, managed); err != nil {
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("read managed seed %q: %w", key, err)
	}
	commit := kit.Begin(r.Client, managed)
	metav1.SetMetaDataAnnotation(&managed.ObjectMeta, gardencorev1beta1.AnnotationOperation, gardencorev1beta1.OperationReconcile)
	return client.IgnoreNotFound(commit.WriteObject(ctx))
}

// forgetShoots sets the conditions of the seed's shoots to Unknown (GCM-SEEDLIFE-5). One that cannot be written does not hold up
// the others.
func (r *Reconciler) forgetShoots(ctx context.Context, seed *gardencorev1beta1.Seed) error {
	now := r.Clock.Now()
	if !heartbeat.Lost(seed.Status.Conditions, r.Config.ShootMonitorPeriod.Duration, now) {
		return nil
	}
	shoots, err := hosted.Shoots(ctx, r.Client, seed.Name)
	if err != nil {
		return err
	}
	var errs []error
	for i := range shoots {
		if running := shoots[i].Status.SeedName; running == nil || *running != seed.Name {
			continue
		}
		shoot := shoots[i].DeepCopy()
		commit := kit.Begin(r.Client, shoot)
		heartbeat.Forget(shoot, now)
		errs = append(errs, client.IgnoreNotFound(commit.WriteStatus(ctx)))
	}
	return errors.Join(errs...)
}
