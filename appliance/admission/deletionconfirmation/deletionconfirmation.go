// SPDX-License-Identifier: Apache-2.0

// Package deletionconfirmation rejects the deletion of Shoots, ShootStates and Projects unless an annotation confirms it,
// and records the user who confirmed that of a Shoot (API-DELCONF-1 to 3).
package deletionconfirmation

import (
	"context"
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

type rule struct {
	*admission.Handler

	world *world.World
}

// New returns the plugin.
func New(w *world.World) admission.Interface {
	return &rule{Handler: admission.NewHandler(admission.Create, admission.Update, admission.Delete), world: w}
}

var (
	_ admission.ValidationInterface = &rule{}
	_ admission.MutationInterface   = &rule{}
)

// Admit records in a Shoot the user who confirmed its deletion. The record exists as long as the confirmation, and users
// cannot change it (API-DELCONF-3).
func (*rule) Admit(_ context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	shoot, ok := a.GetObject().(*gardencorev1beta1.Shoot)
	if !ok || a.GetSubresource() == "status" {
		return nil
	}
	if !confirmed(shoot) {
		delete(shoot.Annotations, gardencorev1beta1.AnnotationDeletionConfirmedBy)
		return nil
	}
	by := a.GetUserInfo().GetName()
	if old, ok := a.GetOldObject().(*gardencorev1beta1.Shoot); ok && confirmed(old) {
		if noted := old.Annotations[gardencorev1beta1.AnnotationDeletionConfirmedBy]; noted != "" {
			by = noted
		}
	}
	shoot.Annotations[gardencorev1beta1.AnnotationDeletionConfirmedBy] = by
	return nil
}

// Validate rejects the deletion of objects without a confirmation, or without that of a second user if the project requires
// one. The server passes the stored object; it does not run the plugin for a missing one. Of a collection, the store has each object that is
// selected judged before it deletes the first (API-DELCONF-2).
func (r *rule) Validate(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	if a.GetOperation() != admission.Delete || a.GetSubresource() != "" || a.GetOldObject() == nil {
		return nil
	}
	switch a.GetKind().GroupKind() {
	case gardencorev1beta1.Kind("Shoot"), gardencorev1beta1.Kind("ShootState"), gardencorev1beta1.Kind("Project"):
	default:
		return nil
	}
	object, err := meta.Accessor(a.GetOldObject())
	if err != nil {
		return world.Answer(a, fmt.Errorf("access metadata of the object: %w", err))
	}
	if !confirmed(object) {
		return world.Answer(a, unconfirmed(a, object))
	}
	shoot, ok := a.GetOldObject().(*gardencorev1beta1.Shoot)
	if !ok {
		return nil
	}
	return world.Answer(a, secondUser(ctx, r.world.Fresh(), a, shoot))
}

func confirmed(o metav1.Object) bool {
	yes, err := strconv.ParseBool(o.GetAnnotations()[gardencorev1beta1.AnnotationConfirmationDeletion])
	return err == nil && yes
}

func unconfirmed(a admission.Attributes, o metav1.Object) error {
	namespace := ""
	if o.GetNamespace() != "" {
		namespace = " -n " + o.GetNamespace()
	}
	return fmt.Errorf("the deletion of %s %q is not confirmed; confirm it with: kubectl annotate%s %s %s %s=true",
		a.GetKind().Kind, o.GetName(), namespace, a.GetResource().Resource, o.GetName(),
		gardencorev1beta1.AnnotationConfirmationDeletion)
}
