// SPDX-License-Identifier: Apache-2.0

package heartbeat

import (
	"context"
	"fmt"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// Sender is a gardenlet, as its cluster shows it in the garden.
type Sender struct {
	// Object is the cluster: a Seed, or a self-hosted Shoot.
	Object client.Object
	// Lease is what the gardenlet renews.
	Lease client.ObjectKey
	// Conditions are those of the cluster. A cluster without any has never had a gardenlet.
	Conditions *[]gardencorev1beta1.Condition
}

// Listener checks the heartbeats of gardenlets. It reads leases around the cache, because they change every two seconds. The zero value is
// ready for use.
type Listener struct {
	// good has until when each gardenlet is alive, by what was read last, by the UID of its cluster.
	good sync.Map
}

// Listen is a phase of a pass: it reads the lease, and only if that was not renewed in time does it set the condition and go on with the next
// phase. The cluster is looked at again after the sync period (GCM-SEEDLIFE-1 to GCM-SEEDLIFE-3).
func (l *Listener) Listen(
	ctx context.Context, base *kit.Base, config gardenconfigv1alpha1.ServerSeedControllerConfiguration, sender Sender,
) (kit.Outcome, error) {
	again := kit.RequeueAfter(config.SyncPeriod.Duration)
	if len(*sender.Conditions) == 0 {
		return again, nil
	}
	if alive, err := l.alive(ctx, base, config.MonitorPeriod.Duration, sender); alive || err != nil {
		return again, err
	}
	if kit.ConditionIs(*sender.Conditions, gardencorev1beta1.ConditionTypeGardenletReady, gardencorev1beta1.ConditionTrue) {
		logf.FromContext(ctx).Info("Gardenlet stopped sending heartbeats", "monitorPeriod", config.MonitorPeriod.Duration)
	}
	*sender.Conditions = Silence(*sender.Conditions, base.Clock.Now())
	return kit.RecheckAfter(config.SyncPeriod.Duration), nil
}

// alive reports whether a gardenlet is alive. A renewal that was seen is good for the whole period, so the lease is read once in it and not
// each time that the cluster is looked at. It is no longer good than from now on, whatever the clock of the gardenlet says.
func (l *Listener) alive(ctx context.Context, base *kit.Base, period time.Duration, sender Sender) (bool, error) {
	now, id := base.Clock.Now(), sender.Object.GetUID()
	if until, ok := l.good.Load(id); ok {
		// If it is good for longer than a period, the clock of the server was ahead when it was seen.
		if left := until.(time.Time).Sub(now); 0 < left && left <= period { //nolint:forcetypeassert // Only times are stored.
			return true, nil
		}
	}
	l.good.Delete(id)
	lease, err := read(ctx, base.Reader, sender.Lease)
	if err != nil || !Alive(lease, period, now) {
		return false, err
	}
	until := lease.Spec.RenewTime.Add(period)
	if latest := now.Add(period); until.After(latest) {
		until = latest
	}
	if sender.Object.GetDeletionTimestamp() == nil {
		l.good.Store(id, until)
	}
	return true, nil
}

func read(ctx context.Context, reader client.Reader, key client.ObjectKey) (*coordinationv1.Lease, error) {
	lease := &coordinationv1.Lease{}
	err := reader.Get(ctx, key, lease)
	if apierrors.IsNotFound(err) {
		return nil, nil //nolint:nilnil // Without a lease, the gardenlet has never sent a heartbeat.
	}
	if err != nil {
		return nil, fmt.Errorf("read lease %q: %w", key, err)
	}
	return lease, nil
}
