// SPDX-License-Identifier: Apache-2.0

// Package internaldomainsecret validates the Secrets of the internal domain: there is at most one in a namespace, and its
// domain does not change while shoots use it (GAC-IDOM-1).
package internaldomainsecret

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/admission"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

const (
	reason = "InternalDomain"
	// claimed is the sort of the claims of Secrets that are about to have the role.
	claimed = "internal domains"
	// seedPrefix and the name of a seed make the namespace of the seed in the garden.
	seedPrefix = "seed-"
)

type rule struct {
	*admission.Handler

	world *world.World
}

// New returns the plugin.
func New(w *world.World) admission.Interface {
	return &rule{Handler: admission.NewHandler(admission.Create, admission.Update, admission.Delete), world: w}
}

var _ admission.ValidationInterface = &rule{}

// Validate checks Secrets that have the role of the internal domain before or after the request.
func (r *rule) Validate(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	namespace := a.GetNamespace()
	if a.GetResource().GroupResource() != corev1.Resource("secrets") || a.GetSubresource() != "" ||
		namespace != gardencorev1beta1.NamespaceGarden && !strings.HasPrefix(namespace, seedPrefix) {
		return nil
	}
	now, before, err := world.Objects[corev1.Secret](a, o)
	if err != nil {
		return world.Answer(a, err)
	}
	is, was := internal(now), internal(before)
	if is {
		if err := r.complete(ctx, a, now, !was); err != nil {
			return err
		}
	}
	if !was || is && domain(now) == domain(before) {
		return nil
	}
	if err := r.unused(ctx, a, domain(before)); err != nil {
		return err
	}
	if !is {
		// It is there until it is written that it is not, so that it is found without its claim.
		r.world.Release(claimed, namespace, before.Name)
	}
	return nil
}

func internal(s *corev1.Secret) bool {
	return s != nil && s.Labels[gardencorev1beta1.LabelRole] == gardencorev1beta1.RoleInternalDomain
}

func domain(s *corev1.Secret) string { return s.Annotations[gardencorev1beta1.AnnotationDNSDomain] }

// complete rejects an incomplete Secret, and a second one in a namespace.
func (r *rule) complete(ctx context.Context, a admission.Attributes, s *corev1.Secret, isNew bool) error {
	var errs field.ErrorList
	for _, annotation := range []string{gardencorev1beta1.AnnotationDNSProvider, gardencorev1beta1.AnnotationDNSDomain} {
		if s.Annotations[annotation] == "" {
			errs = append(errs, field.Required(field.NewPath("metadata", "annotations").Key(annotation), "is required in a Secret of an internal domain"))
		}
	}
	if len(errs) > 0 {
		return r.world.Rejected(a, reason, apierrors.NewInvalid(a.GetKind().GroupKind(), s.Name, errs))
	}
	if !isNew {
		return nil
	}
	if err := r.only(ctx, a, s); err != nil || a.IsDryRun() {
		return err
	}
	if !r.world.Claim(ctx, claimed, a.GetNamespace(), s.Name) {
		return r.second(a, s, errors.New("another secret of this namespace was just requested for its internal domain, and one is enough; try again in two minutes"))
	}
	// Another Secret may have been written before the claim.
	err := r.only(ctx, a, s)
	if err != nil {
		r.world.Withdraw(ctx, claimed, a.GetNamespace())
	}
	return err
}

// only rejects a Secret beside another one of the same namespace.
func (r *rule) only(ctx context.Context, a admission.Attributes, s *corev1.Secret) error {
	selector := labels.SelectorFromSet(labels.Set{gardencorev1beta1.LabelRole: gardencorev1beta1.RoleInternalDomain})
	there, err := r.world.Fresh().Secrets(ctx, a.GetNamespace(), selector)
	if err != nil {
		return world.Answer(a, fmt.Errorf("list internal domains: %w", err))
	}
	there = slices.DeleteFunc(slices.Clone(there), func(other corev1.Secret) bool { return other.Name == s.Name })
	if len(there) == 0 {
		return nil
	}
	return r.second(a, s, fmt.Errorf("namespace %q has the internal domain of secret %q already, and one is enough", a.GetNamespace(), there[0].Name))
}

func (r *rule) second(a admission.Attributes, s *corev1.Secret, why error) error {
	return r.world.Rejected(a, reason, apierrors.NewConflict(a.GetResource().GroupResource(), s.Name, why))
}

// unused rejects the change or removal of a domain that shoots use.
func (r *rule) unused(ctx context.Context, a admission.Attributes, domain string) error {
	shoots, err := users(ctx, r.world.Fresh(), a.GetNamespace())
	if err != nil {
		return world.Answer(a, fmt.Errorf("list shoots: %w", err))
	}
	if len(shoots) == 0 {
		return nil
	}
	const shown = 5
	return r.world.Rejected(a, reason, world.Answer(a, fmt.Errorf("the internal domain %q cannot change while %d shoots use it, such as %s",
		domain, len(shoots), strings.Join(shoots[:min(shown, len(shoots))], ", "))))
}

// users returns the names of the shoots that use the Secret of a namespace: those of a seed, or all.
func users(ctx context.Context, v world.View, namespace string) ([]string, error) {
	if seed, found := strings.CutPrefix(namespace, seedPrefix); found {
		return v.ShootsOn(ctx, seed)
	}
	held, err := v.Holdings(ctx)
	if err != nil {
		return nil, err
	}
	return held.All(), nil
}
