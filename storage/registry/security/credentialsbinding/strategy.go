// SPDX-License-Identifier: Apache-2.0

package credentialsbinding

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/storage/names"

	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/security/validation"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

type binding = gardensecurityv1alpha1.CredentialsBinding

func rules() kind.Rules[*binding] {
	return kind.Rules[*binding]{
		Names: kind.Names{
			GroupVersion: gardensecurityv1alpha1.GroupVersion,
			Plural:       "credentialsbindings",
			Singular:     "credentialsbinding",
			ShortNames:   []string{"cb"},
		},
		New:            func() *binding { return &binding{} },
		NewList:        func() runtime.Object { return &gardensecurityv1alpha1.CredentialsBindingList{} },
		Namespaced:     true,
		PrepareCreate:  func(_ context.Context, obj *binding) { generateName(obj) },
		Validate:       validation.ValidateCredentialsBinding,
		ValidateUpdate: validation.ValidateCredentialsBindingUpdate,
		Columns: []kind.Column[*binding]{
			{Name: "Provider", Cell: func(o *binding) string { return o.Provider.Type }},
			{Name: "APIVersion", Cell: func(o *binding) string { return o.CredentialsRef.APIVersion }},
			{Name: "Kind", Cell: func(o *binding) string { return o.CredentialsRef.Kind }},
			{Name: "Name", Cell: func(o *binding) string { return o.CredentialsRef.Namespace + "/" + o.CredentialsRef.Name }},
		},
	}
}

// generateName generates the name before admission, so that admission plugins can use it.
func generateName(obj *binding) {
	if obj.Name == "" && obj.GenerateName != "" {
		obj.Name = names.SimpleNameGenerator.GenerateName(obj.GenerateName)
	}
}
