// SPDX-License-Identifier: Apache-2.0

// Package deletionconfirmation lets Shoots, ShootStates, Projects and the Garden be deleted only when that was confirmed by an
// annotation beforehand, and notes who confirmed that of a Shoot (API-DELCONF-1 to 3, OPER-WH-3).
package deletionconfirmation

import (
	"context"
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperatorv1alpha1 "github.com/terrarium-garden/terrarium/apis/operator/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

type rule struct {
	*admission.Handler

	world *world.World
}

// New makes the rule.
func New(w *world.World) admission.Interface {
	return &rule{Handler: admission.NewHandler(admission.Create, admission.Update, admission.Delete), world: w}
}

var (
	_ admission.ValidationInterface = &rule{}
	_ admission.MutationInterface   = &rule{}
)

// Admit notes on a Shoot who confirmed its deletion. The note stays for as long as the confirmation does, goes with it,
// and is nobody's to write (API-DELCONF-3).
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

// Validate refuses the deletion of objects that carry no confirmation, or not that of a second person where the project
// asks for one. The server hands in the object as it is stored; one that does not exist is not asked about.
func (r *rule) Validate(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	if a.GetOperation() != admission.Delete || a.GetSubresource() != "" || a.GetOldObject() == nil {
		return nil
	}
	switch a.GetKind().GroupKind() {
	case gardencorev1beta1.Kind("Shoot"), gardencorev1beta1.Kind("ShootState"), gardencorev1beta1.Kind("Project"),
		gardenoperatorv1alpha1.Kind("Garden"):
	default:
		return nil
	}
	if a.GetName() == "" {
		if err := r.collection(ctx, a); err != nil {
			return world.Answer(a, err)
		}
	}
	object, err := meta.Accessor(a.GetOldObject())
	if err != nil {
		return world.Answer(a, fmt.Errorf("look at the object: %w", err))
	}
	if !confirmed(object) {
		return world.Answer(a, unconfirmed(a, object))
	}
	shoot, ok := a.GetOldObject().(*gardencorev1beta1.Shoot)
	if !ok {
		return nil
	}
	return world.Answer(a, second(ctx, r.world.Fresh(), a, shoot))
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
