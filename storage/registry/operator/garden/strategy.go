// SPDX-License-Identifier: Apache-2.0

package garden

import (
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperatorv1alpha1 "github.com/terrarium-garden/terrarium/apis/operator/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/operator/validation"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

type garden = gardenoperatorv1alpha1.Garden

func rules() kind.Rules[*garden] {
	return kind.Rules[*garden]{
		Names: kind.Names{
			GroupVersion: gardenoperatorv1alpha1.GroupVersion,
			Plural:       "gardens",
			Singular:     "garden",
			ShortNames:   []string{"grdn"},
		},
		New:            func() *garden { return &garden{} },
		NewList:        func() runtime.Object { return &gardenoperatorv1alpha1.GardenList{} },
		Generation:     true,
		SpecChanged:    func(obj, old *garden) bool { return !equality.Semantic.DeepEqual(obj.Spec, old.Spec) },
		Validate:       validation.ValidateGarden,
		ValidateUpdate: validation.ValidateGardenUpdate,
		Columns:        columns(),
		Status: &kind.StatusRules[*garden]{
			Reset:    func(obj, old *garden) { obj.Status = old.Status },
			KeepSpec: func(obj, old *garden) { obj.Spec = old.Spec },
		},
	}
}

func columns() []kind.Column[*garden] {
	health := func(name string, t gardencorev1beta1.ConditionType) kind.Column[*garden] {
		return kind.Column[*garden]{Name: name, Cell: func(g *garden) string { return condition(g, t) }}
	}
	return []kind.Column[*garden]{
		{Name: "K8S Version", Cell: func(g *garden) string { return g.Spec.VirtualCluster.Kubernetes.Version }},
		{Name: "Gardener Version", Cell: func(g *garden) string {
			if g.Status.Gardener == nil {
				return ""
			}
			return g.Status.Gardener.Version
		}},
		{Name: "Last Operation", Cell: func(g *garden) string {
			if g.Status.LastOperation == nil {
				return ""
			}
			return string(g.Status.LastOperation.State)
		}},
		health("Runtime", gardenoperatorv1alpha1.ConditionTypeRuntimeComponentsHealthy),
		health("Virtual", gardenoperatorv1alpha1.ConditionTypeVirtualComponentsHealthy),
		health("API Server", gardenoperatorv1alpha1.ConditionTypeVirtualGardenAPIServerAvailable),
		health("Observability", gardenoperatorv1alpha1.ConditionTypeObservabilityComponentsHealthy),
	}
}

// condition returns the status of a condition, empty if there is none, as in the table of a custom resource.
func condition(g *garden, t gardencorev1beta1.ConditionType) string {
	for _, c := range g.Status.Conditions {
		if c.Type == t {
			return string(c.Status)
		}
	}
	return ""
}
