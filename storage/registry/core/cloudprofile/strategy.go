// SPDX-License-Identifier: Apache-2.0

package cloudprofile

import (
	"k8s.io/apimachinery/pkg/runtime"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/core/validation"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

func rules() kind.Rules[*gardencorev1beta1.CloudProfile] {
	return kind.Rules[*gardencorev1beta1.CloudProfile]{
		Names: kind.Names{
			GroupVersion: gardencorev1beta1.GroupVersion,
			Plural:       "cloudprofiles",
			Singular:     "cloudprofile",
			ShortNames:   []string{"cprofile", "cpfl"},
		},
		New:            func() *gardencorev1beta1.CloudProfile { return &gardencorev1beta1.CloudProfile{} },
		NewList:        func() runtime.Object { return &gardencorev1beta1.CloudProfileList{} },
		Unconditional:  true,
		Validate:       validation.ValidateCloudProfile,
		ValidateUpdate: validation.ValidateCloudProfileUpdate,
		Columns:        columns(),
		Status:         status(),
	}
}

func columns() []kind.Column[*gardencorev1beta1.CloudProfile] {
	return []kind.Column[*gardencorev1beta1.CloudProfile]{
		{Name: "Provider", Cell: func(o *gardencorev1beta1.CloudProfile) string { return o.Spec.Type }},
	}
}

func status() *kind.StatusRules[*gardencorev1beta1.CloudProfile] {
	return &kind.StatusRules[*gardencorev1beta1.CloudProfile]{
		Reset:    func(obj, old *gardencorev1beta1.CloudProfile) { obj.Status = old.Status },
		KeepSpec: func(obj, old *gardencorev1beta1.CloudProfile) { obj.Spec = old.Spec },
	}
}
