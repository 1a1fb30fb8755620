// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/yaml"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// distances reads the distances of regions from that of the shoot, as configured for a cloud profile. It is nil if none are
// configured, or if the strategy does not need them.
func (r *Reconciler) distances(ctx context.Context, shoot *gardencorev1beta1.Shoot, profile string) (map[string]int, error) {
	if r.strategy() != MinimalDistance {
		return nil, nil //nolint:nilnil // Distances are optional.
	}
	found := &corev1.ConfigMapList{}
	err := r.Reader.List(ctx, found, client.InNamespace(gardencorev1beta1.NamespaceGarden),
		client.MatchingLabels{gardencorev1beta1.LabelSchedulingPurpose: gardencorev1beta1.SchedulingPurposeRegionConfig})
	if err != nil {
		return nil, fmt.Errorf("list config maps of region distances: %w", err)
	}
	concerning := ofProfile(found.Items, profile)
	if len(concerning) == 0 {
		if profile, err = r.parent(ctx, shoot); err != nil {
			return nil, err
		}
		concerning = ofProfile(found.Items, profile)
	}
	if len(concerning) == 0 {
		return nil, nil //nolint:nilnil // Distances are optional.
	}
	if len(concerning) > 1 {
		logf.FromContext(ctx).Info("Several config maps have region distances for the cloud profile, the first one is used",
			"cloudProfile", profile, "configMap", concerning[0].Name, "configMaps", len(concerning))
	}
	return DistancesFrom(&concerning[0], shoot.Spec.Region)
}

// parent returns the name of the cloud profile that the profile of a shoot extends, if it is one of the project: it has the same regions.
func (r *Reconciler) parent(ctx context.Context, shoot *gardencorev1beta1.Shoot) (string, error) {
	ref := query.ProfileReference(&shoot.Spec)
	if ref == nil || ref.Kind != gardencorev1beta1.CloudProfileReferenceKindNamespacedCloudProfile {
		return "", nil
	}
	key, extending := client.ObjectKey{Namespace: shoot.Namespace, Name: ref.Name}, &gardencorev1beta1.NamespacedCloudProfile{}
	if err := (shared{r.Client}).Get(ctx, key, extending); err != nil {
		return "", fmt.Errorf("get namespaced cloud profile %q: %w", key, err)
	}
	return extending.Spec.Parent.Name, nil
}

// ofProfile returns the config maps that name a cloud profile, in the order of their names (SCHED-REGION-1).
func ofProfile(maps []corev1.ConfigMap, profile string) []corev1.ConfigMap {
	if profile == "" {
		return nil
	}
	var concerning []corev1.ConfigMap
	for i := range maps {
		names := strings.Split(maps[i].Annotations[gardencorev1beta1.AnnotationSchedulingCloudProfiles], ",")
		if slices.ContainsFunc(names, func(name string) bool { return strings.TrimSpace(name) == profile }) {
			concerning = append(concerning, maps[i])
		}
	}
	slices.SortFunc(concerning, func(a, b corev1.ConfigMap) int { return strings.Compare(a.Name, b.Name) })
	return concerning
}

// DistancesFrom reads the distances from one region in a config map. It is nil if there are none. The distance of a region from
// itself is 0 by default (SCHED-REGION-2, SCHED-REGION-3).
func DistancesFrom(config *corev1.ConfigMap, region string) (map[string]int, error) {
	text, ok := config.Data[region]
	if !ok {
		return nil, nil //nolint:nilnil // Distances are optional.
	}
	distances := map[string]int{}
	if err := yaml.Unmarshal([]byte(text), &distances); err != nil {
		return nil, fmt.Errorf("read the distances from region %q in config map %q: %w", region, config.Name, err)
	}
	if _, ok := distances[region]; !ok {
		distances[region] = 0
	}
	return distances, nil
}
