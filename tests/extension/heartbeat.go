// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// heartbeat renews a lease. Gardenlets do not believe conditions of an extension that is silent (EXT-HB-1).
type heartbeat struct {
	client    client.Client
	namespace string
	interval  time.Duration
}

// Start renews the lease until ctx ends. A failure is logged: the next renewal follows soon.
func (h *heartbeat) Start(ctx context.Context) error {
	ticker := time.NewTicker(h.interval)
	defer ticker.Stop()
	for {
		if err := h.beat(ctx); err != nil && ctx.Err() == nil {
			ctrl.LoggerFrom(ctx).Error(err, "Heartbeat failed")
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

func (h *heartbeat) beat(ctx context.Context) error {
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: h.namespace, Name: "gardener-extension-heartbeat"}}
	_, err := controllerutil.CreateOrUpdate(ctx, h.client, lease, func() error {
		lease.Spec.HolderIdentity = new("greeting")
		lease.Spec.LeaseDurationSeconds = new(int32(max(h.interval/time.Second, 1)))
		lease.Spec.RenewTime = new(metav1.NowMicro())
		return nil
	})
	return err
}
