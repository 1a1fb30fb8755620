// SPDX-License-Identifier: Apache-2.0

package policy

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
)

// NameManaged is that of the policy for ManagedResources of the class seed, and of its binding.
const NameManaged = "managedresources.extensions.gardener.cloud"

const (
	// ofExtension are accounts in the namespaces of extensions.
	ofExtension = `request.userInfo.username.startsWith("system:serviceaccount:extension-")`
	// forSeed are ManagedResources whose objects go into the seed, before or after the write, and the Secrets with manifests of those that the
	// gardenlet has: the charts of all extensions.
	forSeed = `request.resource.resource == "secrets" ? request.namespace == "garden" && (object == null ? oldObject : object).metadata.name.startsWith("managedresource-") : ` +
		`(object != null && has(object.spec) && has(object.spec.class) && object.spec.class == "seed") || ` +
		`(oldObject != null && has(oldObject.spec) && has(oldObject.spec.class) && oldObject.spec.class == "seed")`
	// mayEscalate asks for a verb that no other right implies but that to all verbs, as Kubernetes has it for roles.
	mayEscalate = `authorizer.group("` + gardenresourcesv1alpha1.GroupName + `").resource("managedresources").namespace(request.namespace).check("escalate").allowed()`
)

// managed returns the policy that keeps extensions from giving themselves all rights in the seed. The resource manager has these, and
// applies what is in a ManagedResource of the class seed, wherever it is. Extensions need ManagedResources for shoots, and RBAC cannot tell
// classes apart.
func managed() []client.Object {
	rule := func(group, resource string) admissionregistrationv1.NamedRuleWithOperations {
		return admissionregistrationv1.NamedRuleWithOperations{RuleWithOperations: admissionregistrationv1.RuleWithOperations{
			Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update, admissionregistrationv1.Delete},
			Rule: admissionregistrationv1.Rule{
				APIGroups: []string{group}, APIVersions: []string{"*"}, Resources: []string{resource}, Scope: new(admissionregistrationv1.NamespacedScope),
			},
		}}
	}
	return []client.Object{
		&admissionregistrationv1.ValidatingAdmissionPolicy{
			ObjectMeta: metav1.ObjectMeta{Name: NameManaged},
			Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
				FailurePolicy: new(admissionregistrationv1.Fail),
				MatchConstraints: &admissionregistrationv1.MatchResources{
					MatchPolicy: new(admissionregistrationv1.Equivalent), NamespaceSelector: &metav1.LabelSelector{}, ObjectSelector: &metav1.LabelSelector{},
					ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{rule(gardenresourcesv1alpha1.GroupName, "managedresources"), rule("", "secrets")},
				},
				MatchConditions: []admissionregistrationv1.MatchCondition{
					{Name: "accounts-of-extensions", Expression: ofExtension}, {Name: "for-the-seed", Expression: forSeed},
				},
				Validations: []admissionregistrationv1.Validation{{
					Expression: mayEscalate, Reason: new(metav1.StatusReasonForbidden),
					Message: `an extension needs the verb "escalate" for managedresources to write those of the class seed, because they give all rights in the seed`,
				}},
			},
		},
		&admissionregistrationv1.ValidatingAdmissionPolicyBinding{
			ObjectMeta: metav1.ObjectMeta{Name: NameManaged},
			Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
				PolicyName: NameManaged, ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
			},
		},
	}
}
