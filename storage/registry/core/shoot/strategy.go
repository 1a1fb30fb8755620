// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/core/validation"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
	"github.com/terrarium-garden/terrarium/storage/registry/kind/cell"
)

func rules() kind.Rules[*gardencorev1beta1.Shoot] {
	return kind.Rules[*gardencorev1beta1.Shoot]{
		Names: kind.Names{
			GroupVersion: gardencorev1beta1.GroupVersion,
			Plural:       "shoots",
			Singular:     "shoot",
			Categories:   []string{"all"},
		},
		New:            func() *gardencorev1beta1.Shoot { return &gardencorev1beta1.Shoot{} },
		NewList:        func() runtime.Object { return &gardencorev1beta1.ShootList{} },
		Namespaced:     true,
		Generation:     true,
		SpecChanged:    specChanged,
		MustGrow:       operations,
		Validate:       validation.ValidateShoot,
		ValidateUpdate: validation.ValidateShootUpdate,
		Canonicalize:   mirrorSeeds,
		Fields:         selectable,
		Indexes:        []string{gardencorev1beta1.FieldShootSeedName},
		Columns:        columns(),
		Status:         status(),
	}
}

// specChanged tells whether a change of the spec is to be acted on at once. With confined roll-out only switching
// hibernation is; all else waits for the maintenance window (API-SHOOTSTRAT-2).
func specChanged(obj, old *gardencorev1beta1.Shoot) bool {
	if confined(obj) {
		return hibernationWanted(obj) != hibernationWanted(old)
	}
	return !equality.Semantic.DeepEqual(obj.Spec, old.Spec)
}

func confined(s *gardencorev1beta1.Shoot) bool {
	m := s.Spec.Maintenance
	return m != nil && m.ConfineSpecUpdateRollout != nil && *m.ConfineSpecUpdateRollout
}

func hibernationWanted(s *gardencorev1beta1.Shoot) bool {
	return s.Spec.Hibernation != nil && s.Spec.Hibernation.Enabled != nil && *s.Spec.Hibernation.Enabled
}

func selectable(o *gardencorev1beta1.Shoot) fields.Set {
	set := fields.Set{
		gardencorev1beta1.FieldShootSeedName:            cell.Or(o.Spec.SeedName, ""),
		gardencorev1beta1.FieldShootStatusSeedName:      cell.Or(o.Status.SeedName, ""),
		gardencorev1beta1.FieldShootCloudProfileName:    cell.Or(o.Spec.CloudProfileName, ""),
		gardencorev1beta1.FieldShootCloudProfileRefName: "",
		gardencorev1beta1.FieldShootCloudProfileRefKind: "",
	}
	if ref := o.Spec.CloudProfile; ref != nil {
		set[gardencorev1beta1.FieldShootCloudProfileRefName] = ref.Name
		set[gardencorev1beta1.FieldShootCloudProfileRefKind] = ref.Kind
	}
	return set
}

func status() *kind.StatusRules[*gardencorev1beta1.Shoot] {
	return &kind.StatusRules[*gardencorev1beta1.Shoot]{
		Reset:    func(obj, old *gardencorev1beta1.Shoot) { obj.Status = old.Status },
		KeepSpec: func(obj, old *gardencorev1beta1.Shoot) { obj.Spec = old.Spec },
		Validate: validation.ValidateShootStatusUpdate,
	}
}
