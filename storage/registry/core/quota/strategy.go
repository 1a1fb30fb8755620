// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"strconv"

	"k8s.io/apimachinery/pkg/runtime"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/core/validation"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

func rules() kind.Rules[*gardencorev1beta1.Quota] {
	return kind.Rules[*gardencorev1beta1.Quota]{
		Names: kind.Names{
			GroupVersion: gardencorev1beta1.GroupVersion,
			Plural:       "quotas",
			Singular:     "quota",
			ShortNames:   []string{"squota"},
		},
		New:            func() *gardencorev1beta1.Quota { return &gardencorev1beta1.Quota{} },
		NewList:        func() runtime.Object { return &gardencorev1beta1.QuotaList{} },
		Namespaced:     true,
		Unconditional:  true,
		Validate:       validation.ValidateQuota,
		ValidateUpdate: validation.ValidateQuotaUpdate,
		Columns:        columns(),
	}
}

func columns() []kind.Column[*gardencorev1beta1.Quota] {
	return []kind.Column[*gardencorev1beta1.Quota]{
		{Name: "Scope", Cell: func(o *gardencorev1beta1.Quota) string { return o.Spec.Scope.APIVersion + "." + o.Spec.Scope.Kind }},
		{Name: "Cluster Lifetime", Cell: lifetime},
	}
}

func lifetime(o *gardencorev1beta1.Quota) string {
	if o.Spec.ClusterLifetimeDays == nil {
		return "<unspecified>"
	}
	return strconv.Itoa(int(*o.Spec.ClusterLifetimeDays)) + " days"
}
