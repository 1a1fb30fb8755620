// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
	"github.com/terrarium-garden/terrarium/storage/registry/kind/cell"
)

func columns() []kind.Column[*gardencorev1beta1.Shoot] {
	columns := []kind.Column[*gardencorev1beta1.Shoot]{
		{Name: "CloudProfile", Cell: profile},
		{Name: "Provider", Cell: func(o *gardencorev1beta1.Shoot) string { return o.Spec.Provider.Type }},
		{Name: "Region", Cell: func(o *gardencorev1beta1.Shoot) string { return o.Spec.Region }},
		{Name: "Seed", Wide: true, Cell: func(o *gardencorev1beta1.Shoot) string { return cell.Or(o.Spec.SeedName, cell.None) }},
		{Name: "K8S Version", Cell: func(o *gardencorev1beta1.Shoot) string { return o.Spec.Kubernetes.Version }},
		{Name: "Hibernation", Cell: hibernation},
		{Name: "Last Operation", Cell: func(o *gardencorev1beta1.Shoot) string { return cell.LastOperation(o.Status.LastOperation) }},
		{Name: "Status", Cell: func(o *gardencorev1beta1.Shoot) string {
			label := o.Labels[gardencorev1beta1.LabelShootStatus]
			return cell.Or(&label, cell.Pending)
		}},
		{Name: "Purpose", Wide: true, Cell: func(o *gardencorev1beta1.Shoot) string { return cell.Or(o.Spec.Purpose, cell.None) }},
		{Name: "Gardener Version", Wide: true, Cell: func(o *gardencorev1beta1.Shoot) string {
			return cell.Or(&o.Status.Gardener.Version, cell.Unknown)
		}},
	}
	for _, c := range []struct {
		name      string
		condition gardencorev1beta1.ConditionType
	}{
		{name: "APIServer", condition: gardencorev1beta1.ConditionTypeAPIServerAvailable},
		{name: "Control", condition: gardencorev1beta1.ConditionTypeControlPlaneHealthy},
		{name: "Observability", condition: gardencorev1beta1.ConditionTypeObservabilityComponentsHealthy},
		{name: "Nodes", condition: gardencorev1beta1.ConditionTypeEveryNodeReady},
		{name: "System", condition: gardencorev1beta1.ConditionTypeSystemComponentsHealthy},
	} {
		columns = append(columns, kind.Column[*gardencorev1beta1.Shoot]{
			Name: c.name, Wide: true,
			Cell: func(o *gardencorev1beta1.Shoot) string { return cell.Condition(o.Status.Conditions, c.condition) },
		})
	}
	return columns
}

// profile prints the cloud profile of the shoot; that of a namespaced one with its namespace.
func profile(o *gardencorev1beta1.Shoot) string {
	ref := query.ProfileReference(&o.Spec)
	switch {
	case ref == nil:
		return ""
	case ref.Kind == gardencorev1beta1.CloudProfileReferenceKindNamespacedCloudProfile:
		return o.Namespace + "/" + ref.Name
	default:
		return ref.Name
	}
}

func hibernation(o *gardencorev1beta1.Shoot) string {
	wanted, reached := query.HibernationWanted(o), o.Status.Hibernated
	switch {
	case wanted && reached:
		return "Hibernated"
	case wanted:
		return "Hibernating"
	case reached:
		return "Waking Up"
	default:
		return "Awake"
	}
}
