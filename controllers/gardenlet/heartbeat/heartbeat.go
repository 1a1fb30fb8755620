// SPDX-License-Identifier: Apache-2.0

// Package heartbeat tells which extensions of a seed are silent. What such an extension has reported once, about a shoot or about the
// seed, may not be so any more.
package heartbeat

import (
	"context"
	"fmt"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/extensions"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/reports"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const (
	lease = "gardener-extension-heartbeat"
	// period is how long heartbeats that were read are good for all who ask.
	period = 30 * time.Second
)

// beats are the last heartbeats of the extensions of a seed, by what they offer. Zero is one that never came. An extension of which
// no installation is known has none.
type beats map[extensions.Offer]time.Time

// Monitor reads heartbeats, once for all who ask. Its zero value has read none.
type Monitor struct {
	mu    sync.Mutex
	known beats
	read  time.Time
}

// Age marks the reports of extensions that are silent for longer than the checks allow (GLET-CARE-16, EXT-HEALTH-3). Without reports, or
// if nobody wants the checks, nothing is read.
func (m *Monitor) Age(ctx context.Context, base *kit.SeedBase, checks *gardenconfigv1alpha1.StaleExtensionHealthChecks, all []reports.Report) error {
	if len(all) == 0 || checks == nil || !checks.Enabled || checks.Threshold == nil {
		return nil
	}
	known, err := m.beats(ctx, base)
	if err != nil {
		return err
	}
	for i := range all {
		last, installed := known[extensions.Offer{Kind: all[i].Kind, Type: all[i].Type}]
		all[i].Stale = installed && base.Clock.Since(last) > checks.Threshold.Duration
	}
	return nil
}

// beats returns the heartbeats of the seed's extensions.
func (m *Monitor) beats(ctx context.Context, base *kit.SeedBase) (beats, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := base.Clock.Now()
	if m.known != nil && now.Sub(m.read) < period {
		return m.known, nil
	}
	known, err := read(ctx, base)
	if err != nil {
		return nil, err
	}
	m.known, m.read = known, now
	return known, nil
}

// read finds the lease of each extension by its installation (EXT-HB-2).
func read(ctx context.Context, base *kit.SeedBase) (beats, error) {
	installations := &gardencorev1beta1.ControllerInstallationList{}
	if err := base.GardenClient.List(ctx, installations); err != nil {
		return nil, fmt.Errorf("list controller installations: %w", err)
	}
	known := beats{}
	for i := range installations.Items {
		installation := &installations.Items[i]
		if seed := installation.Spec.SeedRef; seed == nil || seed.Name != base.SeedName {
			continue
		}
		registration := &gardencorev1beta1.ControllerRegistration{}
		err := base.GardenReader.Get(ctx, client.ObjectKey{Name: installation.Spec.RegistrationRef.Name}, registration)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("get controller registration %q: %w", installation.Spec.RegistrationRef.Name, err)
		}
		last, err := lastBeat(ctx, base.SeedClient, gardencorev1beta1.NamespacePrefixExtension+installation.Name)
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
func lastBeat(ctx context.Context, seed client.Reader, namespace string) (time.Time, error) {
	found := &coordinationv1.Lease{}
	err := seed.Get(ctx, client.ObjectKey{Namespace: namespace, Name: lease}, found)
	if apierrors.IsNotFound(err) || err == nil && found.Spec.RenewTime == nil {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("get heartbeat in namespace %q: %w", namespace, err)
	}
	return found.Spec.RenewTime.Time, nil
}
