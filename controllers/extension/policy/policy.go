// SPDX-License-Identifier: Apache-2.0

// Package policy holds what a seed checks in extension objects beside their definitions: rules that need more than the new and the
// old spec, which is all that a rule of a definition sees. The API server of the seed applies them itself, so they hold while no
// process of ours runs.
package policy

import (
	"fmt"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
)

// Name is that of the policy for extension objects, and of its binding.
const Name = "extensions.gardener.cloud"

const (
	// frozen compares the specs of an object in deletion (EXT-OBJ-5). Only the main resource is matched, so status can still change.
	frozen = `request.operation != "UPDATE" || !has(oldObject.metadata.deletionTimestamp) || object.spec == oldObject.spec`
	// ranges looks at the ranges of Bastions (EXT-OBJ-4). Their type is Kubernetes' own and bounds no text, so that a rule of the definition
	// would be refused as too expensive. The API server ends a policy that takes too long, and the request with it. An object that is older
	// than the rule keeps its spec: it must still be possible to annotate and to release it.
	ranges = `(request.operation == "UPDATE" && object.spec == oldObject.spec) || request.resource.resource != "bastions" || object.spec.ingress.all(i, isCIDR(i.ipBlock.cidr) && ` +
		`(!has(i.ipBlock.except) || i.ipBlock.except.all(e, isCIDR(e))))`
)

// Objects returns the policies and their bindings.
func Objects() []client.Object {
	return append([]client.Object{
		&admissionregistrationv1.ValidatingAdmissionPolicy{
			ObjectMeta: metav1.ObjectMeta{Name: Name},
			Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
				FailurePolicy:    new(admissionregistrationv1.Fail),
				MatchConstraints: matches(),
				Validations: []admissionregistrationv1.Validation{
					{Expression: frozen, Reason: new(metav1.StatusReasonForbidden), Message: "the spec of an extension object cannot change while the object is being deleted: " +
						"wait until its extension has released it, and create it anew"},
					{Expression: ranges, Reason: new(metav1.StatusReasonInvalid), Message: "spec.ingress[].ipBlock of a bastion must have ranges in CIDR notation, such as 203.0.113.0/24"},
				},
			},
		},
		&admissionregistrationv1.ValidatingAdmissionPolicyBinding{
			ObjectMeta: metav1.ObjectMeta{Name: Name},
			Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
				PolicyName: Name, ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
			},
		},
	}, managed()...)
}

// matches are writes of all extension objects. A Cluster is a copy of what is in the garden, and goes on being written for as long as
// the shoot exists.
func matches() *admissionregistrationv1.MatchResources {
	rule := func(resource string) []admissionregistrationv1.NamedRuleWithOperations {
		return []admissionregistrationv1.NamedRuleWithOperations{{RuleWithOperations: admissionregistrationv1.RuleWithOperations{
			Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
			Rule: admissionregistrationv1.Rule{
				APIGroups: []string{gardenextensionsv1alpha1.GroupName}, APIVersions: []string{"*"}, Resources: []string{resource},
				Scope: new(admissionregistrationv1.AllScopes),
			},
		}}}
	}
	return &admissionregistrationv1.MatchResources{
		MatchPolicy: new(admissionregistrationv1.Equivalent), NamespaceSelector: &metav1.LabelSelector{}, ObjectSelector: &metav1.LabelSelector{},
		ResourceRules: rule("*"), ExcludeResourceRules: rule("clusters"),
	}
}

// Known reports whether a cluster has policies of this kind. Kubernetes has them since version 1.30.
func Known(mapper meta.RESTMapper) (bool, error) {
	kind := admissionregistrationv1.SchemeGroupVersion.WithKind("ValidatingAdmissionPolicy")
	_, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if meta.IsNoMatchError(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("find out whether the seed knows kind %s: %w", kind.Kind, err)
	}
	return true, nil
}
