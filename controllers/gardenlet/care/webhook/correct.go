// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// CorrectValidating corrects the webhooks of a configuration in place, and reports whether it changed anything.
func CorrectValidating(c *admissionregistrationv1.ValidatingWebhookConfiguration) bool {
	return validating(c).correct()
}

// CorrectMutating is CorrectValidating for the other kind.
func CorrectMutating(c *admissionregistrationv1.MutatingWebhookConfiguration) bool {
	return mutating(c).correct()
}

// correct mends all webhooks that can be in the way or are slow, and lists what it has changed in an annotation. What Gardener made, and what
// its owner excludes, is left alone (GLET-WEBHOOK-1, 2).
func (c configuration) correct() bool {
	if ofGardener(c.meta.Labels) || c.meta.Labels[gardencorev1beta1.LabelRemediationExclude] == excluded {
		return false
	}
	var changes []string
	kinds := criticals()
	for i := range c.hooks {
		for _, change := range c.hooks[i].correct(kinds) {
			changes = append(changes, fmt.Sprintf("webhook %q: %s", c.hooks[i].name, change))
		}
	}
	if len(changes) == 0 {
		return false
	}
	metav1.SetMetaDataAnnotation(c.meta, gardencorev1beta1.AnnotationWarning, warning(c.meta.Annotations[gardencorev1beta1.AnnotationWarning], changes))
	return true
}

const warningPreface = "This configuration could have kept the cluster from working and was corrected. " +
	"Apply these changes where it comes from, and then remove this annotation: "

// warning adds changes to those of an earlier correction.
func warning(earlier string, changes []string) string {
	known := strings.TrimPrefix(earlier, warningPreface)
	if known != "" {
		changes = append(strings.Split(known, "; "), changes...)
	}
	// A configuration that is applied over and over again is corrected each time in the same way.
	var once []string
	for _, change := range changes {
		if !slices.Contains(once, change) {
			once = append(once, change)
		}
	}
	return warningPreface + strings.Join(once, "; ")
}

// correct mends one webhook, and says how.
func (h *hook) correct(kinds []critical) []string {
	var changes []string
	matching := slices.DeleteFunc(slices.Clone(kinds), func(k critical) bool { return !k.matches(*h) })
	switch {
	case leases(system()).matches(*h) && h.slowerThan(MostLeaseSeconds):
		changes = append(changes, h.hurry(MostLeaseSeconds))
	case h.slowerThan(MostSeconds): // Whatever it is called for, somebody waits for it.
		changes = append(changes, h.hurry(MostSeconds))
	}
	if len(matching) == 0 || !h.fails() {
		return changes
	}
	if slices.ContainsFunc(matching, func(k critical) bool { return k.object == nil && k.namespace == nil }) {
		*h.policy = new(admissionregistrationv1.Ignore)
		return append(changes, "failurePolicy was set to Ignore")
	}
	for _, k := range matching {
		objects, namespaces := without(h.objects, k.object), without(h.namespaces, k.namespace)
		h.objects, h.namespaces = objects, namespaces
	}
	h.setSelectors(h.objects, h.namespaces)
	return append(changes, "its selectors were extended to leave out objects that the cluster needs")
}

func (h *hook) hurry(seconds int32) string {
	*h.timeout = &seconds
	return fmt.Sprintf("timeoutSeconds was set to %d", seconds)
}

// without returns a selector that selects nothing with one of the given labels any more.
func without(selector *metav1.LabelSelector, given map[string]string) *metav1.LabelSelector {
	if len(given) == 0 {
		return selector
	}
	if selector == nil {
		selector = &metav1.LabelSelector{}
	}
	selector = selector.DeepCopy()
	for _, key := range slices.Sorted(maps.Keys(given)) {
		more := metav1.LabelSelectorRequirement{Key: key, Operator: metav1.LabelSelectorOpNotIn, Values: []string{given[key]}}
		same := func(r metav1.LabelSelectorRequirement) bool {
			return r.Key == more.Key && r.Operator == more.Operator && slices.Equal(r.Values, more.Values)
		}
		if !slices.ContainsFunc(selector.MatchExpressions, same) {
			selector.MatchExpressions = append(selector.MatchExpressions, more)
		}
	}
	return selector
}
