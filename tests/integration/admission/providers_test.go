// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// providerChecks has a provider that judges new Secrets with its label, and Secrets that are older than their bindings.
func providerChecks(g garden) {
	g.create(policyOf("strict"), &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "strict"},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: "strict", ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
		},
	})
	secret := func(name, key string) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Data: map[string][]byte{key: []byte("x")}}
	}
	g.create(secret("strict-bad", "password"), secret("strict-good", "token"))
	binding := func(name string) *gardensecurityv1alpha1.CredentialsBinding {
		return admissiontest.Credentials(func(b *gardensecurityv1alpha1.CredentialsBinding) {
			b.Name, b.Provider.Type, b.CredentialsRef.Name = name, "strict", name
		})
	}
	harness.Eventually(g.t, "API-RRM-2: the provider judges what would be bound", func(ctx context.Context) error {
		err := g.Client.Create(ctx, binding("strict-bad"), client.DryRunAll)
		if err == nil {
			return errors.New("it is not asked")
		}
		if !strings.Contains(err.Error(), "a token is needed") {
			return fmt.Errorf("it says something else: %w", err)
		}
		return nil
	})
	g.refused("API-RRM-2: credentials that the provider refuses are not bound", binding("strict-bad"), apierrors.IsForbidden,
		`Secret "garden-meadow/strict-bad" cannot be bound to strict`, "a token is needed")
	g.create(binding("strict-good"))
	secrets := &corev1.SecretList{}
	if err := g.Client.List(g.t.Context(), secrets, client.InNamespace(namespace)); err != nil {
		g.t.Fatal(err)
	}
	for _, s := range secrets.Items {
		if strings.HasPrefix(s.Name, "bound-") {
			g.t.Errorf("API-RRM-2: the copy that is shown is not kept: %s", s.Name)
		}
	}
}

// policyOf is what the provider asks of Secrets.
func policyOf(provider string) *admissionregistrationv1.ValidatingAdmissionPolicy {
	return &admissionregistrationv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: provider},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionregistrationv1.MatchResources{
				ObjectSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"provider.shoot.gardener.cloud/" + provider: "true"}},
				ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{RuleWithOperations: admissionregistrationv1.RuleWithOperations{
					Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
					Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"secrets"}},
				}}},
			},
			Validations: []admissionregistrationv1.Validation{{Expression: "has(object.data) && 'token' in object.data", Message: "a token is needed"}},
		},
	}
}
