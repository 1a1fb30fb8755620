// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"strconv"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/terrarium-garden/terrarium/apis/check"
	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/core/validation"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
	"github.com/terrarium-garden/terrarium/storage/registry/kind/cell"
)

func rules() kind.Rules[*gardencorev1beta1.Shoot] {
	return kind.Rules[*gardencorev1beta1.Shoot]{
		Names: kind.Names{
			GroupVersion: gardencorev1beta1.GroupVersion,
			Plural:       "shoots",
			Singular:     "shoot",
			Categories:   []string{"all"},
		},
		New:            func() *gardencorev1beta1.Shoot { return &gardencorev1beta1.Shoot{} },
		NewList:        func() runtime.Object { return &gardencorev1beta1.ShootList{} },
		Namespaced:     true,
		Generation:     true,
		PrepareCreate:  prepareCreate,
		PrepareUpdate:  prepareUpdate,
		SpecChanged:    specChanged,
		MustGrow:       mustGrow,
		Validate:       validation.ValidateShoot,
		ValidateUpdate: validation.ValidateShootUpdate,
		Canonicalize:   mirrorLabels,
		Fields:         selectable,
		Indexes:        []string{gardencorev1beta1.FieldShootSeedName},
		LabelIndex:     gardencorev1beta1.LabelPrefixSeedName,
		Columns:        columns(),
		Status:         status(),
	}
}

// specChanged reports whether a change of the spec is rolled out immediately. If the rollout is confined, only a change of
// the hibernation is; all others wait for the maintenance time window (API-SHOOTSTRAT-2).
func specChanged(obj, old *gardencorev1beta1.Shoot) bool {
	if query.Confined(&obj.Spec) {
		return query.HibernationWanted(obj) != query.HibernationWanted(old)
	}
	return !check.Same(obj.Spec, old.Spec)
}

// mustGrow reports whether the generation increases for a reason other than the spec: an operation or a requested force
// deletion (API-SHOOTSTRAT-1).
func mustGrow(obj, old *gardencorev1beta1.Shoot) bool {
	asked := operations(obj, old)
	return asked || forced(obj) && !forced(old)
}

func forced(s *gardencorev1beta1.Shoot) bool {
	yes, err := strconv.ParseBool(s.Annotations[gardencorev1beta1.AnnotationConfirmationForceDeletion])
	return err == nil && yes
}

func selectable(o *gardencorev1beta1.Shoot) fields.Set {
	set := fields.Set{
		gardencorev1beta1.FieldShootSeedName:            cell.Or(o.Spec.SeedName, ""),
		gardencorev1beta1.FieldShootStatusSeedName:      cell.Or(o.Status.SeedName, ""),
		gardencorev1beta1.FieldShootCloudProfileName:    cell.Or(o.Spec.CloudProfileName, ""),
		gardencorev1beta1.FieldShootCloudProfileRefName: "",
		gardencorev1beta1.FieldShootCloudProfileRefKind: "",
	}
	if ref := o.Spec.CloudProfile; ref != nil {
		set[gardencorev1beta1.FieldShootCloudProfileRefName] = ref.Name
		set[gardencorev1beta1.FieldShootCloudProfileRefKind] = ref.Kind
	}
	return set
}

// growOnRelease increases the generation when the gardenlet of the old seed has finished its part of a move, so that the
// gardenlet of the new seed starts, and when a rotation that completes automatically is prepared (API-SHOOTSTRAT-7).
func growOnRelease(_ context.Context, obj, old *gardencorev1beta1.Shoot) {
	released := letGo(obj.Status.LastOperation) && !letGo(old.Status.LastOperation)
	if released || goesOn(obj) && !goesOn(old) {
		obj.SetGeneration(old.GetGeneration() + 1)
	}
}

func letGo(op *gardencorev1beta1.LastOperation) bool {
	return op != nil && op.Type == gardencorev1beta1.LastOperationTypeMigrate &&
		(op.State == gardencorev1beta1.LastOperationStateSucceeded || op.State == gardencorev1beta1.LastOperationStateAborted)
}

// goesOn reports whether the rotation of the etcd encryption key is prepared and completes automatically.
func goesOn(s *gardencorev1beta1.Shoot) bool {
	if s.Status.Credentials == nil || s.Status.Credentials.Rotation == nil {
		return false
	}
	r := s.Status.Credentials.Rotation.ETCDEncryptionKey
	return r != nil && r.Phase == gardencorev1beta1.CredentialsRotationPhasePrepared &&
		r.AutoCompleteAfterPrepared != nil && *r.AutoCompleteAfterPrepared
}

func status() *kind.StatusRules[*gardencorev1beta1.Shoot] {
	return &kind.StatusRules[*gardencorev1beta1.Shoot]{
		Reset:         func(obj, old *gardencorev1beta1.Shoot) { obj.Status = old.Status },
		KeepSpec:      func(obj, old *gardencorev1beta1.Shoot) { obj.Spec = old.Spec },
		PrepareUpdate: growOnRelease,
		Validate:      validation.ValidateShootStatusUpdate,
	}
}
