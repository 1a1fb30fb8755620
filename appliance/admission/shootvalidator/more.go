// SPDX-License-Identifier: Apache-2.0

package shootvalidator

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

// The checks below are the parts of API-SVAL-20 that need other objects than the profile.

// issued keeps the garden publishing the issuer of a shoot's tokens once it does, because others trust it, and keeps the
// shoot from having another one beside it.
func issued(_ context.Context, _ world.View, q request) error {
	managed := func(s *gardencorev1beta1.Shoot) bool {
		return s.Annotations[gardencorev1beta1.AnnotationAuthenticationIssuer] == gardencorev1beta1.AuthenticationIssuerManaged
	}
	if managed(q.old) && !managed(q.shoot) {
		return fmt.Errorf("metadata.annotations[%s]: the issuer cannot be taken back from the garden once it is managed",
			gardencorev1beta1.AnnotationAuthenticationIssuer)
	}
	if managed(q.shoot) && ownIssuer(&q.shoot.Spec) && (!managed(q.old) || !ownIssuer(&q.old.Spec)) {
		return fmt.Errorf("spec.kubernetes.kubeAPIServer.serviceAccountConfig.issuer: has no place beside the annotation %s=%s, which makes the garden the issuer",
			gardencorev1beta1.AnnotationAuthenticationIssuer, gardencorev1beta1.AuthenticationIssuerManaged)
	}
	return nil
}

func ownIssuer(s *gardencorev1beta1.ShootSpec) bool {
	a := s.Kubernetes.KubeAPIServer
	return a != nil && a.ServiceAccountConfig != nil && a.ServiceAccountConfig.Issuer != nil
}

// pluginSecrets asks that the kubeconfig of an admission plugin is among the resources of the shoot, which get to the
// seed, and is one.
func pluginSecrets(ctx context.Context, v world.View, q request) error {
	before := kubeconfigSecrets(&q.old.Spec)
	for _, name := range kubeconfigSecrets(&q.shoot.Spec) {
		if slices.Contains(before, name) && listed(&q.old.Spec, name) == listed(&q.shoot.Spec, name) {
			continue
		}
		if !listed(&q.shoot.Spec, name) {
			return fmt.Errorf("spec.resources: lacks Secret %q, the kubeconfig of an admission plugin", name)
		}
		secret, err := v.Secret(ctx, q.shoot.Namespace, name)
		if err != nil {
			return world.Missing(err, "spec.kubernetes.kubeAPIServer.admissionPlugins", "Secret", q.shoot.Namespace+"/"+name)
		}
		if len(secret.Data["kubeconfig"]) == 0 {
			return fmt.Errorf("spec.kubernetes.kubeAPIServer.admissionPlugins: Secret %q holds nothing under the key %q", name, "kubeconfig")
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

// stillSelected keeps the selector of seeds from leaving out the seed that a shoot is on.
func stillSelected(ctx context.Context, v world.View, q request) error {
	selector := q.shoot.Spec.SeedSelector
	if selector == nil || q.old.Spec.SeedName == nil || q.places() || equality.Semantic.DeepEqual(selector, q.old.Spec.SeedSelector) {
		return nil
	}
	seed, err := v.Seed(ctx, *q.old.Spec.SeedName)
	if err != nil {
		return missingSeed(err, *q.old.Spec.SeedName)
	}
	if against := query.SelectorMismatch(selector, "the shoot", seed); against != "" {
		return fmt.Errorf("spec.seedSelector: does not select seed %q, which the shoot is on: %s", seed.Name, against)
	}
	return nil
}

// pinned asks that the zones which a control plane is to run in are some of its seed.
func pinned(ctx context.Context, v world.View, q request) error {
	zones := zonesOf(&q.shoot.Spec)
	if len(zones) == 0 || q.shoot.Spec.SeedName == nil || !q.places() && slices.Equal(zones, zonesOf(&q.old.Spec)) {
		return nil
	}
	seed, err := v.Seed(ctx, *q.shoot.Spec.SeedName)
	if err != nil {
		return missingSeed(err, *q.shoot.Spec.SeedName)
	}
	for _, zone := range zones {
		if !slices.Contains(seed.Spec.Provider.Zones, zone) {
			return fmt.Errorf("spec.controlPlane.zones: seed %q has no zone %q", seed.Name, zone)
		}
	}
	return nil
}

func zonesOf(s *gardencorev1beta1.ShootSpec) []string {
	if s.ControlPlane == nil {
		return nil
	}
	return s.ControlPlane.Zones
}

// exchanged lets only those replace the credentials of a shoot who may read both, the former and the new ones: the
// shoot's machines belong to the former account.
func exchanged(ctx context.Context, v world.View, q request) error {
	is, was := &q.shoot.Spec, &q.old.Spec
	if q.create || is.CredentialsBindingName == nil || was.CredentialsBindingName == nil && was.SecretBindingName == nil ||
		was.CredentialsBindingName != nil && *was.CredentialsBindingName == *is.CredentialsBindingName {
		return nil
	}
	for _, spec := range []*gardencorev1beta1.ShootSpec{is, was} {
		ref, err := credentials(ctx, v, q.shoot.Namespace, spec)
		if err != nil {
			return err
		}
		target, known := targetOf(ref)
		if !known {
			continue
		}
		allowed, err := v.May(ctx, q.GetUserInfo(), "get", target)
		if err != nil {
			return err
		}
		if !allowed {
			return fmt.Errorf("spec.credentialsBindingName: you may not read %s %q; credentials are replaced by who may read the former and the new ones",
				ref.Kind, ref.Namespace+"/"+ref.Name)
		}
	}
	return nil
}

// credentials are those that a shoot uses by way of its binding.
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
