// SPDX-License-Identifier: Apache-2.0

package clusteropenidconnectpreset

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	gardensettingsv1alpha1 "github.com/terrarium-garden/terrarium/apis/settings/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/settings/validation"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

type preset = gardensettingsv1alpha1.ClusterOpenIDConnectPreset

func rules() kind.Rules[*preset] {
	return kind.Rules[*preset]{
		Names: kind.Names{
			GroupVersion: gardensettingsv1alpha1.GroupVersion,
			Plural:       "clusteropenidconnectpresets",
			Singular:     "clusteropenidconnectpreset",
			ShortNames:   []string{"coidcps"},
			Categories:   []string{"all"},
		},
		New:            func() *preset { return &preset{} },
		NewList:        func() runtime.Object { return &gardensettingsv1alpha1.ClusterOpenIDConnectPresetList{} },
		Validate:       validation.ValidateClusterOpenIDConnectPreset,
		ValidateUpdate: validation.ValidateClusterOpenIDConnectPresetUpdate,
		Columns: []kind.Column[*preset]{
			{Name: "Issuer", Cell: func(o *preset) string { return o.Spec.Server.IssuerURL }},
			{Name: "Project-Selector", Cell: func(o *preset) string { return metav1.FormatLabelSelector(o.Spec.ProjectSelector) }},
			{Name: "Shoot-Selector", Cell: func(o *preset) string { return metav1.FormatLabelSelector(o.Spec.ShootSelector) }},
		},
	}
}
