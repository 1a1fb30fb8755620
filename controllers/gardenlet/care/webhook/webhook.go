// SPDX-License-Identifier: Apache-2.0

// Package webhook finds webhooks of users that can keep a shoot from working or from waking up, and corrects them: while the pods
// behind a webhook do not run, nothing can be written that it has to admit, not even these pods.
package webhook

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

const (
	// MostSeconds is how long a webhook for critical objects may take, and any webhook that is corrected.
	MostSeconds int32 = 15
	// MostLeaseSeconds is how long one for leases of kube-system may take, which have to be renewed in time.
	MostLeaseSeconds int32 = 3

	originLabel, originGardener  = "origin", "gardener"
	managedByGardener            = "gardener"
	appLabel, appResourceManager = "app", "gardener-resource-manager"
	kindValidating, kindMutating = "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"
	excluded                     = "true"
	// mostNamed is how many findings a message names.
	mostNamed = 5
)

// Configurations are the webhooks of a shoot.
type Configurations struct {
	Validating []admissionregistrationv1.ValidatingWebhookConfiguration
	Mutating   []admissionregistrationv1.MutatingWebhookConfiguration
}

// Finding is what is said about the webhooks of a shoot.
type Finding struct {
	// Problems are webhooks that can be in the way, each with the reason.
	Problems []string
	// Corrected are configurations that were corrected and not mended by their owners since.
	Corrected []string
}

// Message names what was found, in a fixed order.
func Message(found []string) string {
	if len(found) <= mostNamed {
		return strings.Join(found, "; ")
	}
	return fmt.Sprintf("%s; and %d more", strings.Join(found[:mostNamed], "; "), len(found)-mostNamed)
}

// hook is one webhook of either kind. Its pointers lead into its configuration.
type hook struct {
	name                string
	rules               []admissionregistrationv1.RuleWithOperations
	policy              **admissionregistrationv1.FailurePolicyType
	timeout             **int32
	objects, namespaces *metav1.LabelSelector
	setSelectors        func(objects, namespaces *metav1.LabelSelector)
}

// configuration is one of either kind.
type configuration struct {
	kind  string
	meta  *metav1.ObjectMeta
	hooks []hook
}

func validating(c *admissionregistrationv1.ValidatingWebhookConfiguration) configuration {
	all := configuration{kind: kindValidating, meta: &c.ObjectMeta}
	for i := range c.Webhooks {
		w := &c.Webhooks[i]
		all.hooks = append(all.hooks, hook{
			name: w.Name, rules: w.Rules, policy: &w.FailurePolicy, timeout: &w.TimeoutSeconds, objects: w.ObjectSelector, namespaces: w.NamespaceSelector,
			setSelectors: func(o, n *metav1.LabelSelector) { w.ObjectSelector, w.NamespaceSelector = o, n },
		})
	}
	return all
}

func mutating(c *admissionregistrationv1.MutatingWebhookConfiguration) configuration {
	all := configuration{kind: kindMutating, meta: &c.ObjectMeta}
	for i := range c.Webhooks {
		w := &c.Webhooks[i]
		all.hooks = append(all.hooks, hook{
			name: w.Name, rules: w.Rules, policy: &w.FailurePolicy, timeout: &w.TimeoutSeconds, objects: w.ObjectSelector, namespaces: w.NamespaceSelector,
			setSelectors: func(o, n *metav1.LabelSelector) { w.ObjectSelector, w.NamespaceSelector = o, n },
		})
	}
	return all
}

// ofUsers returns the configurations that users made, in the order of kind and name.
func (c Configurations) ofUsers() []configuration {
	var all []configuration
	for i := range c.Validating {
		all = append(all, validating(&c.Validating[i]))
	}
	for i := range c.Mutating {
		all = append(all, mutating(&c.Mutating[i]))
	}
	all = slices.DeleteFunc(all, func(c configuration) bool { return ofGardener(c.meta.Labels) })
	slices.SortFunc(all, func(a, b configuration) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.meta.Name, b.meta.Name))
	})
	return all
}

func ofGardener(labels map[string]string) bool {
	return labels[appLabel] == appResourceManager || labels[gardencorev1beta1.LabelManagedBy] == managedByGardener
}

// Judge looks for webhooks that can be in the way (GLET-CONSTR-1 to 4). It changes nothing.
func Judge(all Configurations) Finding {
	var found Finding
	kinds := criticals()
	for _, c := range all.ofUsers() {
		if c.meta.Annotations[gardencorev1beta1.AnnotationWarning] != "" {
			found.Corrected = append(found.Corrected, fmt.Sprintf("%s %q", c.kind, c.meta.Name))
		}
		for _, h := range c.hooks {
			if why := h.problem(kinds); why != "" {
				found.Problems = append(found.Problems, fmt.Sprintf("webhook %q of %s %q: %s", h.name, c.kind, c.meta.Name, why))
			}
		}
	}
	return found
}

// problem says how a webhook can be in the way, or is empty (GLET-CONSTR-3).
func (h hook) problem(kinds []critical) string {
	if i := slices.IndexFunc(kinds, func(k critical) bool { return k.matches(h) }); i >= 0 {
		switch name := kinds[i].name(); {
		case h.fails():
			return "it is called for " + name + ", which cannot be written while it does not answer"
		case h.slowerThan(MostSeconds):
			return fmt.Sprintf("it is called for %s and may take longer than %d seconds", name, MostSeconds)
		}
	}
	if of := leases(system()); of.matches(h) && h.slowerThan(MostLeaseSeconds) {
		return fmt.Sprintf("it is called for %s and may take longer than %d seconds", of.name(), MostLeaseSeconds)
	}
	return ""
}

func (h hook) fails() bool {
	return *h.policy == nil || **h.policy == admissionregistrationv1.Fail
}

func (h hook) slowerThan(seconds int32) bool {
	return *h.timeout == nil || **h.timeout > seconds
}
