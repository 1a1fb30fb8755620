// SPDX-License-Identifier: Apache-2.0

package rotation

import (
	"context"
	"fmt"
	"slices"

	coordinationv1 "k8s.io/api/coordination/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
)

// gardenlets asks the garden about the gardenlets of its seeds.
type gardenlets struct {
	api serving
	// revoked returns the names of the seeds that are shut out.
	revoked func() []string
}

// client reads and writes without a cache.
func (g gardenlets) client() (client.Client, error) {
	api := g.api()
	if api == nil {
		return nil, RefusedError{errStarting}
	}
	kinds, err := scheme.New()
	if err != nil {
		return nil, fmt.Errorf("make client: %w", err)
	}
	c, err := client.New(api.LoopbackConfig(), client.Options{Scheme: kinds})
	if err != nil {
		return nil, fmt.Errorf("make client: %w", err)
	}

	return c, nil
}

// servedSeed is a seed that has a gardenlet, with what this one tells in its lease.
type servedSeed struct {
	seed  gardencorev1beta1.Seed
	marks map[string]string
}

// served returns all seeds but those that never had a gardenlet and those that are shut out.
func (g gardenlets) served(ctx context.Context, gardenClient client.Client) ([]servedSeed, error) {
	seeds, leases := &gardencorev1beta1.SeedList{}, &coordinationv1.LeaseList{}
	if err := gardenClient.List(ctx, seeds); err != nil {
		return nil, fmt.Errorf("list seeds: %w", err)
	}
	if err := gardenClient.List(ctx, leases, client.InNamespace(gardencorev1beta1.NamespaceSeedLease)); err != nil {
		return nil, fmt.Errorf("list leases of seeds: %w", err)
	}
	told := map[string]map[string]string{}
	for i := range leases.Items {
		told[leases.Items[i].Name] = leases.Items[i].Annotations
	}
	revoked := g.revoked()
	var served []servedSeed
	for i := range seeds.Items {
		seed := seeds.Items[i]
		marks, beats := told[seed.Name]
		if !beats && seed.Status.Gardener == nil || slices.Contains(revoked, seed.Name) {
			continue
		}
		served = append(served, servedSeed{seed: seed, marks: marks})
	}

	return served, nil
}
