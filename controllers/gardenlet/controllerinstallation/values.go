// SPDX-License-Identifier: Apache-2.0

package controllerinstallation

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

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
	// Kubeconfig is that of the garden; nil for an extension that has none.
	Kubeconfig *corev1.Secret
	// Seed is the seed, with its cluster identity in the status.
	Seed *gardencorev1beta1.Seed
}

// Values returns the values that a chart is rendered with: those of its deployment, and the block gardener, which takes precedence
// (GLET-CI-2). Single fields of the seed are given beside its spec, for older charts.
func Values(own map[string]any, facts Facts) (map[string]any, error) {
	values := map[string]any{}
	maps.Copy(values, own)
	seed := facts.Seed
	volumes := ptr.Deref(seed.Spec.Volume, gardencorev1beta1.SeedVolume{}).Providers
	volume := ""
	if len(volumes) > 0 {
		volume = volumes[0].Name
	}
	garden := map[string]any{"clusterIdentity": facts.GardenIdentity}
	if facts.Kubeconfig != nil {
		garden["genericKubeconfigSecretName"] = facts.Kubeconfig.Name
	}
	block := map[string]any{
		"version": facts.Version,
		"garden":  garden,
		"seed": map[string]any{
			"name":            seed.Name,
			"identity":        seed.Name,
			"clusterIdentity": seed.Status.ClusterIdentity,
			"annotations":     seed.Annotations,
			"labels":          seed.Labels,
			"spec":            seed.Spec,
			"provider":        seed.Spec.Provider.Type,
			"region":          seed.Spec.Provider.Region,
			"volumeProvider":  volume,
			"volumeProviders": volumes,
			"ingressDomain":   ptr.Deref(seed.Spec.Ingress, gardencorev1beta1.Ingress{}).Domain,
			"protected":       slices.ContainsFunc(seed.Spec.Taints, func(t gardencorev1beta1.SeedTaint) bool { return t.Key == gardencorev1beta1.TaintSeedProtected }),
			"visible":         visible(seed),
			"taints":          seed.Spec.Taints,
			"networks":        seed.Spec.Networks,
			"blockCIDRs":      seed.Spec.Networks.BlockCIDRs,
		},
		"gardenlet": map[string]any{"featureGates": facts.FeatureGates},
	}
	// Templates get plain maps and lists only, as from a values file.
	plain, err := plainValues(block)
	if err != nil {
		return nil, err
	}
	given, _ := values["gardener"].(map[string]any)
	values["gardener"] = merge(given, plain)
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
	merged := map[string]any{}
	maps.Copy(merged, base)
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

// visible reports whether the scheduler may choose the seed, which is the default.
func visible(seed *gardencorev1beta1.Seed) bool {
	return seed.Spec.Settings == nil || seed.Spec.Settings.Scheduling == nil || seed.Spec.Settings.Scheduling.Visible
}
