// SPDX-License-Identifier: Apache-2.0

package controllerinstallation

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// Facts are what charts are told about the garden and the seed.
type Facts struct {
	// Version is the version of the Gardener API.
	Version string
	// GardenIdentity is the identity of the garden.
	GardenIdentity string
	// FeatureGates of the gardenlet.
	FeatureGates map[string]bool
	// Seed is the seed, with its cluster identity in the status.
	Seed *gardencorev1beta1.Seed
}

// Values are the values a chart is rendered with: those of its deployment, and the block gardener, which wins
// (GLET-CI-2). Single fields of the seed stand beside its spec for charts that were written before the spec was there.
func Values(own map[string]any, facts Facts) (map[string]any, error) {
	values := maps.Clone(own)
	if values == nil {
		values = map[string]any{}
	}
	seed := facts.Seed
	block := map[string]any{
		"version": facts.Version,
		"garden":  map[string]any{"clusterIdentity": facts.GardenIdentity},
		"seed": map[string]any{
			"name":            seed.Name,
			"identity":        seed.Name,
			"clusterIdentity": seed.Status.ClusterIdentity,
			"annotations":     seed.Annotations,
			"labels":          seed.Labels,
			"spec":            seed.Spec,
			"provider":        seed.Spec.Provider.Type,
			"region":          seed.Spec.Provider.Region,
			"volumeProvider":  volumeProvider(seed),
			"volumeProviders": volumeProviders(seed),
			"ingressDomain":   ingressDomain(seed),
			"protected":       protected(seed),
			"visible":         visible(seed),
			"taints":          seed.Spec.Taints,
			"networks":        seed.Spec.Networks,
			"blockCIDRs":      seed.Spec.Networks.BlockCIDRs,
		},
		"gardenlet": map[string]any{"featureGates": facts.FeatureGates},
	}
	// Templates see plain maps and lists only, as if everything had come from a values file.
	plain, err := plainValues(block)
	if err != nil {
		return nil, err
	}
	merged := plain
	if given, ok := values["gardener"].(map[string]any); ok {
		merged = merge(given, plain)
	}
	values["gardener"] = merged
	return values, nil
}

func plainValues(block map[string]any) (map[string]any, error) {
	data, err := json.Marshal(block)
	if err != nil {
		return nil, fmt.Errorf("encode values about the seed: %w", err)
	}
	plain := map[string]any{}
	if err := json.Unmarshal(data, &plain); err != nil {
		return nil, fmt.Errorf("decode values about the seed: %w", err)
	}
	return plain, nil
}

// merge returns base with everything of top over it, table by table.
func merge(base, top map[string]any) map[string]any {
	merged := maps.Clone(base)
	for key, value := range top {
		below, isTable := merged[key].(map[string]any)
		above, ok := value.(map[string]any)
		if isTable && ok {
			merged[key] = merge(below, above)
			continue
		}
		merged[key] = value
	}
	return merged
}

func volumeProvider(seed *gardencorev1beta1.Seed) string {
	if providers := volumeProviders(seed); len(providers) > 0 {
		return providers[0].Name
	}
	return ""
}

func volumeProviders(seed *gardencorev1beta1.Seed) []gardencorev1beta1.SeedVolumeProvider {
	if seed.Spec.Volume == nil {
		return nil
	}
	return seed.Spec.Volume.Providers
}

func ingressDomain(seed *gardencorev1beta1.Seed) string {
	if seed.Spec.Ingress == nil {
		return ""
	}
	return seed.Spec.Ingress.Domain
}

func protected(seed *gardencorev1beta1.Seed) bool {
	return slices.ContainsFunc(seed.Spec.Taints, func(taint gardencorev1beta1.SeedTaint) bool {
		return taint.Key == gardencorev1beta1.TaintSeedProtected
	})
}

// visible tells whether the scheduler may choose the seed, which is so unless the seed says otherwise.
func visible(seed *gardencorev1beta1.Seed) bool {
	return seed.Spec.Settings == nil || seed.Spec.Settings.Scheduling == nil || seed.Spec.Settings.Scheduling.Visible
}
