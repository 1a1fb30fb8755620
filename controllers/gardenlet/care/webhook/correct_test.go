// SPDX-License-Identifier: Apache-2.0

package webhook_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/terrarium-garden/terrarium/controllers/gardenlet/care/webhook"
)

func TestCorrect(t *testing.T) {
	t.Parallel()
	slow := within(30)
	for name, tc := range map[string]struct {
		reason string
		hook   *configuration
		// policy, seconds and selectors are what the webhook then has: keys of objects, then of namespaces.
		policy    string
		seconds   int32
		selectors string
		warning   []string
	}{
		"GLET-WEBHOOK-1 harmless": {reason: "what is not in the way stays", hook: hooked(on("", "v1", "events"), within(15)), policy: "Fail", seconds: 15},
		"GLET-WEBHOOK-1 slow": {
			reason: "a timeout is shortened whatever it is for", hook: hooked(on("", "v1", "events"), slow), policy: "Fail", seconds: 15,
			warning: []string{"timeoutSeconds was set to 15"},
		},
		"GLET-WEBHOOK-1 unset": {
			reason: "one that nobody has set is, too", hook: hooked(on("", "v1", "events"), func(w *admissionregistrationv1.ValidatingWebhook) { w.TimeoutSeconds = nil }),
			policy: "Fail", seconds: 15, warning: []string{"timeoutSeconds was set to 15"},
		},
		"GLET-WEBHOOK-1 timeout": {reason: "a timeout is shortened", hook: hooked(open, slow), policy: "Ignore", seconds: 15, warning: []string{"timeoutSeconds was set to 15"}},
		"GLET-WEBHOOK-1 leases": {
			reason: "for leases even more", hook: hooked(on("coordination.k8s.io", "v1", "leases"), open, slow), policy: "Ignore", seconds: 3,
			warning: []string{"timeoutSeconds was set to 3"},
		},
		"GLET-WEBHOOK-1 ignore": {
			reason: "what cannot be left out must not fail", hook: hooked(on("", "v1", "nodes")), policy: "Ignore", seconds: 10, warning: []string{"failurePolicy was set to Ignore"},
		},
		"GLET-WEBHOOK-1 selectors": {
			reason: "what can be left out is", hook: hooked(), policy: "Fail", seconds: 10, warning: []string{"selectors were extended"},
			selectors: "origin,shoot.gardener.cloud/no-cleanup;gardener.cloud/purpose,kubernetes.io/metadata.name,shoot.gardener.cloud/no-cleanup",
		},
		"GLET-WEBHOOK-1 more selectors": {
			reason: "what there was stays", hook: hooked(on("", "v1", "secrets"), objects("team", exists)), policy: "Fail", seconds: 10, warning: []string{"selectors were extended"},
			selectors: "team;gardener.cloud/purpose,kubernetes.io/metadata.name,shoot.gardener.cloud/no-cleanup",
		},
		"GLET-WEBHOOK-2 both": {
			reason: "each correction is told", hook: hooked(on("*", "*", "*"), slow), policy: "Ignore", seconds: 3,
			warning: []string{"timeoutSeconds was set to 3", "failurePolicy was set to Ignore"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := tc.hook
			if changed := webhook.CorrectValidating(c); changed != (len(tc.warning) > 0) {
				t.Errorf("%s\nCorrectValidating(...) = %t", tc.reason, changed)
			}
			w := c.Webhooks[0]
			selectors := keys(w.ObjectSelector) + ";" + keys(w.NamespaceSelector)
			got := []any{string(*w.FailurePolicy), *w.TimeoutSeconds, strings.Trim(selectors, ";")}
			if diff := cmp.Diff([]any{tc.policy, tc.seconds, tc.selectors}, got); diff != "" {
				t.Errorf("%s\npolicy, seconds and selectors (-want +got):\n%s", tc.reason, diff)
			}
			text := c.Annotations["gardener.cloud/warning"]
			for _, want := range tc.warning {
				if !strings.Contains(text, `webhook "pods.example.org": `) || !strings.Contains(text, want) || !strings.Contains(text, "remove this annotation") {
					t.Errorf("GLET-WEBHOOK-2: the warning is %q, want %q in it", text, want)
				}
			}
			if problems := webhook.Judge(webhook.Configurations{Validating: []configuration{*c}}).Problems; len(problems) > 0 {
				t.Errorf("%s\nafter the correction there is a problem: %v", tc.reason, problems)
			}
			if webhook.CorrectValidating(c) {
				t.Errorf("%s\na configuration that is correct is corrected again", tc.reason)
			}
		})
	}
}

func keys(s *metav1.LabelSelector) string {
	if s == nil {
		return ""
	}
	var all []string
	for _, r := range s.MatchExpressions {
		all = append(all, r.Key)
	}
	return strings.Join(all, ",")
}

// TestCorrectTwice sees that the owner's tool may undo a correction again and again, and the warning does not grow by it.
func TestCorrectTwice(t *testing.T) {
	t.Parallel()
	c := &admissionregistrationv1.MutatingWebhookConfiguration{Webhooks: []admissionregistrationv1.MutatingWebhook{{Name: "nodes.example.org", Rules: rules("", "v1", "nodes")}}}
	var first string
	for i := range 3 {
		if !webhook.CorrectMutating(c) {
			t.Fatalf("GLET-WEBHOOK-1: correction %d was not made", i)
		}
		text := c.Annotations["gardener.cloud/warning"]
		if first == "" {
			first = text
		}
		if diff := cmp.Diff(first, text); diff != "" {
			t.Errorf("GLET-WEBHOOK-2: the warning of correction %d (-first +now):\n%s", i, diff)
		}
		c.Webhooks[0].FailurePolicy, c.Webhooks[0].TimeoutSeconds = nil, nil
	}
}

// TestSpared sees that what Gardener has made, and what its owner excludes, is not corrected.
func TestSpared(t *testing.T) {
	t.Parallel()
	for key, value := range map[string]string{
		"remediation.webhook.shoot.gardener.cloud/exclude": "true", "resources.gardener.cloud/managed-by": "gardener", "app": "gardener-resource-manager",
	} {
		c := hooked()
		c.Labels = map[string]string{key: value}
		if webhook.CorrectValidating(c) {
			t.Errorf("GLET-WEBHOOK-1: a configuration with label %s=%s was corrected", key, value)
		}
	}
}
