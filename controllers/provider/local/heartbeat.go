// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const (
	heartbeatLease    = "gardener-extension-heartbeat"
	heartbeatInterval = 30 * time.Second
)

// Heartbeat renews the lease that tells the gardenlet that the conditions reported by the extension are up to date.
type Heartbeat struct {
	// Namespace of the installation.
	Namespace string
	// Client reaches the seed; AddToManager sets it.
	Client client.Client
	// Clock gives the time and the interval.
	Clock clock.WithTicker
}

// AddToManager lets the manager run the heartbeat.
func (h *Heartbeat) AddToManager(seed manager.Manager) error {
	h.Client = seed.GetClient()
	return seed.Add(h)
}

// Start renews the lease until ctx ends. A renewal that fails is only logged, because the next one follows soon.
func (h *Heartbeat) Start(ctx context.Context) error {
	ticker := h.Clock.NewTicker(heartbeatInterval)
	defer ticker.Stop()
	for {
		if err := h.Beat(ctx); err != nil && ctx.Err() == nil {
			ctrl.Log.WithName("heartbeat").Error(err, "Heartbeat failed")
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C():
		}
	}
}

// Beat renews the lease once.
func (h *Heartbeat) Beat(ctx context.Context) error {
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: h.Namespace, Name: heartbeatLease}}
	_, err := kit.Ensure(ctx, h.Client, lease, func() error {
		lease.Spec.HolderIdentity = new(Name)
		lease.Spec.LeaseDurationSeconds = new(int32(heartbeatInterval / time.Second))
		lease.Spec.RenewTime = new(metav1.NewMicroTime(h.Clock.Now()))
		return nil
	})
	return err
}
