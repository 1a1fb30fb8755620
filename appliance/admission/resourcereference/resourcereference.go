// SPDX-License-Identifier: Apache-2.0

// Package resourcereference refuses objects that refer to something which does not exist or which the user may not see,
// and notes who created a Shoot (API-RRM-1, 3, 5, 6, 10, 12). That a Shoot's CloudProfile and Seed exist is seen by
// package shootvalidator, which has to read them anyway.
package resourcereference

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

type rule struct {
	*admission.Handler

	world *world.World
}

// New makes the rule.
func New(w *world.World) admission.Interface {
	return &rule{Handler: admission.NewHandler(admission.Create, admission.Update), world: w}
}

var (
	_ admission.ValidationInterface = &rule{}
	_ admission.MutationInterface   = &rule{}
)

// Admit notes who created a Shoot (API-RRM-5).
func (*rule) Admit(_ context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	shoot, ok := a.GetObject().(*gardencorev1beta1.Shoot)
	if ok && a.GetOperation() == admission.Create && a.GetSubresource() == "" {
		metav1.SetMetaDataAnnotation(&shoot.ObjectMeta, gardencorev1beta1.AnnotationCreatedBy, a.GetUserInfo().GetName())
	}
	return nil
}

// Validate checks the references that a request introduces. Objects that are being deleted pass, so that finalizers can
// always be removed (API-ADM-6).
func (r *rule) Validate(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	object, ok := a.GetObject().(metav1.Object)
	if !ok || a.GetSubresource() != "" || object.GetDeletionTimestamp() != nil {
		return nil
	}
	switch o := a.GetObject().(type) {
	case *gardencorev1beta1.SecretBinding:
		return r.check(ctx, a, introduced(ofBinding(o), ofBinding(before[gardencorev1beta1.SecretBinding](a))))
	case *gardencorev1beta1.Shoot:
		old := before[gardencorev1beta1.Shoot](a)
		if err := r.check(ctx, a, introduced(ofShoot(o), ofShoot(old))); err != nil {
			return err
		}
		return r.world.Decide(a, func(v world.View) error { return binding(ctx, v, o, old) })
	case *gardencorev1beta1.Seed:
		return r.check(ctx, a, introduced(ofSeed(o), ofSeed(before[gardencorev1beta1.Seed](a))))
	case *gardencorev1beta1.ControllerRegistration:
		return r.check(ctx, a, introduced(ofRegistration(o), ofRegistration(before[gardencorev1beta1.ControllerRegistration](a))))
	case *gardencorev1beta1.CloudProfile:
		return world.Answer(a, cloudProfile(ctx, r.world.Fresh(), o, before[gardencorev1beta1.CloudProfile](a)))
	}
	return nil
}

// before is the object as it was, or an empty one on create.
func before[T any](a admission.Attributes) *T {
	if old, ok := any(a.GetOldObject()).(*T); ok {
		return old
	}
	return new(T)
}
