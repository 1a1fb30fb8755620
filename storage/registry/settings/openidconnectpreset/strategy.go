// SPDX-License-Identifier: Apache-2.0

package openidconnectpreset

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	gardensettingsv1alpha1 "github.com/terrarium-garden/terrarium/apis/settings/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/settings/validation"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

func rules() kind.Rules[*gardensettingsv1alpha1.OpenIDConnectPreset] {
	return kind.Rules[*gardensettingsv1alpha1.OpenIDConnectPreset]{
		Names: kind.Names{
			GroupVersion: gardensettingsv1alpha1.GroupVersion,
			Plural:       "openidconnectpresets",
			Singular:     "openidconnectpreset",
			ShortNames:   []string{"oidcps"},
			Categories:   []string{"all"},
		},
		New: func() *gardensettingsv1alpha1.OpenIDConnectPreset {
			return &gardensettingsv1alpha1.OpenIDConnectPreset{}
		},
		NewList:        func() runtime.Object { return &gardensettingsv1alpha1.OpenIDConnectPresetList{} },
		Namespaced:     true,
		Validate:       validation.ValidateOpenIDConnectPreset,
		ValidateUpdate: validation.ValidateOpenIDConnectPresetUpdate,
		Columns: []kind.Column[*gardensettingsv1alpha1.OpenIDConnectPreset]{
			{Name: "Issuer", Cell: func(o *gardensettingsv1alpha1.OpenIDConnectPreset) string { return o.Spec.Server.IssuerURL }},
			{Name: "Shoot-Selector", Cell: func(o *gardensettingsv1alpha1.OpenIDConnectPreset) string {
				return metav1.FormatLabelSelector(o.Spec.ShootSelector)
			}},
		},
	}
}
