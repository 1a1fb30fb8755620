// SPDX-License-Identifier: Apache-2.0

package verticalpodautoscaler

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
)

const (
	// Webhook is the component that makes the API server of the shoot ask the admission controller. It comes last and goes first.
	Webhook component.Name = "vpa-webhook"

	// configuration is the name of the object in the shoot, webhook the name of its webhook.
	configuration = "vpa-webhook-config-shoot"
	webhook       = "vpa.k8s.io"
	// patience in seconds is how long the creation of a pod waits for an answer. It goes on without one.
	patience = 5
)

// WebhookComponent makes the API server ask the admission controller about new pods, and about the objects that say how these are sized. A
// pod is created in any case: in the size that it has if nobody answers.
func WebhookComponent() component.Component[facts.Shoot] {
	return component.Component[facts.Shoot]{
		Name: Webhook, Title: "the configuration of the webhook that sizes pods", After: []component.Name{Inside}, Wanted: wanted,
		Secrets: func(facts.Shoot, component.Addresses) ([]component.Request, error) {
			return []component.Request{component.Authority(gardencorev1beta1.SecretCACluster)}, nil
		},
		Render: func(f facts.Shoot, in *component.Inputs) ([]client.Object, error) {
			written := []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update}
			return []client.Object{&admissionregistrationv1.MutatingWebhookConfiguration{
				ObjectMeta: metav1.ObjectMeta{Name: configuration, Labels: labels()},
				Webhooks: []admissionregistrationv1.MutatingWebhook{{
					Name: webhook, AdmissionReviewVersions: []string{"v1"},
					ClientConfig: admissionregistrationv1.WebhookClientConfig{
						URL: new("https://" + host(f.Namespace)), CABundle: in.Secret(gardencorev1beta1.SecretCACluster).Trusted,
					},
					Rules: []admissionregistrationv1.RuleWithOperations{
						about("", "pods", admissionregistrationv1.Create),
						about("autoscaling.k8s.io", "verticalpodautoscalers", written...),
					},
					FailurePolicy: new(admissionregistrationv1.Ignore), TimeoutSeconds: new(int32(patience)),
					MatchPolicy: new(admissionregistrationv1.Equivalent), SideEffects: new(admissionregistrationv1.SideEffectClassNone),
					ReinvocationPolicy: new(admissionregistrationv1.NeverReinvocationPolicy),
					NamespaceSelector:  &metav1.LabelSelector{}, ObjectSelector: &metav1.LabelSelector{},
				}},
			}}, nil
		},
	}
}

func about(group, resource string, operations ...admissionregistrationv1.OperationType) admissionregistrationv1.RuleWithOperations {
	return admissionregistrationv1.RuleWithOperations{
		Operations: operations,
		Rule: admissionregistrationv1.Rule{
			APIGroups: []string{group}, APIVersions: []string{"v1"}, Resources: []string{resource}, Scope: new(admissionregistrationv1.AllScopes),
		},
	}
}
