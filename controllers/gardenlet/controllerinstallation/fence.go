// SPDX-License-Identifier: Apache-2.0

package controllerinstallation

import (
	"encoding/json"
	"fmt"
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/extension/policy"
)

// namespacedResources may be named by a rule without a scope. Namespaces restrict nothing for resources that are in none.
func namespacedResources() []string {
	return []string{
		"configmaps", "controlplanes", "cronjobs", "daemonsets", "deployments", "etcds", "horizontalpodautoscalers", "infrastructures", "jobs", "networks",
		"operatingsystemconfigs", "persistentvolumeclaims", "pods", "secrets", "services", "statefulsets", "verticalpodautoscalers", "workers",
	}
}

// Fence refuses webhooks that the accounts of an extension register in the seed, unless they are about shoots of a type that the extension is
// registered for. A webhook reads and changes what it is asked about, so with the right to register one, an extension would otherwise have
// everything in the seed (EXT-WH-1).
func Fence(installation *gardencorev1beta1.ControllerInstallation, registration *gardencorev1beta1.ControllerRegistration) ([]client.Object, error) {
	name := Namespace(installation.Name) + "-webhooks"
	types := []string{}
	for _, resource := range registration.Spec.Resources {
		if !slices.Contains(types, resource.Type) {
			types = append(types, resource.Type)
		}
	}
	slices.Sort(types)
	lists := map[string][]string{
		"types": types, "namespaced": namespacedResources(),
		"labels": {
			gardencorev1beta1.LabelShootProvider, gardencorev1beta1.LabelSeedProvider, gardencorev1beta1.LabelBackupProvider, gardencorev1beta1.LabelNetworkingProvider,
		},
	}
	var variables []admissionregistrationv1.Variable
	for _, list := range []string{"types", "labels", "namespaced"} {
		data, err := json.Marshal(lists[list])
		if err != nil {
			return nil, fmt.Errorf("write the policy for webhooks of installation %q: %w", installation.Name, err)
		}
		variables = append(variables, admissionregistrationv1.Variable{Name: list, Expression: string(data)})
	}
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
			FailurePolicy:    new(admissionregistrationv1.Fail),
			MatchConstraints: &admissionregistrationv1.MatchResources{ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{RuleWithOperations: configurations()}}},
			MatchConditions: []admissionregistrationv1.MatchCondition{{
				Name: "accounts-of-the-extension", Expression: fmt.Sprintf("request.userInfo.username.startsWith(%q)", "system:serviceaccount:"+Namespace(installation.Name)+":"),
			}},
			Variables: variables,
			Validations: []admissionregistrationv1.Validation{
				{Expression: ofOwnType, Reason: new(metav1.StatusReasonForbidden), MessageExpression: `"a webhook of an extension in a seed needs a namespaceSelector with one of the labels " + variables.labels.join(", ") + ` +
					`" and a type that the extension is registered for: " + variables.types.join(", ")`},
				{
					Expression: ofNamespaces, Reason: new(metav1.StatusReasonForbidden),
					Message: "the rules of a webhook of an extension in a seed need the scope Namespaced: others reach what is in no namespace",
				},
			},
		},
	}
	binding := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
		PolicyName: name, ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
	}}
	return []client.Object{policy, binding}, nil
}

const (
	// ofOwnType looks for a label with a type of the extension in the selector of each webhook, in both ways to write it.
	ofOwnType = `!has(object.webhooks) || object.webhooks.all(w, has(w.namespaceSelector) && (` +
		`(has(w.namespaceSelector.matchLabels) && w.namespaceSelector.matchLabels.exists(k, k in variables.labels && w.namespaceSelector.matchLabels[k] in variables.types)) || ` +
		`(has(w.namespaceSelector.matchExpressions) && w.namespaceSelector.matchExpressions.exists(e, ` +
		`e.key in variables.labels && e.operator == "In" && has(e.values) && e.values.all(v, v in variables.types)))))`
	// ofNamespaces looks at the resources of each rule. A subresource belongs to what is before the slash.
	ofNamespaces = `!has(object.webhooks) || object.webhooks.all(w, !has(w.rules) || w.rules.all(r, (has(r.scope) && r.scope == "Namespaced") || ` +
		`(has(r.resources) && r.resources.all(x, x.split("/")[0] in variables.namespaced))))`
)

// configurations are the kinds in which webhooks are registered.
func configurations() admissionregistrationv1.RuleWithOperations {
	return admissionregistrationv1.RuleWithOperations{
		Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
		Rule: admissionregistrationv1.Rule{
			APIGroups: []string{admissionregistrationv1.GroupName}, APIVersions: []string{"*"},
			Resources: []string{"mutatingwebhookconfigurations", "validatingwebhookconfigurations"}, Scope: new(admissionregistrationv1.AllScopes),
		},
	}
}

// fence adds it to what is installed. A seed that knows no such policies goes without.
func (r *Reconciler) fence(s *scope) error {
	known, err := policy.Known(r.SeedClient.RESTMapper())
	if err != nil || !known {
		return err
	}
	objects, err := Fence(s.installation, s.registration)
	s.objects = append(s.objects, objects...)
	return err
}
