// SPDX-License-Identifier: Apache-2.0

// Package resourcereference refuses objects that refer to something which does not exist or which the user may not see,
// and notes who created a Shoot (API-RRM-1, 3, 5, 10, 12).
package resourcereference

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
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
	var err error
	switch o := a.GetObject().(type) {
	case *gardencorev1beta1.SecretBinding:
		err = r.secretBinding(ctx, a, o)
	case *gardencorev1beta1.Shoot:
		err = r.shoot(ctx, a, o)
	case *gardencorev1beta1.ControllerRegistration:
		err = r.registration(ctx, o)
	case *gardencorev1beta1.CloudProfile:
		err = r.cloudProfile(ctx, a, o)
	}
	if err != nil {
		return admission.NewForbidden(a, err)
	}
	return nil
}

// secretBinding holds API-RRM-1: who binds credentials must be able to read them.
func (r *rule) secretBinding(ctx context.Context, a admission.Attributes, b *gardencorev1beta1.SecretBinding) error {
	if a.GetOperation() == admission.Update {
		return nil // The reference is immutable.
	}
	ref := b.SecretRef
	allowed, err := r.world.May(ctx, a.GetUserInfo(), "get", world.Target{Resource: "secrets", Namespace: ref.Namespace, Name: ref.Name})
	if err != nil {
		return err
	}
	if !allowed {
		return fmt.Errorf("secretRef: you may not read Secret %q in namespace %q", ref.Name, ref.Namespace)
	}
	_, err = r.world.Secret(ctx, ref.Namespace, ref.Name)
	return exists(err, "secretRef", "Secret", ref.Namespace+"/"+ref.Name)
}

// shoot holds API-RRM-3: only references that the request changed are looked at.
func (r *rule) shoot(ctx context.Context, a admission.Attributes, s *gardencorev1beta1.Shoot) error {
	old, ok := a.GetOldObject().(*gardencorev1beta1.Shoot)
	if !ok {
		old = &gardencorev1beta1.Shoot{}
	}
	var errs []error
	if name := profile(s); name != profile(old) {
		_, err := r.world.CloudProfile(ctx, name)
		errs = append(errs, exists(err, "spec.cloudProfile", "CloudProfile", name))
	}
	if name := s.Spec.SeedName; name != nil && (old.Spec.SeedName == nil || *old.Spec.SeedName != *name) {
		_, err := r.world.Seed(ctx, *name)
		errs = append(errs, exists(err, "spec.seedName", "Seed", *name))
	}
	if name := s.Spec.SecretBindingName; name != nil && (old.Spec.SecretBindingName == nil || *old.Spec.SecretBindingName != *name) {
		_, err := r.world.SecretBinding(ctx, s.Namespace, *name)
		errs = append(errs, exists(err, "spec.secretBindingName", "SecretBinding", s.Namespace+"/"+*name))
	}
	return errors.Join(errs...)
}

// registration holds API-RRM-12.
func (r *rule) registration(ctx context.Context, reg *gardencorev1beta1.ControllerRegistration) error {
	if reg.Spec.Deployment == nil {
		return nil
	}
	var errs []error
	for _, ref := range reg.Spec.Deployment.DeploymentRefs {
		_, err := r.world.ControllerDeployment(ctx, ref.Name)
		errs = append(errs, exists(err, "spec.deployment.deploymentRefs", "ControllerDeployment", ref.Name))
	}
	return errors.Join(errs...)
}

func profile(s *gardencorev1beta1.Shoot) string {
	switch {
	case s.Spec.CloudProfile != nil:
		return s.Spec.CloudProfile.Name
	case s.Spec.CloudProfileName != nil:
		return *s.Spec.CloudProfileName
	default:
		return ""
	}
}

func exists(err error, path, kind, name string) error {
	switch {
	case err == nil:
		return nil
	case apierrors.IsNotFound(err):
		return fmt.Errorf("%s: %s %q does not exist; create it first or name another", path, kind, name)
	default:
		return fmt.Errorf("%s: read %s %q: %w", path, kind, name, err)
	}
}
