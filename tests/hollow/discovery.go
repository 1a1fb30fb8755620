// SPDX-License-Identifier: Apache-2.0

package hollow

import (
	"maps"
	"slices"
	"strings"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
)

// discovery is a discovery document as large as that of a new cluster: every stable kind of Kubernetes. legacy asks for
// those without a group.
func discovery(legacy bool) *apidiscoveryv2.APIGroupDiscoveryList {
	list := &apidiscoveryv2.APIGroupDiscoveryList{TypeMeta: metav1.TypeMeta{APIVersion: "apidiscovery.k8s.io/v2", Kind: "APIGroupDiscoveryList"}}
	groups := map[string]*apidiscoveryv2.APIGroupDiscovery{}
	for _, version := range scheme.Scheme.PrioritizedVersionsAllGroups() {
		if (version.Group == "") != legacy || strings.ContainsAny(version.Version[1:], "abcdefghijklmnopqrstuvwxyz_") {
			continue
		}
		group := groups[version.Group]
		if group == nil {
			group = &apidiscoveryv2.APIGroupDiscovery{ObjectMeta: metav1.ObjectMeta{Name: version.Group}}
			groups[version.Group] = group
		}
		group.Versions = append(group.Versions, apidiscoveryv2.APIVersionDiscovery{Version: version.Version, Resources: resources(version)})
	}
	if !legacy {
		groups["apiextensions.k8s.io"] = definitions()
	}
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		list.Items = append(list.Items, *groups[name])
	}
	return list
}

// definitions is the group of custom resource definitions, which the scheme does not have.
func definitions() *apidiscoveryv2.APIGroupDiscovery {
	const group, version, kind = "apiextensions.k8s.io", "v1", "CustomResourceDefinition"
	return &apidiscoveryv2.APIGroupDiscovery{
		ObjectMeta: metav1.ObjectMeta{Name: group},
		Versions: []apidiscoveryv2.APIVersionDiscovery{{Version: version, Resources: []apidiscoveryv2.APIResourceDiscovery{{
			Resource: "customresourcedefinitions", SingularResource: "customresourcedefinition", Scope: apidiscoveryv2.ScopeCluster,
			ResponseKind: &metav1.GroupVersionKind{Group: group, Version: version, Kind: kind}, Verbs: []string{"get", "list"},
		}}}},
	}
}

func resources(version schema.GroupVersion) []apidiscoveryv2.APIResourceDiscovery {
	kinds := scheme.Scheme.KnownTypes(version)
	var found []apidiscoveryv2.APIResourceDiscovery
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		if _, listed := kinds[kind+"List"]; !listed {
			continue
		}
		plural, singular := meta.UnsafeGuessKindToResource(version.WithKind(kind))
		found = append(found, apidiscoveryv2.APIResourceDiscovery{
			Resource:         plural.Resource,
			SingularResource: singular.Resource,
			ResponseKind:     &metav1.GroupVersionKind{Group: version.Group, Version: version.Version, Kind: kind},
			Scope:            scope(kind),
			Verbs:            []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"},
		})
	}
	return found
}

func scope(kind string) apidiscoveryv2.ResourceScope {
	if kind == "Node" || kind == "Namespace" {
		return apidiscoveryv2.ScopeCluster
	}
	return apidiscoveryv2.ScopeNamespace
}
