// SPDX-License-Identifier: Apache-2.0

package shootvalidator

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

// checkPluginSecrets checks that the kubeconfig Secret of an admission plugin is in the resources of the shoot, which are
// copied to the seed, and that it has a kubeconfig (API-SVAL-20).
func checkPluginSecrets(ctx context.Context, v world.View, q request) error {
	before := kubeconfigSecrets(&q.old.Spec)
	for _, name := range kubeconfigSecrets(&q.shoot.Spec) {
		if slices.Contains(before, name) && listed(&q.old.Spec, name) == listed(&q.shoot.Spec, name) {
			continue
		}
		if !listed(&q.shoot.Spec, name) {
			return fmt.Errorf("spec.resources: must contain Secret %q, the kubeconfig of an admission plugin", name)
		}
		secret, err := v.Secret(ctx, q.shoot.Namespace, name)
		if err != nil {
			return world.Missing(err, "spec.kubernetes.kubeAPIServer.admissionPlugins", "Secret", q.shoot.Namespace+"/"+name)
		}
		if len(secret.Data["kubeconfig"]) == 0 {
			return fmt.Errorf("spec.kubernetes.kubeAPIServer.admissionPlugins: Secret %q has no data under the key %q", name, "kubeconfig")
		}
	}
	return nil
}

func kubeconfigSecrets(s *gardencorev1beta1.ShootSpec) []string {
	if s.Kubernetes.KubeAPIServer == nil {
		return nil
	}
	var names []string
	for _, p := range s.Kubernetes.KubeAPIServer.AdmissionPlugins {
		if p.KubeconfigSecretName != nil {
			names = append(names, *p.KubeconfigSecretName)
		}
	}
	return names
}

func listed(s *gardencorev1beta1.ShootSpec, secret string) bool {
	return slices.ContainsFunc(s.Resources, func(r gardencorev1beta1.NamedResourceReference) bool {
		return r.ResourceRef.APIVersion == "v1" && r.ResourceRef.Kind == "Secret" && r.ResourceRef.Name == secret
	})
}

// checkCredentialsChange checks that a user who replaces the credentials of a shoot may read both the old and the new ones,
// because the shoot's machines belong to the account of the old ones (API-SVAL-20). A SecretBinding is replaced by a
// CredentialsBinding with the same credentials only (API-VALSHOOT-2).
func checkCredentialsChange(ctx context.Context, v world.View, q request) error {
	is, was := &q.shoot.Spec, &q.old.Spec
	if q.create || is.CredentialsBindingName == nil || was.CredentialsBindingName == nil && was.SecretBindingName == nil ||
		was.CredentialsBindingName != nil && *was.CredentialsBindingName == *is.CredentialsBindingName {
		return nil
	}
	refs := make([]corev1.ObjectReference, 0, 2)
	for _, spec := range []*gardencorev1beta1.ShootSpec{is, was} {
		ref, err := credentials(ctx, v, q.shoot.Namespace, spec)
		if err != nil {
			return err
		}
		refs = append(refs, ref)
		target, known := targetOf(ref)
		if !known {
			continue
		}
		allowed, err := v.May(ctx, q.GetUserInfo(), "get", target)
		if err != nil {
			return err
		}
		if !allowed {
			return fmt.Errorf("spec.credentialsBindingName: you may not read %s %q; to replace credentials, you must be able to read the old and the new ones",
				ref.Kind, ref.Namespace+"/"+ref.Name)
		}
	}
	if was.SecretBindingName != nil && !same(refs[0], refs[1]) {
		return fmt.Errorf("spec.credentialsBindingName: CredentialsBinding %q must refer to the same Secret as SecretBinding %q, which it replaces; "+
			"other credentials can follow in a change of their own", *is.CredentialsBindingName, *was.SecretBindingName)
	}
	return nil
}

// same reports whether two references are to the same credentials.
func same(a, b corev1.ObjectReference) bool {
	return a.Kind == b.Kind && a.Namespace == b.Namespace && a.Name == b.Name
}

// credentials returns the credentials of a shoot's binding.
func credentials(
	ctx context.Context, v world.View, namespace string, s *gardencorev1beta1.ShootSpec,
) (corev1.ObjectReference, error) {
	if name := s.CredentialsBindingName; name != nil {
		binding, err := world.Get[gardensecurityv1alpha1.CredentialsBinding](ctx, v, world.Place{
			Group: gardensecurityv1alpha1.GroupName, Resource: "credentialsbindings", Namespace: namespace, Name: *name,
		})
		if err != nil {
			return corev1.ObjectReference{}, world.Missing(err, "spec.credentialsBindingName", "CredentialsBinding", namespace+"/"+*name)
		}
		return binding.CredentialsRef, nil
	}
	binding, err := v.SecretBinding(ctx, namespace, *s.SecretBindingName)
	if err != nil {
		return corev1.ObjectReference{}, world.Missing(err, "spec.secretBindingName", "SecretBinding", namespace+"/"+*s.SecretBindingName)
	}
	return corev1.ObjectReference{Kind: "Secret", Namespace: binding.SecretRef.Namespace, Name: binding.SecretRef.Name}, nil
}

func targetOf(ref corev1.ObjectReference) (world.Target, bool) {
	target := world.Target{Namespace: ref.Namespace, Name: ref.Name}
	switch ref.Kind {
	case "Secret":
		target.Resource = "secrets"
	case "InternalSecret":
		target.Group, target.Resource = gardencorev1beta1.GroupName, "internalsecrets"
	case "WorkloadIdentity":
		target.Group, target.Resource = gardensecurityv1alpha1.GroupName, "workloadidentities"
	default:
		return world.Target{}, false
	}
	return target, true
}
