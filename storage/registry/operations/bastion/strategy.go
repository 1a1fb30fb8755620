// SPDX-License-Identifier: Apache-2.0

package bastion

import (
	"context"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/clock"

	"github.com/terrarium-garden/terrarium/apis/check"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperationsv1alpha1 "github.com/terrarium-garden/terrarium/apis/operations/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/operations/validation"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

// life is how long a bastion exists after its last heartbeat (API-STRAT-7).
const life = time.Hour

func rules(clk clock.PassiveClock) kind.Rules[*gardenoperationsv1alpha1.Bastion] {
	return kind.Rules[*gardenoperationsv1alpha1.Bastion]{
		Names: kind.Names{
			GroupVersion: gardenoperationsv1alpha1.GroupVersion,
			Plural:       "bastions",
			Singular:     "bastion",
			Categories:   []string{"all"},
		},
		New:           func() *gardenoperationsv1alpha1.Bastion { return &gardenoperationsv1alpha1.Bastion{} },
		NewList:       func() runtime.Object { return &gardenoperationsv1alpha1.BastionList{} },
		Namespaced:    true,
		Generation:    true,
		PrepareCreate: func(_ context.Context, obj *gardenoperationsv1alpha1.Bastion) { beat(obj, clk.Now()) },
		PrepareUpdate: func(_ context.Context, obj, _ *gardenoperationsv1alpha1.Bastion) { keepAlive(obj, clk.Now()) },
		SpecChanged: func(obj, old *gardenoperationsv1alpha1.Bastion) bool {
			return !check.Same(obj.Spec, old.Spec)
		},
		MustGrow:       mustGrow,
		Validate:       validation.ValidateBastion,
		ValidateUpdate: validation.ValidateBastionUpdate,
		Fields:         selectable,
		Indexes:        []string{gardenoperationsv1alpha1.FieldBastionSeedName},
		Columns:        columns(clk),
		Status:         status(clk),
	}
}

// beat records a heartbeat, which prolongs the life of a bastion, and removes the annotation that requests it (API-STRAT-7).
func beat(b *gardenoperationsv1alpha1.Bastion, now time.Time) {
	if b.Annotations[gardencorev1beta1.AnnotationOperation] == gardencorev1beta1.OperationKeepAlive {
		delete(b.Annotations, gardencorev1beta1.AnnotationOperation)
	}
	b.Status.LastHeartbeatTimestamp = new(metav1.NewTime(now))
	b.Status.ExpirationTimestamp = new(metav1.NewTime(now.Add(life)))
}

// keepAlive records a heartbeat if the annotation requests it.
func keepAlive(b *gardenoperationsv1alpha1.Bastion, now time.Time) {
	if b.Annotations[gardencorev1beta1.AnnotationOperation] == gardencorev1beta1.OperationKeepAlive {
		beat(b, now)
	}
}

// mustGrow reports whether the generation increases for a requested reconciliation, whose annotation the controller removes,
// or for a requested force deletion.
func mustGrow(obj, old *gardenoperationsv1alpha1.Bastion) bool {
	return forced(obj) && !forced(old) ||
		obj.Annotations[gardencorev1beta1.AnnotationOperation] == gardencorev1beta1.OperationReconcile
}

func forced(b *gardenoperationsv1alpha1.Bastion) bool {
	yes, err := strconv.ParseBool(b.Annotations[gardencorev1beta1.AnnotationConfirmationForceDeletion])
	return err == nil && yes
}

func selectable(o *gardenoperationsv1alpha1.Bastion) fields.Set {
	set := fields.Set{
		gardenoperationsv1alpha1.FieldBastionSeedName:  "",
		gardenoperationsv1alpha1.FieldBastionShootName: o.Spec.ShootRef.Name,
	}
	if o.Spec.SeedName != nil {
		set[gardenoperationsv1alpha1.FieldBastionSeedName] = *o.Spec.SeedName
	}
	return set
}

// status returns the rules of the status. Updates of the status cannot change the life of a bastion, which only the server
// prolongs.
func status(clk clock.PassiveClock) *kind.StatusRules[*gardenoperationsv1alpha1.Bastion] {
	return &kind.StatusRules[*gardenoperationsv1alpha1.Bastion]{
		Reset:    func(obj, old *gardenoperationsv1alpha1.Bastion) { obj.Status = old.Status },
		KeepSpec: func(obj, old *gardenoperationsv1alpha1.Bastion) { obj.Spec = old.Spec },
		PrepareUpdate: func(_ context.Context, obj, old *gardenoperationsv1alpha1.Bastion) {
			obj.Status.ExpirationTimestamp = old.Status.ExpirationTimestamp
		},
		Validate: func(obj, _ *gardenoperationsv1alpha1.Bastion) field.ErrorList {
			return validation.ValidateBastionStatusUpdate(obj, clk.Now())
		},
	}
}
