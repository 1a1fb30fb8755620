// SPDX-License-Identifier: Apache-2.0

package plant

import (
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/terrarium-garden/terrarium/apis/check"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/core/validation"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
	"github.com/terrarium-garden/terrarium/storage/registry/kind/cell"
)

func rules() kind.Rules[*gardencorev1beta1.Plant] {
	return kind.Rules[*gardencorev1beta1.Plant]{
		Names: kind.Names{
			GroupVersion: gardencorev1beta1.GroupVersion,
			Plural:       "plants",
			Singular:     "plant",
			ShortNames:   []string{"pl"},
			Categories:   []string{"all"},
		},
		Turn:       kind.NewTurn(), // A Secret is used by one Plant (API-PLANT-1).
		New:        func() *gardencorev1beta1.Plant { return &gardencorev1beta1.Plant{} },
		NewList:    func() runtime.Object { return &gardencorev1beta1.PlantList{} },
		Namespaced: true,
		Generation: true,
		SpecChanged: func(obj, old *gardencorev1beta1.Plant) bool {
			return !check.Same(obj.Spec, old.Spec)
		},
		Validate:       validation.ValidatePlant,
		ValidateUpdate: validation.ValidatePlantUpdate,
		Columns:        columns(),
		Status:         status(),
	}
}

func columns() []kind.Column[*gardencorev1beta1.Plant] {
	return []kind.Column[*gardencorev1beta1.Plant]{
		{Name: "Type", Cell: known(func(i *gardencorev1beta1.ClusterInfo) *string { return &i.Cloud.Type })},
		{Name: "Region", Cell: known(func(i *gardencorev1beta1.ClusterInfo) *string { return &i.Cloud.Region })},
		{Name: "Version", Cell: known(func(i *gardencorev1beta1.ClusterInfo) *string { return &i.Kubernetes.Version })},
		{Name: "APIServer", Cell: health(gardencorev1beta1.ConditionTypeAPIServerAvailable)},
		{Name: "Nodes", Cell: health(gardencorev1beta1.ConditionTypeEveryNodeReady)},
	}
}

// known prints what is known about the cluster.
func known(fact func(*gardencorev1beta1.ClusterInfo) *string) func(*gardencorev1beta1.Plant) string {
	return func(o *gardencorev1beta1.Plant) string {
		if o.Status.ClusterInfo == nil {
			return cell.Unknown
		}
		return cell.Or(fact(o.Status.ClusterInfo), cell.Unknown)
	}
}

func health(t gardencorev1beta1.ConditionType) func(*gardencorev1beta1.Plant) string {
	return func(o *gardencorev1beta1.Plant) string { return cell.Condition(o.Status.Conditions, t) }
}

func status() *kind.StatusRules[*gardencorev1beta1.Plant] {
	return &kind.StatusRules[*gardencorev1beta1.Plant]{
		Reset:    func(obj, old *gardencorev1beta1.Plant) { obj.Status = old.Status },
		KeepSpec: func(obj, old *gardencorev1beta1.Plant) { obj.Spec = old.Spec },
	}
}
