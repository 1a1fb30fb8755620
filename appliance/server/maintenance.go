// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"sync/atomic"

	"k8s.io/utils/clock"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// maintenance has the maintenance time window of the Garden, once it is known.
type maintenance struct {
	clock  clock.WithTicker
	window atomic.Pointer[query.Window]
}

// apply takes the window that users have set.
func (m *maintenance) apply(window gardencorev1beta1.MaintenanceTimeWindow) {
	if w, ok := query.MaintenanceWindow(&gardencorev1beta1.ShootSpec{Maintenance: &gardencorev1beta1.Maintenance{TimeWindow: &window}}); ok {
		m.window.Store(&w)
	}
}

// await waits until the maintenance time window is open. It reports false if ctx ends first.
func (m *maintenance) await(ctx context.Context) bool {
	w := m.window.Load()
	if w == nil {
		return ctx.Err() == nil
	}
	now := m.clock.Now()
	begin, _ := w.Occurrence(now)
	if w.Contains(now) {
		return ctx.Err() == nil
	}
	timer := m.clock.NewTimer(begin.Sub(now))
	defer timer.Stop()
	select {
	case <-timer.C():
		return true
	case <-ctx.Done():
		return false
	}
}
