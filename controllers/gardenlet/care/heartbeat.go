// SPDX-License-Identifier: Apache-2.0

package care

import (
	"context"
	"fmt"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/extensions"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/reports"
)

const (
	heartbeatLease = "gardener-extension-heartbeat"
	// beatsPeriod is how long heartbeats that were read are good for the checks of all shoots.
	beatsPeriod = 30 * time.Second
)

// beats are the last heartbeats of the extensions of a seed, by what they offer. Zero is one that never came. An extension of which
// no installation is known has none.
type beats map[extensions.Offer]time.Time

// heart reads heartbeats, once for all shoots.
type heart struct {
	mu    sync.Mutex
	known beats
	read  time.Time
}

// beats returns the heartbeats of the seed's extensions.
func (r *Reconciler) beats(ctx context.Context) (beats, error) {
	r.heart.mu.Lock()
	defer r.heart.mu.Unlock()
	now := r.Clock.Now()
	if r.heart.known != nil && now.Sub(r.heart.read) < beatsPeriod {
		return r.heart.known, nil
	}
	known, err := r.readBeats(ctx)
	if err != nil {
		return nil, err
	}
	r.heart.known, r.heart.read = known, now
	return known, nil
}

func (r *Reconciler) readBeats(ctx context.Context) (beats, error) {
	installations := &gardencorev1beta1.ControllerInstallationList{}
	if err := r.GardenClient.List(ctx, installations); err != nil {
		return nil, fmt.Errorf("list controller installations: %w", err)
	}
	known := beats{}
	for i := range installations.Items {
		installation := &installations.Items[i]
		if seed := installation.Spec.SeedRef; seed == nil || seed.Name != r.SeedName {
			continue
		}
		registration := &gardencorev1beta1.ControllerRegistration{}
		err := r.GardenReader.Get(ctx, client.ObjectKey{Name: installation.Spec.RegistrationRef.Name}, registration)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("get controller registration %q: %w", installation.Spec.RegistrationRef.Name, err)
		}
		last, err := r.lastBeat(ctx, gardencorev1beta1.NamespacePrefixExtension+installation.Name)
		if err != nil {
			return nil, err
		}
		for _, resource := range registration.Spec.Resources {
			if offer := extensions.OfferOf(resource); last.After(known[offer]) || known[offer].IsZero() {
				known[offer] = last
			}
		}
	}
	return known, nil
}

// lastBeat returns when an extension last renewed its lease; zero if it never did.
func (r *Reconciler) lastBeat(ctx context.Context, namespace string) (time.Time, error) {
	lease := &coordinationv1.Lease{}
	err := r.SeedClient.Get(ctx, client.ObjectKey{Namespace: namespace, Name: heartbeatLease}, lease)
	if apierrors.IsNotFound(err) || err == nil && lease.Spec.RenewTime == nil {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("get heartbeat in namespace %q: %w", namespace, err)
	}
	return lease.Spec.RenewTime.Time, nil
}

// age marks reports whose extensions are silent: what they said once may not be so any more (GLET-CARE-16).
func (r *Reconciler) age(ctx context.Context, all []reports.Report) error {
	checks := r.Config.StaleExtensionHealthChecks
	if len(all) == 0 || checks == nil || !checks.Enabled || checks.Threshold == nil {
		return nil
	}
	known, err := r.beats(ctx)
	if err != nil {
		return err
	}
	for i := range all {
		last, installed := known[extensions.Offer{Kind: all[i].Kind, Type: all[i].Type}]
		all[i].Stale = installed && r.Clock.Since(last) > checks.Threshold.Duration
	}
	return nil
}
