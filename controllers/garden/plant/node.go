// SPDX-License-Identifier: Apache-2.0

package plant

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	corev1 "k8s.io/api/core/v1"
)

// unknown stands for facts that a cluster does not tell.
const unknown = "<unknown>"

// nodeList is what is read of a list of nodes. Nodes are much larger than that.
type nodeList struct {
	Kind     string `json:"kind"`
	Metadata struct {
		Continue string `json:"continue"`
	} `json:"metadata"`
	Items []node `json:"items"`
}

type node struct {
	Metadata struct {
		Name string `json:"name"`
		// Labels are only read of one node.
		Labels json.RawMessage `json:"labels"`
	} `json:"metadata"`
	Spec struct {
		ProviderID string `json:"providerID"` //nolint:tagliatelle // Kubernetes calls it so.
	} `json:"spec"`
	Status struct {
		Conditions []struct {
			Type   corev1.NodeConditionType `json:"type"`
			Status corev1.ConditionStatus   `json:"status"`
		} `json:"conditions"`
	} `json:"status"`
}

// trouble names the node and says what it has, or nothing. A node is well if it is ready and under no pressure.
func (n *node) trouble() string {
	ready := false
	for _, c := range n.Status.Conditions {
		switch c.Type {
		case corev1.NodeReady:
			ready = c.Status == corev1.ConditionTrue
		case corev1.NodeDiskPressure, corev1.NodeMemoryPressure, corev1.NodePIDPressure, corev1.NodeNetworkUnavailable:
			if c.Status == corev1.ConditionTrue {
				return fmt.Sprintf("node %q has condition %s", plain(n.Metadata.Name), c.Type)
			}
		}
	}
	if !ready {
		return fmt.Sprintf("node %q is not ready", plain(n.Metadata.Name))
	}
	return ""
}

// cloud is the scheme of the provider's name of the node.
func (n *node) cloud() string {
	scheme, _, found := strings.Cut(n.Spec.ProviderID, "://")
	if !found || scheme == "" {
		return unknown
	}
	return plain(scheme)
}

// region looks for the region, and if there is none for the zone.
func (n *node) region() string {
	labels := map[string]string{}
	if err := json.Unmarshal(n.Metadata.Labels, &labels); err != nil {
		return unknown
	}
	for _, label := range []string{
		corev1.LabelTopologyRegion, corev1.LabelFailureDomainBetaRegion, corev1.LabelTopologyZone, corev1.LabelFailureDomainBetaZone,
	} {
		if value := labels[label]; value != "" {
			return plain(value)
		}
	}
	return unknown
}

// plain makes a text of a cluster short enough for a status and takes out what could not be seen in it.
func plain(text string) string {
	const limit = 64
	visible := strings.Map(func(r rune) rune {
		if unicode.IsGraphic(r) && r != unicode.ReplacementChar {
			return r
		}
		return -1
	}, text[:min(len(text), 4*limit)])
	if runes := []rune(visible); len(runes) > limit {
		return string(runes[:limit-1]) + "…"
	}
	return visible
}
