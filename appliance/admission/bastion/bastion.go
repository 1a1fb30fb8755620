// SPDX-License-Identifier: Apache-2.0

// Package bastion sets the seed and the provider of a Bastion to those of its Shoot, and makes the Shoot its owner
// (API-BAST-1).
package bastion

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/admission"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperationsv1alpha1 "github.com/terrarium-garden/terrarium/apis/operations/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

type rule struct {
	*admission.Handler

	world *world.World
}

// New returns the plugin.
func New(w *world.World) admission.Interface {
	return &rule{Handler: admission.NewHandler(admission.Create, admission.Update), world: w}
}

var _ admission.MutationInterface = &rule{}

// Admit sets the fields that are derived from the shoot. It accepts a Bastion in deletion, whose finalizer can always be removed.
func (r *rule) Admit(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	b, ok := a.GetObject().(*gardenoperationsv1alpha1.Bastion)
	if !ok || a.GetSubresource() != "" || b.DeletionTimestamp != nil {
		return nil
	}
	create := a.GetOperation() == admission.Create
	err := r.world.Decide(a, func(v world.View) error {
		shoot, err := shootOf(ctx, v, b)
		if err != nil {
			return err
		}
		if err := usable(shoot, create); err != nil {
			return world.Invalid(shootName(), b.Spec.ShootRef.Name, err.Error())
		}
		b.Spec.SeedName, b.Spec.ProviderType = new(*shoot.Spec.SeedName), new(shoot.Spec.Provider.Type)
		own(b, shoot)
		return nil
	})
	if err != nil || !create {
		return err
	}
	metav1.SetMetaDataAnnotation(&b.ObjectMeta, gardencorev1beta1.AnnotationCreatedBy, a.GetUserInfo().GetName())
	return nil
}

func shootName() *field.Path { return field.NewPath("spec", "shootRef", "name") }

func shootOf(ctx context.Context, v world.View, b *gardenoperationsv1alpha1.Bastion) (*gardencorev1beta1.Shoot, error) {
	name := b.Spec.ShootRef.Name
	if name == "" {
		return nil, &world.InvalidError{Errors: field.ErrorList{field.Required(shootName(), "must name a shoot in this namespace")}}
	}
	shoot, err := v.Shoot(ctx, b.Namespace, name)
	if apierrors.IsNotFound(err) {
		return nil, world.Invalid(shootName(), name, fmt.Sprintf("there is no shoot %q in namespace %q", name, b.Namespace))
	}
	if err != nil {
		return nil, fmt.Errorf("spec.shootRef.name: read shoot %q: %w", name, err)
	}
	return shoot, nil
}

// usable returns an error if a shoot has no machines that can be reached.
func usable(s *gardencorev1beta1.Shoot, create bool) error {
	settings := s.Spec.Provider.WorkersSettings
	switch {
	case create && s.DeletionTimestamp != nil:
		return fmt.Errorf("shoot %q is being deleted", s.Name)
	case s.Spec.SeedName == nil:
		return fmt.Errorf("shoot %q has no seed yet", s.Name)
	case settings != nil && settings.SSHAccess != nil && !settings.SSHAccess.Enabled:
		return fmt.Errorf("shoot %q has SSH disabled in spec.provider.workersSettings.sshAccess", s.Name)
	default:
		return nil
	}
}

// own makes the shoot the only controller of its bastion.
func own(b *gardenoperationsv1alpha1.Bastion, shoot *gardencorev1beta1.Shoot) {
	owner := *metav1.NewControllerRef(shoot, gardencorev1beta1.GroupVersion.WithKind("Shoot"))
	b.OwnerReferences = slices.DeleteFunc(b.OwnerReferences, func(o metav1.OwnerReference) bool {
		return o.Controller != nil && *o.Controller || o.Kind == owner.Kind && o.Name == owner.Name
	})
	b.OwnerReferences = append(b.OwnerReferences, owner)
}
