// SPDX-License-Identifier: Apache-2.0

package shootvalidator

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"sigs.k8s.io/yaml"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

// checkMove checks both seeds when the seed of a shoot changes: the state moves through a backup, and machines and names
// stay as they are (API-SVAL-5, API-DNS-7).
func checkMove(ctx context.Context, v world.View, q request, to *gardencorev1beta1.Seed) error {
	if q.old.Spec.SeedName == nil {
		return nil
	}
	from, err := v.Seed(ctx, *q.old.Spec.SeedName)
	if err != nil {
		return missingSeed(err, *q.old.Spec.SeedName)
	}
	against := obstacle(from, to)
	if against == "" {
		if against, err = stranded(ctx, v, q.shoot, from, to); err != nil {
			return err
		}
	}
	if against == "" && isLive(q.shoot) {
		if against, err = liveObstacle(ctx, v, q.shoot, from, to); err != nil {
			return err
		}
	}
	if against == "" {
		return nil
	}
	return fmt.Errorf("the shoot cannot be moved from seed %q to %q: %s", from.Name, to.Name, against)
}

// obstacle returns the reason why no shoot can be moved between two seeds, or an empty string.
func obstacle(from, to *gardencorev1beta1.Seed) string {
	for _, s := range []*gardencorev1beta1.Seed{from, to} {
		if s.Spec.Backup == nil {
			return fmt.Sprintf("seed %q has no backups", s.Name)
		}
		if !query.MakesNames(s) {
			return fmt.Sprintf("seed %q has DNS names for shoots disabled", s.Name)
		}
	}
	if from.Spec.Provider.Type != to.Spec.Provider.Type {
		return "their providers differ"
	}
	if was, is := from.Spec.DNS.Internal, to.Spec.DNS.Internal; was != nil && (is == nil || is.Domain != was.Domain) {
		return "their internal domains differ"
	}
	return ""
}

// stranded returns the reason why nobody would serve the name of a shoot on another seed, or an empty string: it is below a default domain
// of its seed, which the other one does not have. A seed has its own default domains or those of the garden (API-SVAL-5, API-DNS-1).
func stranded(ctx context.Context, v world.View, shoot *gardencorev1beta1.Shoot, from, to *gardencorev1beta1.Seed) (string, error) {
	here, err := v.DefaultDomains(ctx, from)
	if err != nil {
		return "", err
	}
	there, err := v.DefaultDomains(ctx, to)
	if err != nil {
		return "", err
	}
	domain := query.Domain(shoot.Spec.DNS)
	for _, d := range here {
		if query.Below(domain, d) && !slices.Contains(there, d) {
			return fmt.Sprintf("seed %q does not serve the default domain %q of the shoot", to.Name, d), nil
		}
	}
	return "", nil
}

// isLive reports whether the control plane should keep running while it is moved.
func isLive(s *gardencorev1beta1.Shoot) bool {
	return isTrue(s.Annotations[gardencorev1beta1.AnnotationLiveMigrate])
}

func isTrue(text string) bool {
	value, err := strconv.ParseBool(text)
	return err == nil && value
}

// liveObstacle returns the reason why a control plane cannot run on two seeds at once, or an empty string: it must be highly
// available, and both seeds must have the same provider and be near each other (API-SVAL-20).
func liveObstacle(
	ctx context.Context, v world.View, shoot *gardencorev1beta1.Shoot, from, to *gardencorev1beta1.Seed,
) (string, error) {
	if shoot.Spec.ControlPlane == nil || shoot.Spec.ControlPlane.HighAvailability == nil {
		return "a live migration needs a highly available control plane", nil
	}
	if from.Status.Gardener == nil || to.Status.Gardener == nil || from.Status.Gardener.Version != to.Status.Gardener.Version {
		return "a live migration needs gardenlets of one version", nil
	}
	here, there := from.Spec.Provider.Region, to.Spec.Provider.Region
	if here == there || isTrue(shoot.Annotations[gardencorev1beta1.AnnotationAllowDistantRegions]) {
		return "", nil
	}
	distance, limit, err := distance(ctx, v, query.ProfileName(&shoot.Spec), here, there)
	switch {
	case err != nil:
		return "", err
	case distance < 0:
		return fmt.Sprintf("the distance between regions %q and %q is not known, and a live migration requires a short one", there, here), nil
	case distance > limit:
		return fmt.Sprintf("region %q is too far from %q for a live migration (distance %d, at most %d)", there, here, distance, limit), nil
	}
	return "", nil
}

// distance returns the distance of two regions and the largest allowed one, from the ConfigMap that the garden has for a
// profile. It is negative if it is not known.
func distance(ctx context.Context, v world.View, profile, from, to string) (distance, limit int, err error) {
	const (
		unknown      = -1
		defaultLimit = 180
	)
	place := world.Place{Resource: "configmaps", Namespace: gardencorev1beta1.NamespaceGarden}
	maps, err := world.List[corev1.ConfigMapList](ctx, v, place, fields.Everything())
	if err != nil {
		return 0, 0, fmt.Errorf("list region distances: %w", err)
	}
	for i := range maps.Items {
		m := &maps.Items[i]
		if m.Labels[gardencorev1beta1.LabelSchedulingPurpose] != gardencorev1beta1.SchedulingPurposeRegionConfig || !concerns(m, profile) {
			continue
		}
		distances := map[string]int{}
		if err := yaml.Unmarshal([]byte(m.Data[from]), &distances); err != nil {
			return 0, 0, fmt.Errorf("read region distances in config map %q: %w", m.Name, err)
		}
		found, ok := distances[to]
		if !ok {
			return unknown, 0, nil
		}
		limit, err := strconv.Atoi(m.Annotations[gardencorev1beta1.AnnotationInterRegionDistanceThreshold])
		if err != nil {
			limit = defaultLimit
		}
		return found, limit, nil
	}
	return unknown, 0, nil
}

func concerns(m *corev1.ConfigMap, profile string) bool {
	names := strings.Split(m.Annotations[gardencorev1beta1.AnnotationSchedulingCloudProfiles], ",")
	return slices.ContainsFunc(names, func(name string) bool { return strings.TrimSpace(name) == profile })
}
