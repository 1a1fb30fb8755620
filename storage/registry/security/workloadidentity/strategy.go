// SPDX-License-Identifier: Apache-2.0

package workloadidentity

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/storage/names"

	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/security/validation"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

type identity = gardensecurityv1alpha1.WorkloadIdentity

func rules() kind.Rules[*identity] {
	return kind.Rules[*identity]{
		Names: kind.Names{
			GroupVersion: gardensecurityv1alpha1.GroupVersion,
			Plural:       "workloadidentities",
			Singular:     "workloadidentity",
			ShortNames:   []string{"wi"},
		},
		New:            func() *identity { return &identity{} },
		NewList:        func() runtime.Object { return &gardensecurityv1alpha1.WorkloadIdentityList{} },
		Namespaced:     true,
		PrepareCreate:  prepareCreate,
		PrepareUpdate:  func(_ context.Context, obj, old *identity) { obj.Status = old.Status },
		Validate:       validation.ValidateWorkloadIdentity,
		ValidateUpdate: validation.ValidateWorkloadIdentityUpdate,
		Columns: []kind.Column[*identity]{
			{Name: "Sub", Cell: func(o *identity) string { return o.Status.Sub }},
			{Name: "Type", Cell: func(o *identity) string { return o.Spec.TargetSystem.Type }},
			{Name: "Audiences", Wide: true, Cell: func(o *identity) string { return strings.Join(o.Spec.Audiences, ",") }},
		},
	}
}

// prepareCreate generates the name before admission and sets the subject of the identity; its UID is known at that point
// (API-VALWI-1).
func prepareCreate(_ context.Context, obj *identity) {
	if obj.Name == "" && obj.GenerateName != "" {
		obj.Name = names.SimpleNameGenerator.GenerateName(obj.GenerateName)
	}
	obj.Status = gardensecurityv1alpha1.WorkloadIdentityStatus{Sub: validation.Subject(obj)}
}
