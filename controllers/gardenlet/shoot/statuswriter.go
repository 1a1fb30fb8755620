// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"fmt"
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// statusWriter writes the status of one Shoot for several tasks and the progress report. It writes only what a change
// changes, because the health checks write conditions of the same Shoot at the same time.
type statusWriter struct {
	client client.Client

	mu    sync.Mutex
	shoot *gardencorev1beta1.Shoot
}

func newStatusWriter(c client.Client, shoot *gardencorev1beta1.Shoot) *statusWriter {
	return &statusWriter{client: c, shoot: shoot.DeepCopy()}
}

// change applies a change to the newest known status and writes the difference.
func (w *statusWriter) change(ctx context.Context, change func(status gardencorev1beta1.ShootStatus) gardencorev1beta1.ShootStatus) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	next := w.shoot.DeepCopy()
	next.Status = change(*next.Status.DeepCopy())
	patch := client.MergeFrom(w.shoot)
	data, err := patch.Data(next)
	if err != nil {
		return fmt.Errorf("compute the status of shoot %q: %w", w.shoot.Name, err)
	}
	if string(data) == "{}" {
		return nil
	}
	if err := w.client.Status().Patch(ctx, next, patch); err != nil {
		return fmt.Errorf("write the status of shoot %q: %w", w.shoot.Name, err)
	}
	w.shoot = next
	return nil
}

// current is a copy of the shoot as it was last written or read.
func (w *statusWriter) current() *gardencorev1beta1.Shoot {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.shoot.DeepCopy()
}
