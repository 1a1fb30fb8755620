// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"sync/atomic"
	"time"

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

// lookAgain is how often a window that is waited for is looked at: timers do not run while a machine is suspended, are not moved if its clock is
// set, and users may set another window.
const lookAgain = 10 * time.Minute

// await waits until the maintenance time window is open. It reports false if ctx ends first.
func (m *maintenance) await(ctx context.Context) bool {
	for ctx.Err() == nil {
		w := m.window.Load()
		if w == nil {
			return true
		}
		now := m.clock.Now()
		if w.Contains(now) {
			return true
		}
		begin, _ := w.Occurrence(now)
		timer := m.clock.NewTimer(min(begin.Sub(now), lookAgain))
		select {
		case <-timer.C():
		case <-ctx.Done():
			timer.Stop()
		}
	}

	return false
}
