// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"fmt"
	"slices"
	"strings"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

const (
	configurationPrefix = "gardener-extension-"
	shootSuffix         = "-shoot"
	// domain ends the names of webhooks.
	domain = ".extensions.gardener.cloud"
	// patience is how long an API server waits for an answer.
	patience = 10 * time.Second
)

// ConfigurationName is the name of the configuration of an extension in the seed (EXT-WH-5).
func ConfigurationName(extension string) string { return configurationPrefix + extension }

// FullName is the name of a webhook in a configuration (EXT-WH-5).
func FullName(extension, webhook string) string {
	return webhook + "." + strings.TrimPrefix(extension, "provider-") + domain
}

// at is where the API server finds the webhooks, given the path.
type at func(path string) admissionregistrationv1.WebhookClientConfig

// inSeed is the configuration for the seed. It goes with the namespace of the extension.
func (s Set) inSeed(types *runtime.Scheme, home *corev1.Namespace, reach at) (*admissionregistrationv1.MutatingWebhookConfiguration, error) {
	c, err := s.configuration(types, s.Seed, ConfigurationName(s.Extension), func(w Webhook, hook *admissionregistrationv1.MutatingWebhook) {
		hook.ClientConfig, hook.FailurePolicy = reach(w.Path()), new(admissionregistrationv1.Fail)
		hook.NamespaceSelector, hook.ObjectSelector = w.namespaces(), w.objects()
	})
	if err != nil {
		return nil, err
	}
	c.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Namespace", Name: home.Name, UID: home.UID}}
	return c, nil
}

// inShoot is the configuration for shoots. While nobody answers, the owner's cluster goes on.
func (s Set) inShoot(types *runtime.Scheme, reach at) (*admissionregistrationv1.MutatingWebhookConfiguration, error) {
	return s.configuration(types, s.Shoot, ConfigurationName(s.Extension)+shootSuffix, func(w Webhook, hook *admissionregistrationv1.MutatingWebhook) {
		hook.ClientConfig, hook.FailurePolicy = reach(w.Path()), new(admissionregistrationv1.Ignore)
		hook.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: metav1.NamespaceSystem}}
		hook.ObjectSelector = &metav1.LabelSelector{}
		if w.Selector != nil {
			hook.ObjectSelector = w.Selector
		}
	})
}

func (s Set) configuration(
	types *runtime.Scheme, webhooks []Webhook, name string, complete func(Webhook, *admissionregistrationv1.MutatingWebhook),
) (*admissionregistrationv1.MutatingWebhookConfiguration, error) {
	c := &admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{
		Name: name, Labels: map[string]string{gardencorev1beta1.LabelRemediationExclude: "true"},
	}}
	for _, w := range webhooks {
		rules, err := w.rules(types)
		if err != nil {
			return nil, fmt.Errorf("webhook %q: %w", w.Name, err)
		}
		hook := admissionregistrationv1.MutatingWebhook{
			Name: FullName(s.Extension, w.Name), Rules: rules, TimeoutSeconds: new(int32(patience.Seconds())),
			MatchPolicy: new(admissionregistrationv1.Exact), SideEffects: new(admissionregistrationv1.SideEffectClassNone),
			AdmissionReviewVersions: []string{"v1"}, ReinvocationPolicy: new(admissionregistrationv1.NeverReinvocationPolicy),
		}
		complete(w, &hook)
		c.Webhooks = append(c.Webhooks, hook)
	}
	return c, nil
}

// Path is where the webhook is asked.
func (w Webhook) Path() string { return "/" + w.Name }

// rules are the kinds of the objects, one rule for each group and version.
func (w Webhook) rules(types *runtime.Scheme) ([]admissionregistrationv1.RuleWithOperations, error) {
	var rules []admissionregistrationv1.RuleWithOperations
	for _, object := range w.Objects {
		kind, err := apiutil.GVKForObject(object, types)
		if err != nil {
			return nil, fmt.Errorf("find the kind of %T: %w", object, err)
		}
		plural, _ := meta.UnsafeGuessKindToResource(kind)
		same := func(r admissionregistrationv1.RuleWithOperations) bool {
			return r.APIGroups[0] == kind.Group && r.APIVersions[0] == kind.Version
		}
		i := slices.IndexFunc(rules, same)
		if i < 0 {
			i = len(rules)
			rules = append(rules, admissionregistrationv1.RuleWithOperations{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{kind.Group}, APIVersions: []string{kind.Version}, Scope: new(admissionregistrationv1.NamespacedScope)},
			})
		}
		rules[i].Resources = append(rules[i].Resources, plural.Resource)
	}
	return rules, nil
}
