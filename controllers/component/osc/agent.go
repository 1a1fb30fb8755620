// SPDX-License-Identifier: Apache-2.0

package osc

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/nodeagent"
)

const (
	agentRole = "gardener.cloud:node-agents"
	// poolRole is what the names of the roles of single pools begin with.
	poolRole = "gardener.cloud:node-agents:"
)

// agentUnit runs the agent. The provider of a machine installs the program, as it installs the kubelet.
func agentUnit(pool, key string) gardenextensionsv1alpha1.Unit {
	return gardenextensionsv1alpha1.Unit{
		Name: nodeagent.Unit, Command: new(gardenextensionsv1alpha1.UnitCommandStart), Enable: new(true),
		Content: new(`[Unit]
Description=Keeps this machine as its worker pool is configured
After=network-online.target

[Service]
ExecStart=` + component.BinDir + `terrarium node-agent --pool=` + pool + ` --secret=` + key + `
Restart=always
RestartSec=5

[Install]
WantedBy=multi-user.target
`),
	}
}

// Kept is the configuration that the agents of a pool keep.
type Kept struct {
	// Pool is the name of the pool, Secret that of the Secret.
	Pool, Secret string
	// Configuration is what the extension made of it.
	Configuration nodeagent.Configuration
}

// AgentObjects are the configurations inside of the shoot, and what its agents may do: read that of their own pool, and renew the lease of
// their own node. RBAC cannot tell nodes apart, so a policy does (GRM-WH-AUTHZ-1).
func AgentObjects(shoot *gardencorev1beta1.Shoot, pools []Kept) ([]client.Object, error) {
	objs := []client.Object{
		&rbacv1.Role{ObjectMeta: inSystem(agentRole), Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: []string{"get", "create", "update"}},
		}},
		bindRole(agentRole, gardencorev1beta1.GroupNodeAgents),
	}
	objs = append(objs, ownLease()...)
	for _, pool := range pools {
		data, checksum, err := nodeagent.Encode(pool.Configuration)
		if err != nil {
			return nil, err
		}
		secret := &corev1.Secret{
			ObjectMeta: inSystem(pool.Secret), Type: corev1.SecretTypeOpaque,
			Data: map[string][]byte{gardencorev1beta1.DataKeyNodeAgentConfig: data},
		}
		secret.Labels[gardencorev1beta1.LabelRole], secret.Labels[gardencorev1beta1.LabelWorkerPool] = gardencorev1beta1.RoleOperatingSystemConfig, pool.Pool
		secret.Annotations = map[string]string{gardencorev1beta1.AnnotationChecksumDataScript: checksum}
		if delay, found := shoot.Annotations[gardencorev1beta1.AnnotationShootCloudConfigMaxDelay]; found {
			secret.Annotations[gardencorev1beta1.AnnotationShootCloudConfigMaxDelay] = delay
		}
		objs = append(objs, secret, &rbacv1.Role{ObjectMeta: inSystem(poolRole + pool.Pool), Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: []string{pool.Secret}, Verbs: []string{"get", "watch"}},
		}}, bindRole(poolRole+pool.Pool, gardencorev1beta1.GroupPrefixNodeAgentsPool+pool.Pool))
	}
	return objs, nil
}

// ownLease confines the agents of nodes to the leases of their nodes.
func ownLease() []client.Object {
	const name = "node-agents.gardener.cloud"
	meta := inSystem(name)
	meta.Namespace = ""
	all := admissionregistrationv1.OperationAll
	return []client.Object{
		&admissionregistrationv1.ValidatingAdmissionPolicy{
			ObjectMeta: meta,
			Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
				FailurePolicy: new(admissionregistrationv1.Fail),
				MatchConstraints: &admissionregistrationv1.MatchResources{
					MatchPolicy: new(admissionregistrationv1.Equivalent), NamespaceSelector: &metav1.LabelSelector{}, ObjectSelector: &metav1.LabelSelector{},
					ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{RuleWithOperations: admissionregistrationv1.RuleWithOperations{
						Operations: []admissionregistrationv1.OperationType{all},
						Rule: admissionregistrationv1.Rule{
							APIGroups: []string{"coordination.k8s.io"}, APIVersions: []string{"*"}, Resources: []string{"leases"},
							Scope: new(admissionregistrationv1.AllScopes),
						},
					}}},
				},
				MatchConditions: []admissionregistrationv1.MatchCondition{{
					Name: "node-agents", Expression: `"` + gardencorev1beta1.GroupNodeAgents + `" in request.userInfo.groups`,
				}},
				Validations: []admissionregistrationv1.Validation{{
					Expression: `request.operation != "DELETE" && object.metadata.name == request.userInfo.username.replace("` +
						gardencorev1beta1.UserPrefixNodeAgentMachine + `", "` + gardencorev1beta1.LeasePrefixNodeAgent + `")`,
					Message: "the agent of a node writes the lease of its own node only",
				}},
			},
		},
		&admissionregistrationv1.ValidatingAdmissionPolicyBinding{
			ObjectMeta: meta,
			Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
				PolicyName: name, ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
			},
		},
	}
}

func bindRole(role, group string) client.Object {
	return &rbacv1.RoleBinding{
		ObjectMeta: inSystem(role),
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: group}},
	}
}

func inSystem(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: name, Labels: map[string]string{
		gardencorev1beta1.LabelOrigin:         "gardener",
		gardencorev1beta1.LabelShootNoCleanup: "true",
		gardencorev1beta1.LabelRole:           gardencorev1beta1.RoleSystemComponent,
	}}
}
