// SPDX-License-Identifier: Apache-2.0

package gardenlet

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/terrarium-garden/terrarium/apis/check"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/seedmanagement/validation"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
	"github.com/terrarium-garden/terrarium/storage/registry/kind/cell"
)

type gardenlet = gardenseedmanagementv1alpha1.Gardenlet

func rules(turn kind.Turn) kind.Rules[*gardenlet] {
	return kind.Rules[*gardenlet]{
		Names: kind.Names{
			GroupVersion: gardenseedmanagementv1alpha1.GroupVersion,
			Plural:       "gardenlets",
			Singular:     "gardenlet",
			ShortNames:   []string{"gl", "glet"},
		},
		Turn:           turn,
		New:            func() *gardenlet { return &gardenlet{} },
		NewList:        func() runtime.Object { return &gardenseedmanagementv1alpha1.GardenletList{} },
		Namespaced:     true,
		Generation:     true,
		SpecChanged:    func(obj, old *gardenlet) bool { return !check.Same(obj.Spec, old.Spec) },
		MustGrow:       operation,
		Validate:       validation.ValidateGardenlet,
		ValidateUpdate: validation.ValidateGardenletUpdate,
		Columns: []kind.Column[*gardenlet]{
			{Name: "OCI Repository", Cell: repository},
			{Name: "Reconciled", Cell: func(o *gardenlet) string {
				return cell.Condition(o.Status.Conditions, gardenseedmanagementv1alpha1.ConditionTypeGardenletReconciled)
			}},
		},
		Status: &kind.StatusRules[*gardenlet]{
			Reset:    func(obj, old *gardenlet) { obj.Status = old.Status },
			KeepSpec: func(obj, old *gardenlet) { obj.Spec = old.Spec },
		},
	}
}

// operation increases the generation for operation annotations. It removes reconcile; the others stay until the controller
// that acts on them removes them (API-STRAT-4).
func operation(obj, old *gardenlet) bool {
	const annotation = gardencorev1beta1.AnnotationOperation
	switch asked := obj.Annotations[annotation]; asked {
	case gardencorev1beta1.OperationReconcile:
		delete(obj.Annotations, annotation)
		return true
	case gardencorev1beta1.OperationRenewKubeconfig, gardencorev1beta1.OperationForceRedeploy:
		return old.Annotations[annotation] != asked
	default:
		return false
	}
}

// repository returns the reference of the chart without the scheme.
func repository(o *gardenlet) string {
	r := o.Spec.Deployment.Helm.OCIRepository
	if r.Ref != nil {
		return strings.TrimPrefix(*r.Ref, "oci://")
	}
	address := strings.TrimPrefix(cell.Or(r.Repository, ""), "oci://")
	if r.Tag != nil {
		address += ":" + *r.Tag
	}
	if r.Digest != nil {
		address += "@" + *r.Digest
	}
	return address
}
