// SPDX-License-Identifier: Apache-2.0

package kubecontrollers

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/quota/v1/generic"
	"k8s.io/kubernetes/pkg/controller"
	"k8s.io/kubernetes/pkg/controller/resourcequota"
	quotacore "k8s.io/kubernetes/pkg/quota/v1/evaluator/core"
	quotainstall "k8s.io/kubernetes/pkg/quota/v1/install"
)

// quotaLoops update the usage of ResourceQuotas. They count objects of all kinds; a garden has no pods and volumes.
func quotaLoops(ctx context.Context, c Config, from *clients) ([]loop, error) {
	none := func(schema.GroupVersionResource) bool { return false }
	evaluators, err := quotacore.NewEvaluators(generic.ListerFuncForResourceFunc(from.informers.ForResource), from.informers, none)
	if err != nil {
		return nil, fmt.Errorf("make quota evaluators: %w", err)
	}
	discover := from.discovery.ServerPreferredNamespacedResources
	l, err := resourcequota.NewController(ctx, &resourcequota.ControllerOptions{
		QuotaClient:               from.kube.CoreV1(),
		ResourceQuotaInformer:     from.informers.Core().V1().ResourceQuotas(),
		ResyncPeriod:              controller.StaticResyncPeriodFunc(c.Resync),
		Registry:                  generic.NewRegistry(evaluators),
		DiscoveryFunc:             discover,
		IgnoredResourcesFunc:      quotainstall.DefaultIgnoredResources,
		InformersStarted:          from.started,
		InformerFactory:           from.both,
		ReplenishmentResyncPeriod: controller.StaticResyncPeriodFunc(c.Resync),
		UpdateFilter:              quotainstall.DefaultUpdateFilter(),
	})
	if err != nil {
		return nil, fmt.Errorf("make quota loop: %w", err)
	}

	return []loop{
		{"resource-quota", func(ctx context.Context) { l.Run(ctx, quotaWorkers) }},
		{"resource-quota-discovery", func(ctx context.Context) { l.Sync(ctx, discover, c.Discovery) }},
	}, nil
}
