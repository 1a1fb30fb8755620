// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
)

// TestViewersUseNoIdentity has people who may look at the identities of a project try to use them in a project of their own: a shoot there would
// get tokens, with which it acts as the other project at its cloud (API-RRM-1).
func TestViewersUseNoIdentity(t *testing.T) {
	t.Parallel()
	o := operate(t)
	theirs := *o.project("theirs", member("eve", "viewer"), member("vera", "admin")).Spec.Namespace
	own := *o.project("own", member("eve", "admin"), member("auditor", "admin"), member("vera", "admin")).Spec.Namespace
	o.create(&rbacv1.ClusterRoleBinding{
		ObjectMeta: named("", "auditors"), RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "gardener.cloud:system:viewers"},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "auditor"}},
	})
	identity := &gardensecurityv1alpha1.WorkloadIdentity{ObjectMeta: named(theirs, "cloud")}
	identity.Spec.Audiences, identity.Spec.TargetSystem.Type = []string{"sts"}, "local"
	o.create(identity)
	binding := func(name string) *gardensecurityv1alpha1.CredentialsBinding {
		return &gardensecurityv1alpha1.CredentialsBinding{
			ObjectMeta: named(own, name), Provider: gardensecurityv1alpha1.CredentialsBindingProvider{Type: "local"},
			CredentialsRef: corev1.ObjectReference{
				APIVersion: gardensecurityv1alpha1.GroupVersion.String(), Kind: "WorkloadIdentity", Namespace: theirs, Name: identity.Name,
			},
		}
	}
	for _, who := range []string{"eve", "auditor", "vera"} {
		for _, verb := range []string{"get", "create"} {
			resource, namespace := "workloadidentities", theirs
			if verb == "create" {
				resource, namespace = "credentialsbindings", own
			}
			o.allowed(person(who), authorizationv1.ResourceAttributes{Verb: verb, Group: gardensecurityv1alpha1.GroupName, Resource: resource, Namespace: namespace})
		}
	}
	for _, who := range []string{"eve", "auditor"} {
		refusedWith(t, o.as(who).Create(t.Context(), binding(who)), "but not use it", who+" may look at the identity only")
	}
	o.allowed(person("vera"), authorizationv1.ResourceAttributes{Verb: "update", Group: gardensecurityv1alpha1.GroupName, Resource: "workloadidentities", Namespace: theirs})
	if err := o.as("vera").Create(t.Context(), binding("vera")); err != nil {
		t.Errorf("who manages the identity shares it: %v", err)
	}
}
