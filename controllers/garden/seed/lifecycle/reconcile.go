// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/garden/seed/hosted"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const controllerName = "seed-lifecycle"

// Reconciler checks the heartbeats of gardenlets. It reads leases around the cache, because they change every two seconds.
type Reconciler struct {
	kit.Base

	// Config is the section of the configuration.
	Config gardenconfigv1alpha1.ServerSeedControllerConfiguration

	// good has until when each seed is alive, by what was read last, by its UID.
	good sync.Map
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

// listen reads the lease of the seed. Only if that was not renewed in time does it set the condition and go on with the next
// phase (GCM-SEEDLIFE-1 to GCM-SEEDLIFE-3).
func (r *Reconciler) listen(ctx context.Context, seed *gardencorev1beta1.Seed) (kit.Outcome, error) {
	again := kit.RequeueAfter(r.Config.SyncPeriod.Duration)
	if len(seed.Status.Conditions) == 0 {
		return again, nil
	}
	if alive, err := r.alive(ctx, seed); alive || err != nil {
		return again, err
	}
	if kit.ConditionIs(seed.Status.Conditions, gardencorev1beta1.ConditionTypeGardenletReady, gardencorev1beta1.ConditionTrue) {
		logf.FromContext(ctx).Info("Gardenlet stopped sending heartbeats", "monitorPeriod", r.Config.MonitorPeriod.Duration)
	}
	seed.Status.Conditions = Silence(seed.Status.Conditions, r.Clock.Now())
	return kit.RecheckAfter(r.Config.SyncPeriod.Duration), nil
}

// alive reports whether a seed is alive. A renewal that was seen is good for the whole period, so the lease is read once in it and not each
// time that the seed is looked at. It is no longer good than from now on, whatever the clock of the gardenlet says.
func (r *Reconciler) alive(ctx context.Context, seed *gardencorev1beta1.Seed) (bool, error) {
	now, period := r.Clock.Now(), r.Config.MonitorPeriod.Duration
	if until, ok := r.good.Load(seed.UID); ok && now.Before(until.(time.Time)) { //nolint:forcetypeassert // Only times are stored.
		return true, nil
	}
	r.good.Delete(seed.UID)
	lease, err := r.lease(ctx, seed.Name)
	if err != nil || !Alive(lease, period, now) {
		return false, err
	}
	until := lease.Spec.RenewTime.Add(period)
	if latest := now.Add(period); until.After(latest) {
		until = latest
	}
	if seed.DeletionTimestamp == nil {
		r.good.Store(seed.UID, until)
	}
	return true, nil
}

func (r *Reconciler) lease(ctx context.Context, seed string) (*coordinationv1.Lease, error) {
	lease := &coordinationv1.Lease{}
	err := r.Reader.Get(ctx, client.ObjectKey{Namespace: gardencorev1beta1.NamespaceSeedLease, Name: seed}, lease)
	if apierrors.IsNotFound(err) {
		return nil, nil //nolint:nilnil // Without a lease, the gardenlet has never sent a heartbeat.
	}
	if err != nil {
		return nil, fmt.Errorf("read lease of seed %q: %w", seed, err)
	}
	return lease, nil
}

// follow does what follows from the silence. A ManagedSeed that cannot be written does not keep users from learning that nobody looks at
// their shoots, nor the other way round.
func (r *Reconciler) follow(ctx context.Context, seed *gardencorev1beta1.Seed) (kit.Outcome, error) {
	return kit.Continue(), errors.Join(r.renew(ctx, seed), r.forgetShoots(ctx, seed))
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
	if !ShootsUnknown(seed.Status.Conditions, r.Config.ShootMonitorPeriod.Duration, now) {
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
		Forget(shoot, now)
		errs = append(errs, client.IgnoreNotFound(commit.WriteStatus(ctx)))
	}
	return errors.Join(errs...)
}
