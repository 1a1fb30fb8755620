// SPDX-License-Identifier: Apache-2.0

package exposureclass

import (
	"k8s.io/apimachinery/pkg/runtime"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/core/validation"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

func rules() kind.Rules[*gardencorev1beta1.ExposureClass] {
	return kind.Rules[*gardencorev1beta1.ExposureClass]{
		Names: kind.Names{
			GroupVersion: gardencorev1beta1.GroupVersion,
			Plural:       "exposureclasses",
			Singular:     "exposureclass",
			ShortNames:   []string{"expclass", "expcls"},
		},
		New:            func() *gardencorev1beta1.ExposureClass { return &gardencorev1beta1.ExposureClass{} },
		NewList:        func() runtime.Object { return &gardencorev1beta1.ExposureClassList{} },
		Validate:       validation.ValidateExposureClass,
		ValidateUpdate: validation.ValidateExposureClassUpdate,
		Columns: []kind.Column[*gardencorev1beta1.ExposureClass]{
			{Name: "Handler", Cell: func(o *gardencorev1beta1.ExposureClass) string { return o.Handler }},
		},
	}
}
