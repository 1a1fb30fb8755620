// SPDX-License-Identifier: Apache-2.0

package seed

import (
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
	"github.com/terrarium-garden/terrarium/storage/registry/kind/cell"
)

func columns() []kind.Column[*gardencorev1beta1.Seed] {
	return []kind.Column[*gardencorev1beta1.Seed]{
		{Name: "Status", Cell: readiness},
		{Name: "Last Operation", Cell: func(o *gardencorev1beta1.Seed) string { return cell.LastOperation(o.Status.LastOperation) }},
		{Name: "Provider", Cell: func(o *gardencorev1beta1.Seed) string { return o.Spec.Provider.Type }},
		{Name: "Region", Cell: func(o *gardencorev1beta1.Seed) string { return o.Spec.Provider.Region }},
		{Name: "Age"},
		{Name: "Version", Cell: func(o *gardencorev1beta1.Seed) string {
			if o.Status.Gardener == nil {
				return cell.Unknown
			}
			return o.Status.Gardener.Version
		}},
		{Name: "K8S Version", Cell: func(o *gardencorev1beta1.Seed) string {
			return cell.Or(o.Status.KubernetesVersion, cell.Unknown)
		}},
	}
}

// readiness summarizes the conditions in one word.
func readiness(o *gardencorev1beta1.Seed) string {
	is := map[gardencorev1beta1.ConditionType]gardencorev1beta1.ConditionStatus{}
	for _, c := range o.Status.Conditions {
		is[c.Type] = c.Status
	}
	if is[gardencorev1beta1.ConditionTypeGardenletReady] == gardencorev1beta1.ConditionUnknown {
		return "Unknown"
	}
	buckets, hasBuckets := is[gardencorev1beta1.ConditionTypeBackupBucketsReady]
	system := is[gardencorev1beta1.ConditionTypeSeedSystemComponentsHealthy]
	extensions, hasExtensions := is[gardencorev1beta1.ConditionTypeExtensionsReady]
	switch {
	case is[gardencorev1beta1.ConditionTypeGardenletReady] != gardencorev1beta1.ConditionTrue,
		hasBuckets && buckets != gardencorev1beta1.ConditionTrue,
		!hasExtensions || bad(extensions),
		bad(system):
		return "NotReady"
	default:
		return "Ready"
	}
}

func bad(s gardencorev1beta1.ConditionStatus) bool {
	return s == gardencorev1beta1.ConditionFalse || s == gardencorev1beta1.ConditionUnknown
}
