// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	gardenmachinev1alpha1 "github.com/terrarium-garden/terrarium/apis/machine/v1alpha1"
	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/component/nodelocaldns"
	"github.com/terrarium-garden/terrarium/controllers/extension"
)

// dnsCacheInUse reports whether there may be nodes that ask the DNS cache on them. Kubelets learn at their start whom their pods ask. So a
// run that finds the cache switched off replaces the nodes, and the first run that finds none of them left removes the cache. Nodes that are
// updated in place stay, and so do pods that survive their drain; such a pool has the cache as long as it has machines.
func (g ground) dnsCacheInUse(ctx context.Context) (bool, error) {
	cache := &gardenresourcesv1alpha1.ManagedResource{}
	key := client.ObjectKey{Namespace: g.facts.Namespace, Name: systemSets + nodelocaldns.Name}
	err := g.seed.Get(ctx, key, cache)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for the DNS cache: get managed resource %q: %w", key, err)
	}
	worker := &gardenextensionsv1alpha1.Worker{}
	key.Name = g.facts.Shoot.Name
	err = g.seed.Get(ctx, key, worker)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look whether nodes ask the DNS cache: get worker %q: %w", key, err)
	}
	if slices.ContainsFunc(worker.Spec.Pools, sendsToCache) || extension.Ready(worker) != nil {
		return true, nil //nolint:nilerr // The error says what the extension still does.
	}
	return g.machinesAskCache(ctx, slices.ContainsFunc(worker.Spec.Pools, updatesInPlace))
}

// sendsToCache reports whether new nodes of a pool ask the cache.
func sendsToCache(pool gardenextensionsv1alpha1.WorkerPool) bool {
	return pool.Labels[gardencorev1beta1.LabelNodeLocalDNSEnabled] == "true"
}

// updatesInPlace reports whether the nodes of a pool stay when its configuration changes.
func updatesInPlace(pool gardenextensionsv1alpha1.WorkerPool) bool {
	return pool.UpdateStrategy != nil && *pool.UpdateStrategy != gardencorev1beta1.MachineUpdateStrategyAutoRollingUpdate
}

// machinesAskCache reports whether there are machines from the time of the cache: those that go, because an extension is ready with new ones while
// old ones are still being drained, and any that stay. Where machines are no objects, those that stay are taken to be there.
func (g ground) machinesAskCache(ctx context.Context, stay bool) (bool, error) {
	list := &gardenmachinev1alpha1.MachineList{}
	err := g.seed.List(ctx, list, client.InNamespace(g.facts.Namespace))
	if meta.IsNoMatchError(err) {
		return stay, nil
	}
	if err != nil {
		return false, fmt.Errorf("look whether nodes ask the DNS cache: list machines: %w", err)
	}
	return slices.ContainsFunc(list.Items, func(m gardenmachinev1alpha1.Machine) bool { return stay || m.DeletionTimestamp != nil }), nil
}
