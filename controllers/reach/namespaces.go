// SPDX-License-Identifier: Apache-2.0

package reach

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// Namespaces are the namespaces of a cluster in which only what a policy allows is open. They are selected by their labels.
type Namespaces []labels.Selector

// SeedNamespaces are those of a seed: garden, those of Istio, of shoots and of extensions, and those that a configuration adds
// (GLET-NP-1).
func SeedNamespaces(additional ...metav1.LabelSelector) (Namespaces, error) {
	all := append([]metav1.LabelSelector{
		{MatchLabels: map[string]string{corev1.LabelMetadataName: gardencorev1beta1.NamespaceGarden}},
		{MatchExpressions: []metav1.LabelSelectorRequirement{{
			Key: gardencorev1beta1.LabelRole, Operator: metav1.LabelSelectorOpIn, Values: []string{
				gardencorev1beta1.RoleShoot, gardencorev1beta1.RoleExtension, gardencorev1beta1.RoleIstioSystem, gardencorev1beta1.RoleIstioIngress,
			},
		}}},
	}, additional...)
	selected := make(Namespaces, 0, len(all))
	for i := range all {
		selector, err := metav1.LabelSelectorAsSelector(&all[i])
		if err != nil {
			return nil, fmt.Errorf("read selector %d of namespaces: %w", i, err)
		}
		selected = append(selected, selector)
	}
	return selected, nil
}

// ParseNamespaces is the inverse of Texts.
func ParseNamespaces(texts []string) (Namespaces, error) {
	selected := make(Namespaces, 0, len(texts))
	for _, text := range texts {
		selector, err := labels.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("read selector %q of namespaces: %w", text, err)
		}
		selected = append(selected, selector)
	}
	return selected, nil
}

// Texts are the selectors as they stand on a command line.
func (n Namespaces) Texts() []string {
	texts := make([]string, 0, len(n))
	for _, selector := range n {
		texts = append(texts, selector.String())
	}
	return texts
}

// Have reports whether a namespace with those labels is one of them.
func (n Namespaces) Have(of map[string]string) bool {
	return slices.ContainsFunc(n, func(s labels.Selector) bool { return s.Matches(labels.Set(of)) })
}
