// SPDX-License-Identifier: Apache-2.0

// Package finalizerremoval rejects the removal of the garden's finalizer from a Shoot before it is deleted completely, from a SecretBinding or
// CredentialsBinding or NamespacedCloudProfile while a Shoot uses it, and from a Project while it has Shoots (API-FIN-1, API-SVAL-10,
// GCM-PROJECT-10).
package finalizerremoval

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apiserver/pkg/admission"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

const complete = 100

type rule struct {
	*admission.Handler

	world *world.World
}

// New returns the plugin.
func New(w *world.World) admission.Interface {
	return &rule{Handler: admission.NewHandler(admission.Update), world: w}
}

var _ admission.ValidationInterface = &rule{}

// Validate rejects the removal of the finalizer while the object is in use. Other updates return early.
func (r *rule) Validate(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	if a.GetSubresource() == "status" {
		return nil
	}
	switch old := a.GetOldObject().(type) {
	case *gardencorev1beta1.Shoot:
		if !taken(a, old) || released(old) {
			return nil
		}
		return world.Answer(a, errors.New(
			"the finalizer \"gardener\" is removed by the gardenlet once everything of the shoot is gone from its seed"))
	case *gardencorev1beta1.Project:
		if !taken(a, old) || old.Spec.Namespace == nil {
			return nil
		}
		return world.Answer(a, r.empty(ctx, old))
	case *gardencorev1beta1.SecretBinding:
		if !taken(a, old) {
			return nil
		}
		return world.Answer(a, r.unused(ctx, "SecretBinding", old, func(s *gardencorev1beta1.ShootSpec) *string { return s.SecretBindingName }))
	case *gardensecurityv1alpha1.CredentialsBinding:
		if !taken(a, old) {
			return nil
		}
		return world.Answer(a, r.unused(ctx, "CredentialsBinding", old, func(s *gardencorev1beta1.ShootSpec) *string { return s.CredentialsBindingName }))
	case *gardencorev1beta1.NamespacedCloudProfile:
		if !taken(a, old) {
			return nil
		}
		return world.Answer(a, r.unused(ctx, "NamespacedCloudProfile", old, ownProfile))
	}
	return nil
}

// taken reports whether the request removes the finalizer.
func taken(a admission.Attributes, old metav1.Object) bool {
	object, ok := a.GetObject().(metav1.Object)
	return ok && held(old) && !held(object)
}

func held(o metav1.Object) bool {
	return slices.Contains(o.GetFinalizers(), gardencorev1beta1.FinalizerGardener)
}

// ownProfile returns the name of the profile of a shoot if it is one of the project. Without it, the quotas that the shoot shares with
// shoots of other projects could not be added up.
func ownProfile(s *gardencorev1beta1.ShootSpec) *string {
	if s.CloudProfile == nil || s.CloudProfile.Kind != gardencorev1beta1.CloudProfileReferenceKindNamespacedCloudProfile {
		return nil
	}
	return &s.CloudProfile.Name
}

// unused returns an error if a shoot uses a binding or a profile.
func (r *rule) unused(
	ctx context.Context, kind string, used metav1.Object, uses func(*gardencorev1beta1.ShootSpec) *string,
) error {
	shoots, err := r.world.Fresh().Shoots(ctx, used.GetNamespace(), fields.Everything())
	if err != nil {
		return fmt.Errorf("list shoots of namespace %q: %w", used.GetNamespace(), err)
	}
	for i := range shoots {
		if name := uses(&shoots[i].Spec); name != nil && *name == used.GetName() {
			return fmt.Errorf("the finalizer \"gardener\" of %s %q cannot be removed while shoot %q uses it", kind, used.GetName(), shoots[i].Name)
		}
	}
	return nil
}

// empty returns an error if a project has shoots. Its admins may write its metadata, and could leave a namespace with shoots behind that belong to
// nobody: with the Project, the garbage collector deletes the namespace, in which nothing can be created any more.
func (r *rule) empty(ctx context.Context, p *gardencorev1beta1.Project) error {
	shoots, err := r.world.Fresh().Names(ctx, world.Place{Group: gardencorev1beta1.GroupName, Resource: "shoots", Namespace: *p.Spec.Namespace})
	if err != nil {
		return fmt.Errorf("list shoots of namespace %q: %w", *p.Spec.Namespace, err)
	}
	if len(shoots) == 0 {
		return nil
	}
	return fmt.Errorf("the finalizer \"gardener\" of project %q cannot be removed while it has shoots; delete them first: %s", p.Name, strings.Join(shoots, ", "))
}

// released reports whether nothing was ever created for a shoot, or all of it was deleted.
func released(s *gardencorev1beta1.Shoot) bool {
	op := s.Status.LastOperation
	if s.Status.TechnicalID == "" || op == nil {
		return true
	}
	return op.Type == gardencorev1beta1.LastOperationTypeDelete &&
		op.State == gardencorev1beta1.LastOperationStateSucceeded && op.Progress == complete
}
