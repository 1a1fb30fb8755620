// SPDX-License-Identifier: Apache-2.0

package shootstate

import (
	"strconv"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/terrarium-garden/terrarium/apis/check"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/core/validation"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

func rules() kind.Rules[*gardencorev1beta1.ShootState] {
	return kind.Rules[*gardencorev1beta1.ShootState]{
		Names: kind.Names{
			GroupVersion: gardencorev1beta1.GroupVersion,
			Plural:       "shootstates",
			Singular:     "shootstate",
			Categories:   []string{"all"},
		},
		New:        func() *gardencorev1beta1.ShootState { return &gardencorev1beta1.ShootState{} },
		NewList:    func() runtime.Object { return &gardencorev1beta1.ShootStateList{} },
		Namespaced: true,
		Generation: true,
		SpecChanged: func(obj, old *gardencorev1beta1.ShootState) bool {
			return !check.Same(obj.Spec, old.Spec)
		},
		Validate:       validation.ValidateShootState,
		ValidateUpdate: validation.ValidateShootStateUpdate,
		Columns: []kind.Column[*gardencorev1beta1.ShootState]{
			{Name: "Gardener Data", Cell: func(o *gardencorev1beta1.ShootState) string { return strconv.Itoa(len(o.Spec.Gardener)) }},
			{Name: "Extension States", Cell: func(o *gardencorev1beta1.ShootState) string { return strconv.Itoa(len(o.Spec.Extensions)) }},
		},
	}
}
