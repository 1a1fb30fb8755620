// SPDX-License-Identifier: Apache-2.0

package references

import (
	"strings"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/authorization/graph"
)

// Shoot returns the edges of a Shoot: to its seeds, and from all objects that it uses. The graph itself derives those of objects
// that belong to a shoot by their name alone (GAC-GR-2).
func Shoot(s *gardencorev1beta1.Shoot) []graph.Edge {
	e := edgesOf(graph.Shoot, s.Namespace, s.Name)
	e.belongsToSeed(s.Spec.SeedName)
	e.belongsToSeed(s.Status.SeedName)
	shootUses(e, s)
	if s.Annotations[gardencorev1beta1.AnnotationAuthenticationIssuer] == gardencorev1beta1.AuthenticationIssuerManaged {
		e.has(graph.Secret, gardencorev1beta1.NamespaceShootIssuer, IssuerSecret(s))
	}

	return e.all
}

// shootUses adds the edges from the objects that the spec of a shoot refers to.
func shootUses(e *edges, s *gardencorev1beta1.Shoot) {
	e.has(graph.Namespace, "", s.Namespace)
	shootProfile(e, s)
	if name := s.Spec.SecretBindingName; name != nil {
		e.has(graph.SecretBinding, s.Namespace, *name)
	}
	if name := s.Spec.CredentialsBindingName; name != nil {
		e.has(graph.CredentialsBinding, s.Namespace, *name)
	}
	if name := s.Spec.ExposureClassName; name != nil {
		e.has(graph.ExposureClass, "", *name)
	}
	shootServer(e, s)
	if s.Spec.DNS != nil {
		for _, provider := range s.Spec.DNS.Providers {
			if provider.SecretName != nil {
				e.has(graph.Secret, s.Namespace, *provider.SecretName)
			}
			if ref := provider.CredentialsRef; ref != nil {
				e.hasNamed(ref.Kind, s.Namespace, ref.Name)
			}
		}
	}
	for _, resource := range s.Spec.Resources {
		e.hasNamed(resource.ResourceRef.Kind, s.Namespace, resource.ResourceRef.Name)
	}
}

func shootProfile(e *edges, s *gardencorev1beta1.Shoot) {
	switch ref := query.ProfileReference(&s.Spec); {
	case ref == nil:
	case ref.Kind == gardencorev1beta1.CloudProfileReferenceKindNamespacedCloudProfile:
		e.has(graph.NamespacedCloudProfile, s.Namespace, ref.Name)
	default:
		e.has(graph.CloudProfile, "", ref.Name)
	}
}

func shootServer(e *edges, s *gardencorev1beta1.Shoot) {
	server := s.Spec.Kubernetes.KubeAPIServer
	if server == nil {
		return
	}
	if audit := server.AuditConfig; audit != nil && audit.AuditPolicy != nil && audit.AuditPolicy.ConfigMapRef != nil {
		e.has(graph.ConfigMap, s.Namespace, audit.AuditPolicy.ConfigMapRef.Name)
	}
	if authentication := server.StructuredAuthentication; authentication != nil {
		e.has(graph.ConfigMap, s.Namespace, authentication.ConfigMapName)
	}
	if authorization := server.StructuredAuthorization; authorization != nil {
		e.has(graph.ConfigMap, s.Namespace, authorization.ConfigMapName)
		for _, kubeconfig := range authorization.Kubeconfigs {
			e.has(graph.Secret, s.Namespace, kubeconfig.SecretName)
		}
	}
	for _, plugin := range server.AdmissionPlugins {
		if plugin.KubeconfigSecretName != nil {
			e.has(graph.Secret, s.Namespace, *plugin.KubeconfigSecretName)
		}
	}
	if accounts := server.ServiceAccountConfig; accounts != nil && accounts.SigningKeySecretName != nil {
		e.has(graph.Secret, s.Namespace, accounts.SigningKeySecretName.Name)
	}
}

// IssuerSecret returns the name of the Secret with the documents of the shoot's issuer, or an empty string if the shoot has
// no technical ID yet.
func IssuerSecret(s *gardencorev1beta1.Shoot) string {
	project, ok := strings.CutPrefix(s.Status.TechnicalID, gardencorev1beta1.NamespacePrefixShoot)
	if !ok {
		return ""
	}

	return strings.TrimSuffix(project, "--"+s.Name) + "--" + string(s.UID)
}
