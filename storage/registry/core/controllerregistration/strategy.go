// SPDX-License-Identifier: Apache-2.0

package controllerregistration

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/terrarium-garden/terrarium/apis/check"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/core/validation"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

func rules() kind.Rules[*gardencorev1beta1.ControllerRegistration] {
	return kind.Rules[*gardencorev1beta1.ControllerRegistration]{
		Names: kind.Names{
			GroupVersion: gardencorev1beta1.GroupVersion,
			Plural:       "controllerregistrations",
			Singular:     "controllerregistration",
			ShortNames:   []string{"ctrlreg"},
			Categories:   []string{"all"},
		},
		Turn:       kind.NewTurn(), // A kind and type has one primary registration (API-CRRES-1).
		New:        func() *gardencorev1beta1.ControllerRegistration { return &gardencorev1beta1.ControllerRegistration{} },
		NewList:    func() runtime.Object { return &gardencorev1beta1.ControllerRegistrationList{} },
		Generation: true,
		SpecChanged: func(obj, old *gardencorev1beta1.ControllerRegistration) bool {
			return !check.Same(obj.Spec, old.Spec)
		},
		Validate:       validation.ValidateControllerRegistration,
		ValidateUpdate: validation.ValidateControllerRegistrationUpdate,
		Columns:        columns(),
	}
}

func columns() []kind.Column[*gardencorev1beta1.ControllerRegistration] {
	return []kind.Column[*gardencorev1beta1.ControllerRegistration]{{Name: "Resources", Cell: offers}}
}

// offers prints the kinds and types that the extension is responsible for.
func offers(o *gardencorev1beta1.ControllerRegistration) string {
	all := make([]string, 0, len(o.Spec.Resources))
	for _, r := range o.Spec.Resources {
		all = append(all, r.Kind+"/"+r.Type)
	}
	return strings.Join(all, ", ")
}
