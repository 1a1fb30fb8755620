// SPDX-License-Identifier: Apache-2.0

// Package nameserver is what provider-local and a cluster with a name server agree on. Such a cluster, as every seedling is, has a ConfigMap
// that says which zones it serves. The extension writes its DNS records into the data of that ConfigMap, and the cluster serves them. In all
// other clusters there is no such ConfigMap, and nothing is written.
//
// All records are in one object, so that the API server of the cluster decides which of two records gets a name that both want.
package nameserver

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// Namespace is that of the ConfigMap.
	Namespace = metav1.NamespaceSystem
	// Name is that of the ConfigMap.
	Name = "local-dns"
	// AnnotationZones lists the zones that are served, separated by commas.
	AnnotationZones = "local.provider.extensions.gardener.cloud/dns-zones"
)

// zonesOf reads the annotation.
func zonesOf(annotations map[string]string) []string {
	var zones []string
	for zone := range strings.SplitSeq(annotations[AnnotationZones], ",") {
		if zone = canonical(strings.TrimSpace(zone)); zone != "" {
			zones = append(zones, zone)
		}
	}
	slices.Sort(zones)
	return slices.Compact(zones)
}
