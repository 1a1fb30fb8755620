// SPDX-License-Identifier: Apache-2.0

package reach

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
)

const (
	// allScrapeTargets is the alias of everything whose metrics are collected.
	allScrapeTargets = "all-scrape-targets"
	// allWebhookTargets is the alias of everything that answers webhooks.
	allWebhookTargets = "all-webhook-targets"
)

// FromScrapers is the key of the annotation of a Service that opens ports to those who collect metrics.
func FromScrapers() string {
	return gardenresourcesv1alpha1.AnnotationPrefixFrom + allScrapeTargets + gardenresourcesv1alpha1.AnnotationSuffixAllowedPorts
}

// FromAPIServers is the key of the annotation of a Service that opens ports to API servers that ask webhooks (EXT-WH-4).
func FromAPIServers() string {
	return gardenresourcesv1alpha1.AnnotationPrefixFrom + allWebhookTargets + gardenresourcesv1alpha1.AnnotationSuffixAllowedPorts
}

// Ports is the value of an annotation that opens ports, which have numbers.
func Ports(ports ...Port) string {
	texts := make([]string, 0, len(ports))
	for _, port := range ports {
		texts = append(texts, fmt.Sprintf(`{"protocol":%q,"port":%d}`, port.Protocol, port.Port.IntValue()))
	}
	return "[" + strings.Join(texts, ",") + "]"
}

// ServersOfShoots selects the namespaces whose programs serve all shoots, as the value of an annotation: garden, those of extensions, and
// those that say of themselves that they talk to the API server of another cluster.
func ServersOfShoots() string {
	const selector = `{"matchLabels":{%q:%q}}`
	return "[" + strings.Join([]string{
		fmt.Sprintf(selector, corev1.LabelMetadataName, gardencorev1beta1.NamespaceGarden),
		fmt.Sprintf(selector, gardencorev1beta1.LabelRole, gardencorev1beta1.RoleExtension),
		fmt.Sprintf(selector, gardencorev1beta1.LabelNetworkPolicyAccessTargetAPIServer, gardencorev1beta1.LabelValueAllowed),
	}, ",") + "]"
}

// Garden selects the namespace of the programs of a seed as a whole, as the value of an annotation.
func Garden() string {
	return fmt.Sprintf(`[{"matchLabels":{%q:%q}}]`, corev1.LabelMetadataName, gardencorev1beta1.NamespaceGarden)
}

// Shoots selects the namespaces of control planes, as the value of an annotation.
func Shoots() string {
	return fmt.Sprintf(`[{"matchLabels":{%q:%q}}]`, gardencorev1beta1.LabelRole, gardencorev1beta1.RoleShoot)
}
