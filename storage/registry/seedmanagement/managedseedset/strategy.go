// SPDX-License-Identifier: Apache-2.0

package managedseedset

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/terrarium-garden/terrarium/apis/check"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/seedmanagement/validation"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

type set = gardenseedmanagementv1alpha1.ManagedSeedSet

func rules() kind.Rules[*set] {
	return kind.Rules[*set]{
		Names: kind.Names{
			GroupVersion: gardenseedmanagementv1alpha1.GroupVersion,
			Plural:       "managedseedsets",
			Singular:     "managedseedset",
			ShortNames:   []string{"mss"},
		},
		New:            func() *set { return &set{} },
		NewList:        func() runtime.Object { return &gardenseedmanagementv1alpha1.ManagedSeedSetList{} },
		Namespaced:     true,
		Generation:     true,
		SpecChanged:    func(obj, old *set) bool { return !check.Same(obj.Spec, old.Spec) },
		MustGrow:       operation,
		Validate:       validation.ValidateManagedSeedSet,
		ValidateUpdate: validation.ValidateManagedSeedSetUpdate,
		Columns: []kind.Column[*set]{
			{Name: "Ready", Cell: func(o *set) string { return fmt.Sprintf("%d/%d", o.Status.ReadyReplicas, replicas(o)) }},
			{Name: "Pending", Cell: func(o *set) string {
				if o.Status.PendingReplica == nil {
					return ""
				}
				return o.Status.PendingReplica.Name + ":" + string(o.Status.PendingReplica.Reason)
			}},
		},
		Status: &kind.StatusRules[*set]{
			Reset:    func(obj, old *set) { obj.Status = old.Status },
			KeepSpec: func(obj, old *set) { obj.Spec = old.Spec },
			Validate: validation.ValidateManagedSeedSetStatusUpdate,
		},
	}
}

// operation consumes the annotation that asks for an ordinary reconciliation (API-STRAT-4).
func operation(obj, _ *set) bool {
	if obj.Annotations[gardencorev1beta1.AnnotationOperation] != gardencorev1beta1.OperationReconcile {
		return false
	}
	delete(obj.Annotations, gardencorev1beta1.AnnotationOperation)
	return true
}

func replicas(o *set) int32 {
	if o.Spec.Replicas == nil {
		return 0
	}
	return *o.Spec.Replicas
}
