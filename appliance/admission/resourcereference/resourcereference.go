// SPDX-License-Identifier: Apache-2.0

// Package resourcereference rejects references to objects that do not exist or that the user may not read, rejects the removal of what other objects
// refer to, and records the creator of a Shoot (API-RRM-1 to 6, 9 to 13). Package shootvalidator checks that a Shoot's CloudProfile and Seed exist,
// because it has to read them anyway.
package resourcereference

import (
	"context"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
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

// Admit records the creator of a Shoot (API-RRM-5).
func (*rule) Admit(_ context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	shoot, ok := a.GetObject().(*gardencorev1beta1.Shoot)
	if ok && a.GetOperation() == admission.Create && a.GetSubresource() == "" {
		metav1.SetMetaDataAnnotation(&shoot.ObjectMeta, gardencorev1beta1.AnnotationCreatedBy, a.GetUserInfo().GetName())
	}
	return nil
}

// Validate checks the references that a request adds, and whether other objects need what a request removes. Objects in
// deletion are accepted, so that finalizers can always be removed (API-ADM-6).
func (r *rule) Validate(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	if a.GetSubresource() != "" {
		return nil
	}
	if bucket, ok := a.GetOldObject().(*gardencorev1beta1.BackupBucket); ok && a.GetOperation() == admission.Delete {
		return world.Answer(a, empty(ctx, r.world.Fresh(), bucket))
	}
	object, ok := a.GetObject().(metav1.Object)
	if !ok || object.GetDeletionTimestamp() != nil {
		return nil
	}
	if now, before, ok := references(a); ok {
		if err := r.check(ctx, a, introduced(now, before)); err != nil {
			return err
		}
	}
	if seed, ok := object.(*gardencorev1beta1.Seed); ok {
		return world.Answer(a, keepsNames(ctx, r.world.Fresh(), seed, before[gardencorev1beta1.Seed](a)))
	}
	if profile, ok := object.(*gardencorev1beta1.CloudProfile); ok {
		return world.Answer(a, cloudProfile(ctx, r.world.Fresh(), profile, before[gardencorev1beta1.CloudProfile](a)))
	}
	if profile, ok := object.(*gardencorev1beta1.NamespacedCloudProfile); ok {
		return world.Answer(a, namespacedProfile(ctx, r.world.Fresh(), profile, before[gardencorev1beta1.NamespacedCloudProfile](a)))
	}
	return r.more(ctx, a)
}

// more checks the requirements between an object and those that it refers to.
func (r *rule) more(ctx context.Context, a admission.Attributes) error {
	switch o := a.GetObject().(type) {
	case *gardencorev1beta1.Shoot:
		old := before[gardencorev1beta1.Shoot](a)
		return r.world.Decide(a, func(v world.View) error { return errors.Join(profile(ctx, v, o, old), binding(ctx, v, o, old)) })
	case *gardencorev1beta1.SecretBinding:
		old := before[gardencorev1beta1.SecretBinding](a)
		if err := r.world.Decide(a, func(v world.View) error { return secretBinding(ctx, v, o, old) }); err != nil {
			return err
		}
		return r.shows(ctx, a)
	case *gardensecurityv1alpha1.CredentialsBinding:
		old := before[gardensecurityv1alpha1.CredentialsBinding](a)
		if err := r.world.Decide(a, func(v world.View) error { return credentialsBinding(ctx, v, o, old) }); err != nil {
			return err
		}
		return r.shows(ctx, a)
	case *gardenseedmanagementv1alpha1.ManagedSeed, *gardenseedmanagementv1alpha1.Gardenlet:
		return world.Answer(a, alone(ctx, r.world.Fresh(), a))
	}
	return nil
}

// references returns the references of the new and the old object of a request, and whether the kind has any.
func references(a admission.Attributes) (now, was []reference, known bool) {
	switch o := a.GetObject().(type) {
	case *gardencorev1beta1.SecretBinding:
		return unending(ofBinding(o)), ofBinding(before[gardencorev1beta1.SecretBinding](a)), true
	case *gardensecurityv1alpha1.CredentialsBinding:
		return unending(ofCredentials(o)), ofCredentials(before[gardensecurityv1alpha1.CredentialsBinding](a)), true
	case *gardencorev1beta1.Shoot:
		return unending(ofShoot(o)), ofShoot(before[gardencorev1beta1.Shoot](a)), true
	case *gardencorev1beta1.Seed:
		return ofSeed(o), ofSeed(before[gardencorev1beta1.Seed](a)), true
	case *gardencorev1beta1.BackupBucket:
		return ofBucket(o), ofBucket(before[gardencorev1beta1.BackupBucket](a)), true
	case *gardencorev1beta1.BackupEntry:
		return ofEntry(o), ofEntry(before[gardencorev1beta1.BackupEntry](a)), true
	case *gardencorev1beta1.ControllerRegistration:
		return ofRegistration(o), ofRegistration(before[gardencorev1beta1.ControllerRegistration](a)), true
	default:
		return nil, nil, false
	}
}

// before returns the old object, or an empty one on create.
func before[T any](a admission.Attributes) *T {
	if old, ok := any(a.GetOldObject()).(*T); ok {
		return old
	}
	return new(T)
}
