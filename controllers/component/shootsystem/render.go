// SPDX-License-Identifier: Apache-2.0

package shootsystem

import (
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// Values are the facts about a shoot.
type Values struct {
	// KubeletClientUser is the name under which the API server talks to kubelets.
	KubeletClientUser string
	// ClusterIdentity is unique among all clusters of all gardens.
	ClusterIdentity string
	// Info is the content of the ConfigMap shoot-info.
	Info map[string]string
}

// Render returns the objects inside the shoot.
func Render(v Values) []client.Object {
	objs := []client.Object{kubeSystem()}
	objs = append(objs, priorityClasses()...)
	objs = append(objs, nodeAccess(v.KubeletClientUser)...)
	objs = append(objs, userAccess()...)
	return append(objs,
		&corev1.ConfigMap{
			ObjectMeta: system(gardencorev1beta1.ConfigMapShootInfo),
			Data:       v.Info,
		},
		&corev1.ConfigMap{
			ObjectMeta: system(gardencorev1beta1.ConfigMapClusterIdentity),
			Immutable:  new(true),
			Data: map[string]string{
				gardencorev1beta1.ConfigMapClusterIdentity: v.ClusterIdentity,
				gardencorev1beta1.ClusterIdentityOrigin:    gardencorev1beta1.ClusterIdentityOriginShoot,
			},
		},
	)
}

// kubeSystem only adds labels: the namespace exists before anybody asks for it.
func kubeSystem() client.Object {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: metav1.NamespaceSystem, Labels: map[string]string{
		gardencorev1beta1.LabelPurpose:        metav1.NamespaceSystem,
		gardencorev1beta1.LabelShootNoCleanup: "true",
		gardencorev1beta1.LabelRole:           gardencorev1beta1.RoleSystemComponent,
	}}}
}

func priorityClasses() []client.Object {
	class := func(name string, value int32) client.Object {
		return &schedulingv1.PriorityClass{ObjectMeta: global(name), Value: value, Description: "Components of Gardener inside the shoot"}
	}
	return []client.Object{
		class("gardener-shoot-system-900", 999999900),
		class("gardener-shoot-system-800", 999999800),
		class("gardener-shoot-system-700", 999999700),
		class("gardener-shoot-system-600", 999999600),
	}
}

// nodeAccess lets machines with a bootstrap token ask for a certificate, lets the controller manager approve it and its
// renewals, and lets the API server talk to kubelets.
func nodeAccess(kubeletClient string) []client.Object {
	return []client.Object{
		bind("system:node-bootstrapper", "system:node-bootstrapper", group(gardencorev1beta1.GroupBootstrappers)),
		bind("system:certificates.k8s.io:certificatesigningrequests:nodeclient", "system:certificates.k8s.io:certificatesigningrequests:nodeclient", group(gardencorev1beta1.GroupBootstrappers)),
		bind("system:certificates.k8s.io:certificatesigningrequests:selfnodeclient", "system:certificates.k8s.io:certificatesigningrequests:selfnodeclient", group("system:nodes")),
		bind("system:apiserver:kubelet", "system:kubelet-api-admin", rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: kubeletClient}),
	}
}

// userAccess gives rights to the groups in the certificates that the garden hands out on request.
func userAccess() []client.Object {
	return []client.Object{
		readOnly(),
		bind(gardencorev1beta1.GroupShootSystemAdmins, "cluster-admin", group(gardencorev1beta1.GroupShootSystemAdmins)),
		bind(gardencorev1beta1.GroupShootProjectAdmins, "cluster-admin", group(gardencorev1beta1.GroupShootProjectAdmins)),
		bind(gardencorev1beta1.GroupShootSystemViewers, gardencorev1beta1.ClusterRoleShootReadOnly, group(gardencorev1beta1.GroupShootSystemViewers)),
		bind(gardencorev1beta1.GroupShootProjectViewers, gardencorev1beta1.ClusterRoleShootReadOnly, group(gardencorev1beta1.GroupShootProjectViewers)),
	}
}

// readOnly names every resource of the core group but Secrets: a role can only allow. Groups that users bring themselves are
// not part of it, because nobody knows what is secret there.
func readOnly() client.Object {
	read := []string{"get", "list", "watch"}
	all := []string{"*"}
	return &rbacv1.ClusterRole{
		ObjectMeta: global(gardencorev1beta1.ClusterRoleShootReadOnly),
		Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{""}, Verbs: read, Resources: []string{
				"bindings", "componentstatuses", "configmaps", "endpoints", "events", "limitranges", "namespaces", "namespaces/status", "nodes", "nodes/status",
				"persistentvolumeclaims", "persistentvolumeclaims/status", "persistentvolumes", "persistentvolumes/status", "pods", "pods/log", "pods/status",
				"podtemplates", "replicationcontrollers", "replicationcontrollers/scale", "replicationcontrollers/status", "resourcequotas",
				"resourcequotas/status", "serviceaccounts", "services", "services/status",
			}},
			{APIGroups: []string{
				"admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io", "apps", "autoscaling", "batch", "certificates.k8s.io",
				"coordination.k8s.io", "discovery.k8s.io", "events.k8s.io", "flowcontrol.apiserver.k8s.io", "metrics.k8s.io", "networking.k8s.io",
				"node.k8s.io", "policy", "rbac.authorization.k8s.io", "scheduling.k8s.io", "storage.k8s.io",
			}, Verbs: read, Resources: all},
			{NonResourceURLs: []string{"/healthz", "/healthz/*", "/livez", "/livez/*", "/readyz", "/readyz/*", "/metrics", "/version"}, Verbs: []string{"get"}},
		},
	}
}

func bind(name, role string, subject rbacv1.Subject) client.Object {
	return &rbacv1.ClusterRoleBinding{
		ObjectMeta: global(name),
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects:   []rbacv1.Subject{subject},
	}
}

func group(name string) rbacv1.Subject {
	return rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: name}
}

func global(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Labels: map[string]string{
		gardencorev1beta1.LabelOrigin:         "gardener",
		gardencorev1beta1.LabelShootNoCleanup: "true",
		gardencorev1beta1.LabelRole:           gardencorev1beta1.RoleSystemComponent,
	}}
}

func system(name string) metav1.ObjectMeta {
	meta := global(name)
	meta.Namespace = metav1.NamespaceSystem
	return meta
}
