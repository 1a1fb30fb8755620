// SPDX-License-Identifier: Apache-2.0

package secretbinding

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/storage/names"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/core/validation"
	"github.com/terrarium-garden/terrarium/apis/core/warning"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
	"github.com/terrarium-garden/terrarium/storage/registry/kind/cell"
)

func rules() kind.Rules[*gardencorev1beta1.SecretBinding] {
	return kind.Rules[*gardencorev1beta1.SecretBinding]{
		Names: kind.Names{
			GroupVersion: gardencorev1beta1.GroupVersion,
			Plural:       "secretbindings",
			Singular:     "secretbinding",
			ShortNames:   []string{"sb"},
		},
		New:           func() *gardencorev1beta1.SecretBinding { return &gardencorev1beta1.SecretBinding{} },
		NewList:       func() runtime.Object { return &gardencorev1beta1.SecretBindingList{} },
		Namespaced:    true,
		Unconditional: true,
		PrepareCreate: func(_ context.Context, obj *gardencorev1beta1.SecretBinding) {
			generateName(obj)
		},
		Validate:       validation.ValidateSecretBinding,
		ValidateUpdate: validation.ValidateSecretBindingUpdate,
		Warn:           func(_, _ *gardencorev1beta1.SecretBinding) []string { return warning.SecretBinding() },
		Columns:        columns(),
	}
}

// generateName generates the name before admission, so that admission plugins can use it.
func generateName(obj *gardencorev1beta1.SecretBinding) {
	if obj.Name == "" && obj.GenerateName != "" {
		obj.Name = names.SimpleNameGenerator.GenerateName(obj.GenerateName)
	}
}

func columns() []kind.Column[*gardencorev1beta1.SecretBinding] {
	return []kind.Column[*gardencorev1beta1.SecretBinding]{
		{Name: "Secret", Cell: func(o *gardencorev1beta1.SecretBinding) string {
			return o.SecretRef.Namespace + "/" + o.SecretRef.Name
		}},
		{Name: "Provider", Cell: func(o *gardencorev1beta1.SecretBinding) string {
			if o.Provider == nil {
				return cell.None
			}
			return o.Provider.Type
		}},
	}
}
