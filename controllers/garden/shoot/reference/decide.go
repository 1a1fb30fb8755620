// SPDX-License-Identifier: Apache-2.0

package reference

import (
	"cmp"
	"slices"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

const (
	kindSecret    = "Secret"
	kindConfigMap = "ConfigMap"
)

// Reference names an object in the namespace of a shoot.
type Reference struct {
	// Kind is Secret or ConfigMap.
	Kind, Name string
}

// Of lists what the shoot references (GCM-SHOOTREF-2), sorted, each object once.
func Of(shoot *gardencorev1beta1.Shoot) []Reference {
	var references []Reference
	add := func(kind, name string) {
		if name != "" && (kind == kindSecret || kind == kindConfigMap) {
			references = append(references, Reference{Kind: kind, Name: name})
		}
	}
	addDNS(add, shoot.Spec.DNS)
	addAPIServer(add, shoot.Spec.Kubernetes.KubeAPIServer)
	for _, resource := range shoot.Spec.Resources {
		add(resource.ResourceRef.Kind, resource.ResourceRef.Name)
	}
	slices.SortFunc(references, func(a, b Reference) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name)) })
	return slices.Compact(references)
}

func addDNS(add func(kind, name string), dns *gardencorev1beta1.DNS) {
	if dns == nil {
		return
	}
	for _, provider := range dns.Providers {
		if provider.SecretName != nil {
			add(kindSecret, *provider.SecretName)
		}
		if ref := provider.CredentialsRef; ref != nil {
			add(ref.Kind, ref.Name)
		}
	}
}

func addAPIServer(add func(kind, name string), server *gardencorev1beta1.KubeAPIServerConfig) {
	if server == nil {
		return
	}
	for _, plugin := range server.AdmissionPlugins {
		if plugin.KubeconfigSecretName != nil {
			add(kindSecret, *plugin.KubeconfigSecretName)
		}
	}
	if audit := server.AuditConfig; audit != nil && audit.AuditPolicy != nil && audit.AuditPolicy.ConfigMapRef != nil {
		add(kindConfigMap, audit.AuditPolicy.ConfigMapRef.Name)
	}
	if authentication := server.StructuredAuthentication; authentication != nil {
		add(kindConfigMap, authentication.ConfigMapName)
	}
	if authorization := server.StructuredAuthorization; authorization != nil {
		add(kindConfigMap, authorization.ConfigMapName)
		for _, kubeconfig := range authorization.Kubeconfigs {
			add(kindSecret, kubeconfig.SecretName)
		}
	}
}

// Holds reports whether the shoot still needs what it references, which is until its gardenlet has removed its finalizer
// (GCM-SHOOTREF-4).
func Holds(shoot *gardencorev1beta1.Shoot) bool {
	return shoot.DeletionTimestamp == nil || slices.Contains(shoot.Finalizers, gardencorev1beta1.FinalizerGardener)
}

// Held returns what the shoots of one namespace need (GCM-SHOOTREF-3).
func Held(shoots []gardencorev1beta1.Shoot) map[Reference]bool {
	held := map[Reference]bool{}
	for i := range shoots {
		if !Holds(&shoots[i]) {
			continue
		}
		for _, reference := range Of(&shoots[i]) {
			held[reference] = true
		}
	}
	return held
}
