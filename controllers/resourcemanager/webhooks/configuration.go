// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// patience is how long an API server waits for an answer.
const patience = 10 * time.Second

// Values are what the configuration of the webhooks in a cluster depends on.
type Values struct {
	// Name of both configurations.
	Name string
	// Labels of both.
	Labels map[string]string
	// Service is where the server can be reached in the cluster, without a path.
	Service *admissionregistrationv1.ServiceReference
	// URL is where it can be reached if it is no Service of the cluster, without a path.
	URL string
	// Scheduler is that of the server; empty for none.
	Scheduler string
	// CA is the bundle that verifies the certificate of the server.
	CA []byte
	// Shoot is set for the configuration of a shoot, which has other webhooks than a seed.
	Shoot bool
}

// Configuration returns the objects that make an API server ask the webhooks.
func Configuration(v Values) []client.Object {
	meta := metav1.ObjectMeta{Name: v.Name, Labels: v.Labels}
	validating := &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: meta}
	mutating := &admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: meta}
	all := hooks(v.Scheduler)
	if v.Shoot {
		all = inShoots()
	}
	for _, h := range all {
		failure := admissionregistrationv1.Fail
		if h.ignored {
			failure = admissionregistrationv1.Ignore
		}
		seconds := int32(patience.Seconds())
		if h.mutating {
			mutating.Webhooks = append(mutating.Webhooks, admissionregistrationv1.MutatingWebhook{
				Name: h.name + domain, ClientConfig: v.reach(h.path), Rules: h.rules, FailurePolicy: &failure, TimeoutSeconds: &seconds,
				MatchPolicy: new(admissionregistrationv1.Equivalent), SideEffects: new(admissionregistrationv1.SideEffectClassNone),
				AdmissionReviewVersions: []string{"v1"}, ReinvocationPolicy: new(admissionregistrationv1.NeverReinvocationPolicy),
				NamespaceSelector: selector(h.namespaces), ObjectSelector: selector(h.objects), MatchConditions: h.conditions,
			})
			continue
		}
		validating.Webhooks = append(validating.Webhooks, admissionregistrationv1.ValidatingWebhook{
			Name: h.name + domain, ClientConfig: v.reach(h.path), Rules: h.rules, FailurePolicy: &failure, TimeoutSeconds: &seconds,
			MatchPolicy: new(admissionregistrationv1.Equivalent), SideEffects: new(admissionregistrationv1.SideEffectClassNone),
			AdmissionReviewVersions: []string{"v1"},
			NamespaceSelector:       selector(h.namespaces), ObjectSelector: selector(h.objects), MatchConditions: h.conditions,
		})
	}
	if len(validating.Webhooks) == 0 {
		return []client.Object{mutating}
	}
	return []client.Object{validating, mutating}
}

// selector is never nil: the server would set an empty one, and another applier could own it.
func selector(given *metav1.LabelSelector) *metav1.LabelSelector {
	if given == nil {
		return &metav1.LabelSelector{}
	}
	return given
}

func (v Values) reach(path string) admissionregistrationv1.WebhookClientConfig {
	if v.Service == nil {
		return admissionregistrationv1.WebhookClientConfig{URL: new(v.URL + path), CABundle: v.CA}
	}
	service := v.Service.DeepCopy()
	service.Path = &path
	return admissionregistrationv1.WebhookClientConfig{Service: service, CABundle: v.CA}
}
