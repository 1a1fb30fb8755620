// SPDX-License-Identifier: Apache-2.0

package controllerinstallation

import (
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/terrarium-garden/terrarium/apis/check"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/core/validation"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
	"github.com/terrarium-garden/terrarium/storage/registry/kind/cell"
)

func rules() kind.Rules[*gardencorev1beta1.ControllerInstallation] {
	return kind.Rules[*gardencorev1beta1.ControllerInstallation]{
		Names: kind.Names{
			GroupVersion: gardencorev1beta1.GroupVersion,
			Plural:       "controllerinstallations",
			Singular:     "controllerinstallation",
			ShortNames:   []string{"ctrlinst"},
			Categories:   []string{"all"},
		},
		New:        func() *gardencorev1beta1.ControllerInstallation { return &gardencorev1beta1.ControllerInstallation{} },
		NewList:    func() runtime.Object { return &gardencorev1beta1.ControllerInstallationList{} },
		Generation: true,
		SpecChanged: func(obj, old *gardencorev1beta1.ControllerInstallation) bool {
			return !check.Same(obj.Spec, old.Spec)
		},
		Validate:       validation.ValidateControllerInstallation,
		ValidateUpdate: validation.ValidateControllerInstallationUpdate,
		Fields:         selectable,
		Indexes: []string{
			gardencorev1beta1.FieldSeedRefName, gardencorev1beta1.FieldShootRefName,
			gardencorev1beta1.FieldShootRefNamespace, gardencorev1beta1.FieldRegistrationRefName,
		},
		Columns: columns(),
		Status:  status(),
	}
}

func selectable(o *gardencorev1beta1.ControllerInstallation) fields.Set {
	set := fields.Set{
		gardencorev1beta1.FieldRegistrationRefName: o.Spec.RegistrationRef.Name,
		gardencorev1beta1.FieldSeedRefName:         "",
		gardencorev1beta1.FieldShootRefName:        "",
		gardencorev1beta1.FieldShootRefNamespace:   "",
	}
	if ref := o.Spec.SeedRef; ref != nil {
		set[gardencorev1beta1.FieldSeedRefName] = ref.Name
	}
	if ref := o.Spec.ShootRef; ref != nil {
		set[gardencorev1beta1.FieldShootRefName] = ref.Name
		set[gardencorev1beta1.FieldShootRefNamespace] = ref.Namespace
	}
	return set
}

func columns() []kind.Column[*gardencorev1beta1.ControllerInstallation] {
	columns := []kind.Column[*gardencorev1beta1.ControllerInstallation]{
		{Name: "Registration", Cell: func(o *gardencorev1beta1.ControllerInstallation) string { return o.Spec.RegistrationRef.Name }},
		{Name: "Cluster", Cell: cluster},
	}
	for _, t := range []gardencorev1beta1.ConditionType{
		gardencorev1beta1.ConditionTypeValid, gardencorev1beta1.ConditionTypeInstalled,
		gardencorev1beta1.ConditionTypeHealthy, gardencorev1beta1.ConditionTypeProgressing,
	} {
		columns = append(columns, kind.Column[*gardencorev1beta1.ControllerInstallation]{
			Name: string(t),
			Cell: func(o *gardencorev1beta1.ControllerInstallation) string {
				return cell.Condition(o.Status.Conditions, t)
			},
		})
	}
	return columns
}

// cluster returns the name of the cluster where the extension is installed.
func cluster(o *gardencorev1beta1.ControllerInstallation) string {
	switch {
	case o.Spec.ShootRef != nil:
		return "Shoot/" + o.Spec.ShootRef.Namespace + "/" + o.Spec.ShootRef.Name
	case o.Spec.SeedRef != nil:
		return "Seed/" + o.Spec.SeedRef.Name
	default:
		return cell.Unknown
	}
}

func status() *kind.StatusRules[*gardencorev1beta1.ControllerInstallation] {
	return &kind.StatusRules[*gardencorev1beta1.ControllerInstallation]{
		Reset:    func(obj, old *gardencorev1beta1.ControllerInstallation) { obj.Status = old.Status },
		KeepSpec: func(obj, old *gardencorev1beta1.ControllerInstallation) { obj.Spec = old.Spec },
	}
}
