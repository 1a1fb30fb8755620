// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

func TestProjects(t *testing.T) {
	t.Parallel()
	o := operate(t)
	o.provider("local")

	t.Run("GCM-PROJECT-2 namespace", func(t *testing.T) {
		t.Parallel()
		o := o.in(t)
		project := o.project("fresh")
		if !strings.HasPrefix(*project.Spec.Namespace, "garden-fresh-") {
			t.Errorf("GCM-PROJECT-5: the computed name is written into the spec, got %q", *project.Spec.Namespace)
		}
		namespace := o.namespace(project)
		if namespace.Labels["gardener.cloud/role"] != "project" || namespace.Labels["project.gardener.cloud/name"] != "fresh" {
			t.Errorf("GCM-PROJECT-2: labels of the namespace = %v", namespace.Labels)
		}
		if namespace.Annotations["namespace.gardener.cloud/project"] != string(project.UID) || !metav1.IsControlledBy(namespace, project) {
			t.Errorf("GCM-PROJECT-2: the namespace belongs to the project, got annotations %v, owners %v", namespace.Annotations, namespace.OwnerReferences)
		}
		o.event(project, "NamespaceReconcileSuccessful", "GCM-PROJECT-9: an event tells that the namespace is there")
	})

	t.Run("GCM-PROJECT-9 name without a namespace", func(t *testing.T) {
		t.Parallel()
		o := o.in(t)
		project := &gardencorev1beta1.Project{ObjectMeta: metav1.ObjectMeta{Name: "a.b"}}
		o.create(project)
		o.phase(project, gardencorev1beta1.ProjectPhaseFailed)
		o.event(project, "NamespaceReconcileFailed", "GCM-PROJECT-9: an event tells that no namespace can have this name")
		o.confirm(project)
		o.gone(project, "GCM-PROJECT-12: it goes at once")
	})

	t.Run("GCM-PROJECT-7 roles", func(t *testing.T) {
		t.Parallel()
		o := o.in(t)
		o.create(partOf("metering"))
		project := o.project("roles", member("ann", "admin"), member("bob", "viewer", "extension:metering"))
		binding := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: *project.Spec.Namespace, Name: "gardener.cloud:system:project-viewer"}}
		bob := []rbacv1.Subject{{APIGroup: "rbac.authorization.k8s.io", Kind: "User", Name: "bob"}}
		harness.Await(t, o.Client, binding, "GCM-PROJECT-7: the viewer is bound", func(b *rbacv1.RoleBinding) error {
			return has(cmp.Equal(b.Subjects, bob), "subjects %v", b.Subjects)
		})
		owner := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "gardener.cloud:system:project:roles"}}
		owner = harness.Await(t, o.Client, owner, "GCM-PROJECT-7: the owner has a role of this project", func(r *rbacv1.ClusterRole) error {
			return has(len(r.Rules) == 2 && metav1.IsControlledBy(r, project), "rules %v, owners %v", r.Rules, r.OwnerReferences)
		})
		extension := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: *project.Spec.Namespace, Name: "gardener.cloud:extension:project:roles:metering"}}
		harness.Await(t, o.Client, extension, "GCM-PROJECT-8: the extension role is bound", func(b *rbacv1.RoleBinding) error {
			return has(cmp.Equal(b.Subjects, bob), "subjects %v", b.Subjects)
		})

		o.change(binding, func() { binding.Subjects = nil })
		harness.Await(t, o.Client, binding, "GCM-PROJECT-13: a manual edit is reverted", func(b *rbacv1.RoleBinding) error {
			return has(cmp.Equal(b.Subjects, bob), "subjects %v", b.Subjects)
		})
		o.delete(binding)
		o.create(&rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: binding.Namespace, Name: "other"}, RoleRef: binding.RoleRef})
		harness.Await(t, o.Client, binding, "GCM-PROJECT-13: a deleted binding comes back", func(b *rbacv1.RoleBinding) error {
			return has(cmp.Equal(b.Subjects, bob), "subjects %v", b.Subjects)
		})

		o.revertsClusterRole(project)

		o.change(project, func() { project.Spec.Members[1].Roles = nil })
		o.gone(extension, "GCM-PROJECT-8: a role that no member holds goes with its binding")
		o.gone(&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: extension.Name}}, "GCM-PROJECT-8: a role that no member holds goes")
		harness.Await(t, o.Client, owner, "what did not change was not written", func(r *rbacv1.ClusterRole) error {
			return has(r.ResourceVersion == owner.ResourceVersion, "version %s, was %s", r.ResourceVersion, owner.ResourceVersion)
		})
	})

	t.Run("GCM-PROJECT-3 foreign namespace", func(t *testing.T) {
		t.Parallel()
		o := o.in(t)
		foreign := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "garden-foreign"}}
		project := &gardencorev1beta1.Project{ObjectMeta: metav1.ObjectMeta{Name: "foreign"}, Spec: gardencorev1beta1.ProjectSpec{Namespace: new("garden-foreign")}}
		o.create(foreign, project)
		o.phase(project, gardencorev1beta1.ProjectPhaseFailed)
		event := o.event(project, "NamespaceReconcileFailed", "GCM-PROJECT-9: an event tells what is wrong")
		if !strings.Contains(event.Message, "project.gardener.cloud/name=foreign") {
			t.Errorf("GCM-PROJECT-3: the event says which labels are missing, got %q", event.Message)
		}

		o.change(foreign, func() {
			foreign.Labels = map[string]string{"gardener.cloud/role": "project", "project.gardener.cloud/name": "foreign"}
		})
		project = o.phase(project, gardencorev1beta1.ProjectPhaseReady)
		if got := o.namespace(project).Annotations["namespace.gardener.cloud/keep-after-project-deletion"]; got != "true" {
			t.Errorf("GCM-PROJECT-4: an adopted namespace is kept, annotation = %q", got)
		}
		o.confirm(project)
		o.gone(project, "GCM-PROJECT-11: the project goes")
		kept := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "garden-foreign"}}
		harness.Await(t, o.Client, kept, "GCM-PROJECT-11: the namespace stays and is released", func(n *corev1.Namespace) error {
			return has(n.DeletionTimestamp == nil && n.Labels["gardener.cloud/role"] == "" && len(n.OwnerReferences) == 0, "labels %v, owners %v", n.Labels, n.OwnerReferences)
		})
	})

	t.Run("GCM-PROJECT-11 namespace of others", func(t *testing.T) {
		t.Parallel()
		o := o.in(t)
		project := o.project("detached")
		namespace := o.namespace(project)
		o.change(namespace, func() { namespace.Labels = nil })
		o.phase(project, gardencorev1beta1.ProjectPhaseFailed)
		o.confirm(project)
		o.gone(project, "GCM-PROJECT-11: the project goes")
		o.gone(&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "gardener.cloud:system:project:detached"}}, "GCM-PROJECT-7: what it owns is collected")
		if namespace := o.namespace(project); namespace.DeletionTimestamp != nil || len(namespace.OwnerReferences) > 0 {
			t.Errorf("GCM-PROJECT-11: a namespace without the labels stays; deleted at %v, owners %v", namespace.DeletionTimestamp, namespace.OwnerReferences)
		}
	})

	t.Run("GCM-PROJECT-10 deletion", func(t *testing.T) {
		t.Parallel()
		o := o.in(t)
		project := o.project("leaving")
		shoot := o.shoot(*project.Spec.Namespace, "last", "local")
		o.confirm(project)
		o.phase(project, gardencorev1beta1.ProjectPhaseTerminating)
		event := o.event(project, "NamespaceNotEmpty", "GCM-PROJECT-10: an event tells what holds the project")
		if !strings.Contains(event.Message, "last") {
			t.Errorf("GCM-PROJECT-10: the event names the shoots, got %q", event.Message)
		}
		if namespace := o.namespace(project); namespace.DeletionTimestamp != nil {
			t.Error("GCM-PROJECT-10: the namespace must not go before the shoots")
		}
		o.confirm(shoot)
		o.gone(project, "GCM-PROJECT-12: the project goes after its last shoot")
		o.gone(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: *project.Spec.Namespace}}, "GCM-PROJECT-11: the namespace goes with the project")
		o.gone(&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "gardener.cloud:system:project:leaving"}}, "GCM-PROJECT-7: the roles go with the project")
	})
}

// revertsClusterRole edits and deletes the role of the admins of a project and its binding.
func (o *operator) revertsClusterRole(project *gardencorev1beta1.Project) {
	o.t.Helper()
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "gardener.cloud:system:project-member:" + project.Name}}
	binding := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: role.Name}}
	bound := func(what string) {
		o.t.Helper()
		harness.Await(o.t, o.Client, binding, what, func(b *rbacv1.ClusterRoleBinding) error {
			return has(slices.ContainsFunc(b.Subjects, func(s rbacv1.Subject) bool { return s.Name == "ann" }), "subjects %v", b.Subjects)
		})
	}
	ruled := func(what string) {
		o.t.Helper()
		harness.Await(o.t, o.Client, role, what, func(r *rbacv1.ClusterRole) error { return has(len(r.Rules) == 2, "rules %v", r.Rules) })
	}
	bound("GCM-PROJECT-7: the admin has a role of this project")
	o.change(binding, func() { binding.Subjects = nil })
	bound("GCM-PROJECT-13: the subjects of a ClusterRoleBinding come back")
	o.delete(binding)
	bound("GCM-PROJECT-13: so does a ClusterRoleBinding that is deleted")
	o.change(role, func() { role.Rules = nil })
	ruled("GCM-PROJECT-13: the rules of a ClusterRole come back")
	o.delete(role)
	ruled("GCM-PROJECT-13: so does a ClusterRole that is deleted")
}
