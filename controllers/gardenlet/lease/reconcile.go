// SPDX-License-Identifier: Apache-2.0

// Package lease is the heartbeat of a gardenlet: as long as the API server of the seed answers, it renews the seed's
// lease in the garden and keeps the condition GardenletReady True.
//
// When either fails, the heartbeat only stops: the garden acts on a lease that goes stale, and Health reports it to the process.
package lease

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const controllerName = "lease"

var _ kit.Adder = (*Reconciler)(nil)

// Reconciler sends the heartbeat of one seed.
type Reconciler struct {
	kit.SeedBase

	// Probe asks the API server of the seed whether it is healthy.
	Probe func(ctx context.Context) error
	// Health is true while heartbeats succeed. It is required.
	Health *Health
	// Notes are annotations of the lease that tell about the gardenlet; it may be nil and may return nil.
	Notes func() map[string]string
	// Config is the section of the configuration.
	Config *gardenconfigv1alpha1.SeedControllerConfiguration
}

// AddToManager implements kit.Adder.
func (r *Reconciler) AddToManager(clusters kit.Clusters) error {
	var err error
	if r.Probe, err = NewProbe(clusters.Seed.GetConfig()); err != nil {
		return err
	}
	b := r.Controller(clusters, controllerName, kit.Queue{Concurrency: 1, BaseDelay: r.period() / 10, MaxDelay: r.period()}).
		For(&gardencorev1beta1.Seed{}, builder.WithPredicates(r.begins()))
	return kit.Complete(b, controllerName, r)
}

// period is the time between two heartbeats, and the longest one of them may take.
func (r *Reconciler) period() time.Duration {
	return time.Duration(*r.Config.LeaseResyncSeconds) * time.Second
}

// begins lets only the appearance of the own seed start the heartbeat; from then on it keeps itself going.
func (r *Reconciler) begins() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool { return e.Object.GetName() == r.SeedName },
		UpdateFunc: func(event.UpdateEvent) bool { return false },
		DeleteFunc: func(event.DeleteEvent) bool { return false },
	}
}

// Reconcile sends one heartbeat. The next one follows after the period, or after a short backoff if this one failed.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	seed := &gardencorev1beta1.Seed{}
	if err := r.GardenClient.Get(ctx, request.NamespacedName, seed); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if err := r.beat(ctx, seed); err != nil {
		r.Health.Set(false)
		return reconcile.Result{}, err
	}
	r.Health.Set(true)

	commit := kit.Begin(r.GardenClient, seed)
	seed.Status.Conditions = kit.SetCondition(seed.Status.Conditions, Ready(), r.Clock.Now())
	return commit.Status(ctx, kit.RequeueAfter(r.period()), nil)
}

// beat probes the seed and renews the lease, both within one period.
func (r *Reconciler) beat(ctx context.Context, seed *gardencorev1beta1.Seed) error {
	ctx, cancel := context.WithTimeout(ctx, r.period())
	defer cancel()
	if err := r.Probe(ctx); err != nil {
		return err
	}
	renewed := Renewed(seed, r.period(), r.Clock.Now())
	if r.Notes != nil {
		renewed.Annotations = r.Notes()
	}
	return r.renew(ctx, renewed)
}

// renew needs a single request, because this is the most frequent write in a garden.
func (r *Reconciler) renew(ctx context.Context, lease *coordinationv1.Lease) error {
	about := map[string]any{"ownerReferences": lease.OwnerReferences}
	if len(lease.Annotations) > 0 {
		about["annotations"] = lease.Annotations
	}
	patch, err := json.Marshal(map[string]any{"metadata": about, "spec": lease.Spec})
	if err != nil {
		return fmt.Errorf("encode lease %q: %w", lease.Name, err)
	}
	err = r.GardenClient.Patch(ctx, lease.DeepCopy(), client.RawPatch(types.MergePatchType, patch))
	if apierrors.IsNotFound(err) {
		err = r.GardenClient.Create(ctx, lease)
	}
	if err != nil {
		return fmt.Errorf("renew lease %q: %w", lease.Name, err)
	}
	return nil
}

// Renewed is the lease of a seed that was renewed at that time (GLET-LEASE-2).
func Renewed(seed *gardencorev1beta1.Seed, period time.Duration, now time.Time) *coordinationv1.Lease {
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: gardencorev1beta1.NamespaceSeedLease,
			Name:      seed.Name,
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: gardencorev1beta1.GroupVersion.String(), Kind: "Seed", Name: seed.Name, UID: seed.UID,
			}},
		},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity:       &seed.Name,
			LeaseDurationSeconds: new(int32(period / time.Second)), //nolint:gosec // a period is a few seconds
			RenewTime:            &metav1.MicroTime{Time: now},
		},
	}
}

// Ready is the condition of the Seed while heartbeats succeed.
func Ready() gardencorev1beta1.Condition {
	return gardencorev1beta1.Condition{
		Type:    gardencorev1beta1.ConditionTypeGardenletReady,
		Status:  gardencorev1beta1.ConditionTrue,
		Reason:  gardencorev1beta1.ReasonGardenletReady,
		Message: "The gardenlet sends its heartbeat, and the API server of the seed is healthy",
	}
}
