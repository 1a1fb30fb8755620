// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"errors"
	"fmt"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// Reconcile judges one seed, and comes back after the sync period (GCM-SEEDLIFE-1).
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	seed := &gardencorev1beta1.Seed{}
	if err := r.Client.Get(ctx, request.NamespacedName, seed); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	commit := kit.Begin(r.Client, seed)
	outcome, err := kit.Run(ctx, seed, r.listen, r.renew, r.forgetShoots)
	return commit.Status(ctx, outcome, err)
}

// listen is GCM-SEEDLIFE-1 to GCM-SEEDLIFE-3. It goes on only with a seed that is silent.
func (r *Reconciler) listen(ctx context.Context, seed *gardencorev1beta1.Seed) (kit.Outcome, error) {
	again := kit.RequeueAfter(r.Config.SyncPeriod.Duration)
	if len(seed.Status.Conditions) == 0 {
		return again, nil
	}
	lease, err := r.lease(ctx, seed.Name)
	if err != nil {
		return again, err
	}
	if Alive(lease, r.Config.MonitorPeriod.Duration, r.Clock.Now()) {
		return again, nil
	}
	if kit.ConditionIs(seed.Status.Conditions, gardencorev1beta1.ConditionTypeGardenletReady, gardencorev1beta1.ConditionTrue) {
		logf.FromContext(ctx).Info("Gardenlet fell silent", "monitorPeriod", r.Config.MonitorPeriod.Duration)
	}
	seed.Status.Conditions = Silence(seed.Status.Conditions, r.Clock.Now())
	return kit.RecheckAfter(r.Config.SyncPeriod.Duration), nil
}

func (r *Reconciler) lease(ctx context.Context, seed string) (*coordinationv1.Lease, error) {
	lease := &coordinationv1.Lease{}
	err := r.Reader.Get(ctx, client.ObjectKey{Namespace: gardencorev1beta1.NamespaceSeedLease, Name: seed}, lease)
	if apierrors.IsNotFound(err) {
		return nil, nil //nolint:nilnil // No lease is an answer: the gardenlet has not been heard.
	}
	if err != nil {
		return nil, fmt.Errorf("read lease of seed %q: %w", seed, err)
	}
	return lease, nil
}

// renew has a gardenlet whose certificate is over deployed again, if it belongs to a ManagedSeed (GCM-SEEDLIFE-4).
func (r *Reconciler) renew(ctx context.Context, seed *gardencorev1beta1.Seed) (kit.Outcome, error) {
	if !Expired(seed, r.Clock.Now()) {
		return kit.Continue(), nil
	}
	managed := &gardenseedmanagementv1alpha1.ManagedSeed{}
	key := client.ObjectKey{Namespace: gardencorev1beta1.NamespaceGarden, Name: seed.Name}
	if err := r.Reader.Get(ctx, key, managed); err != nil {
		if apierrors.IsNotFound(err) {
			return kit.Continue(), nil
		}
		return kit.Continue(), fmt.Errorf("read managed seed %q: %w", key, err)
	}
	commit := kit.Begin(r.Client, managed)
	metav1.SetMetaDataAnnotation(&managed.ObjectMeta, gardencorev1beta1.AnnotationOperation, gardencorev1beta1.OperationReconcile)
	return kit.Continue(), client.IgnoreNotFound(commit.WriteObject(ctx))
}

// forgetShoots is GCM-SEEDLIFE-5. A shoot that fails to be written does not hold up the others.
func (r *Reconciler) forgetShoots(ctx context.Context, seed *gardencorev1beta1.Seed) (kit.Outcome, error) {
	now := r.Clock.Now()
	if !ShootsUnknown(seed.Status.Conditions, r.Config.ShootMonitorPeriod.Duration, now) {
		return kit.Continue(), nil
	}
	shoots := &gardencorev1beta1.ShootList{}
	if err := r.Client.List(ctx, shoots, client.UnsafeDisableDeepCopy); err != nil {
		return kit.Stop(), fmt.Errorf("list shoots: %w", err)
	}
	var errs []error
	for i := range shoots.Items {
		if running := shoots.Items[i].Status.SeedName; running == nil || *running != seed.Name {
			continue
		}
		shoot := shoots.Items[i].DeepCopy()
		commit := kit.Begin(r.Client, shoot)
		Forget(&shoot.Status, now)
		errs = append(errs, client.IgnoreNotFound(commit.WriteStatus(ctx)))
	}
	return kit.Continue(), errors.Join(errs...)
}
