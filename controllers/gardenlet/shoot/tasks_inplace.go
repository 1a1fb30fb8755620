// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"fmt"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/component/osc"
	"github.com/terrarium-garden/terrarium/controllers/flow"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/nodeagent"
	"github.com/terrarium-garden/terrarium/controllers/secrets"
)

// taskPendingUpdates says which pools are to be updated in place, before anything of it begins.
const taskPendingUpdates flow.ID = "in-place-updates"

// inPlace is what the agents of a pool need for updates in place; nil if its machines are replaced. The authority is that of API servers.
func (m machineConfigs) inPlace(
	ctx context.Context, obj *gardenextensionsv1alpha1.OperatingSystemConfig, server *secrets.CA,
) (*nodeagent.InPlaceUpdates, error) {
	pool := query.Pool(&m.facts.Shoot.Spec, obj.Labels[gardencorev1beta1.LabelWorkerPool])
	if pool == nil || !query.InPlace(pool) || obj.Spec.InPlaceUpdates == nil {
		return nil, nil //nolint:nilnil // nil says that there is none
	}
	clients, err := m.secrets.CA(ctx, gardencorev1beta1.SecretCAClient)
	if err != nil {
		return nil, err
	}
	return &nodeagent.InPlaceUpdates{
		Hash: query.InPlaceHash(m.facts.Shoot, pool), KubeletVersion: obj.Spec.InPlaceUpdates.KubeletVersion,
		ServerCA: string(server.Bundle.PEM), ClientCA: string(clients.Current.Certificate), Trust: []string{osc.ClientCAFile},
		OSUpdate: osUpdate(obj),
	}, nil
}

// osUpdate is the command of the extension that updates the operating system of a machine; nil if it has none (EXT-OSC-7).
func osUpdate(obj *gardenextensionsv1alpha1.OperatingSystemConfig) *nodeagent.OSUpdate {
	status := obj.Status.InPlaceUpdates
	if status == nil || status.OSUpdate == nil || status.OSUpdate.Command == "" {
		return nil
	}
	return &nodeagent.OSUpdate{Version: obj.Spec.InPlaceUpdates.OperatingSystemVersion, Command: status.OSUpdate.Command, Args: status.OSUpdate.Args}
}

// reportPending writes into the status which pools are to be updated in place. Those of before whose machines are not updated yet remain. A run that
// is to repair an API server does not wait for what its nodes say: then the list stays as it is until the end of the run.
func (w workers) reportPending(ctx context.Context) error {
	updated, byNodes, err := w.updated(ctx, w.shoots)
	if err != nil && byNodes && ctx.Err() == nil {
		logr.FromContextOrDiscard(ctx).Info("The nodes do not say which of them are updated in place", "reason", err.Error())
		return nil
	}
	if err != nil {
		return err
	}
	return w.report(ctx, func(s *gardencorev1beta1.ShootStatus) {
		s.InPlaceUpdates = query.PendingInPlace(w.facts.Shoot, updated)
	})
}

// updated returns for which state of each pool its machines were last updated in place, as the extension says, or else their nodes.
func (g ground) updated(ctx context.Context, shoots *kit.Shoots) (updated map[string]string, byNodes bool, err error) {
	worker := &gardenextensionsv1alpha1.Worker{}
	key := client.ObjectKey{Namespace: g.facts.Namespace, Name: g.facts.Shoot.Name}
	err = g.seed.Get(ctx, key, worker)
	if apierrors.IsNotFound(err) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("look which machines are updated in place: get worker %q: %w", key, err)
	}
	return UpdatedPools(ctx, shoots, g.facts.Shoot, worker)
}

// pendingAfter returns which pools are still to be updated in place when a run has succeeded: only those whose owner selects the machines can be.
func (o *operation) pendingAfter(ctx context.Context) (*gardencorev1beta1.InPlaceUpdatesStatus, error) {
	if !o.facts.Workers() || o.facts.Power != facts.Awake {
		return nil, nil //nolint:nilnil // nil says that there are none
	}
	updated, _, err := o.ground().updated(ctx, o.r.Shoots)
	if err != nil {
		return nil, err
	}
	pending := query.PendingInPlace(o.facts.Shoot, updated)
	if pending == nil || len(pending.PendingWorkerUpdates.ManualInPlaceUpdate) == 0 {
		return nil, nil //nolint:nilnil // nil says that there are none
	}
	pending.PendingWorkerUpdates.AutoInPlaceUpdate = nil // The run has waited for them.
	return pending, nil
}
