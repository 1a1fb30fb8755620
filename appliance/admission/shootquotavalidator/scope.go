// SPDX-License-Identifier: Apache-2.0

package shootquotavalidator

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/holdings"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

// scopeProject is the kind in the scope of a quota for the shoots of one project.
const scopeProject = "Project"

// quotasOf returns the quotas of a shoot's binding.
func quotasOf(ctx context.Context, v world.View, s *gardencorev1beta1.Shoot) ([]gardencorev1beta1.Quota, error) {
	refs, err := referenced(ctx, v, s)
	if err != nil {
		return nil, err
	}
	quotas := make([]gardencorev1beta1.Quota, 0, len(refs))
	for _, ref := range refs {
		q, err := world.Get[gardencorev1beta1.Quota](ctx, v, world.Place{
			Group: gardencorev1beta1.GroupName, Resource: "quotas", Namespace: ref.Namespace, Name: ref.Name,
		})
		if err != nil {
			return nil, fmt.Errorf("read quota %s/%s: %w", ref.Namespace, ref.Name, err)
		}
		quotas = append(quotas, *q)
	}
	return quotas, nil
}

// referenced returns the references to quotas in the binding of a shoot.
func referenced(ctx context.Context, v world.View, s *gardencorev1beta1.Shoot) ([]corev1.ObjectReference, error) {
	switch {
	case s.Spec.SecretBindingName != nil:
		b, err := v.SecretBinding(ctx, s.Namespace, *s.Spec.SecretBindingName)
		if err != nil {
			return nil, world.Missing(err, "spec.secretBindingName", "SecretBinding", *s.Spec.SecretBindingName)
		}
		return b.Quotas, nil
	case s.Spec.CredentialsBindingName != nil:
		b, err := world.Get[gardensecurityv1alpha1.CredentialsBinding](ctx, v, world.Place{
			Group: gardensecurityv1alpha1.GroupName, Resource: "credentialsbindings",
			Namespace: s.Namespace, Name: *s.Spec.CredentialsBindingName,
		})
		if err != nil {
			return nil, world.Missing(err, "spec.credentialsBindingName", "CredentialsBinding", *s.Spec.CredentialsBindingName)
		}
		return b.Quotas, nil
	default:
		return nil, nil
	}
}

// shared names a quota together with the scope within which shoots share it, which is one namespace or, if that is empty, all.
func shared(q *gardencorev1beta1.Quota, by *gardencorev1beta1.Shoot) (name, namespace string) {
	name = q.Namespace + "/" + q.Name
	if q.Spec.Scope.Kind != scopeProject {
		return name, ""
	}
	return name + " in " + by.Namespace, by.Namespace
}

// allocated returns what the shoots in the scope of a quota use: those of the project, or of all projects, whose binding refers
// to it (API-QUOTA-4).
func allocated(
	ctx context.Context, v world.View, q *gardencorev1beta1.Quota, namespace string,
) (map[string]holdings.Listed, error) {
	named, err := bindings(ctx, v, q, namespace)
	if err != nil {
		return nil, err
	}
	all := map[string]holdings.Listed{}
	for _, namespace := range namespaces(named) {
		shoots, err := v.Shoots(ctx, namespace, fields.Everything())
		if err != nil {
			return nil, fmt.Errorf("list shoots of namespace %q: %w", namespace, err)
		}
		for i := range shoots {
			s := &shoots[i]
			if !slices.Contains(named, bindingOf(s)) {
				continue
			}
			used, err := usage(ctx, v, s)
			if err != nil {
				return nil, err
			}
			all[s.Namespace+"/"+s.Name] = holdings.Listed{Version: s.ResourceVersion, Uses: used}
		}
	}
	return all, nil
}

// namespaces returns where the shoots of some bindings are, so that those of all other projects are not listed.
func namespaces(of []binding) []string {
	all := map[string]bool{}
	for _, b := range of {
		all[b.namespace] = true
	}
	return slices.Sorted(maps.Keys(all))
}

// binding names a SecretBinding or a CredentialsBinding.
type binding struct{ kind, namespace, name string }

func bindingOf(s *gardencorev1beta1.Shoot) binding {
	switch {
	case s.Spec.SecretBindingName != nil:
		return binding{"SecretBinding", s.Namespace, *s.Spec.SecretBindingName}
	case s.Spec.CredentialsBindingName != nil:
		return binding{"CredentialsBinding", s.Namespace, *s.Spec.CredentialsBindingName}
	default:
		return binding{}
	}
}

// bindings returns the bindings that refer to a quota.
func bindings(ctx context.Context, v world.View, q *gardencorev1beta1.Quota, namespace string) ([]binding, error) {
	names := func(refs []corev1.ObjectReference) bool {
		return slices.ContainsFunc(refs, func(r corev1.ObjectReference) bool { return r.Namespace == q.Namespace && r.Name == q.Name })
	}
	var all []binding
	secrets, err := world.List[gardencorev1beta1.SecretBindingList](ctx, v,
		world.Place{Group: gardencorev1beta1.GroupName, Resource: "secretbindings", Namespace: namespace}, fields.Everything())
	if err != nil {
		return nil, fmt.Errorf("list secret bindings: %w", err)
	}
	for i := range secrets.Items {
		if b := &secrets.Items[i]; names(b.Quotas) {
			all = append(all, binding{"SecretBinding", b.Namespace, b.Name})
		}
	}
	credentials, err := world.List[gardensecurityv1alpha1.CredentialsBindingList](ctx, v,
		world.Place{Group: gardensecurityv1alpha1.GroupName, Resource: "credentialsbindings", Namespace: namespace}, fields.Everything())
	if err != nil {
		return nil, fmt.Errorf("list credentials bindings: %w", err)
	}
	for i := range credentials.Items {
		if b := &credentials.Items[i]; names(b.Quotas) {
			all = append(all, binding{"CredentialsBinding", b.Namespace, b.Name})
		}
	}
	return all, nil
}
