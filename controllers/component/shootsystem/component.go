// SPDX-License-Identifier: Apache-2.0

// Package shootsystem renders what every shoot contains before it gets nodes: the rights to join as a node, to administer and to
// read the cluster, priority classes, and facts about the shoot for programs that run in it.
package shootsystem

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/apiserver"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
)

// Name names the component; everything else inside a shoot comes after it.
const Name component.Name = "system"

// Component is what a shoot contains before it gets nodes.
func Component() component.Component[facts.Shoot] {
	return component.Component[facts.Shoot]{
		Name: Name, Title: "the system resources of the cluster", Task: "system-resources", Render: render,
	}
}

// render returns the objects inside the shoot.
func render(f facts.Shoot, _ *component.Inputs) ([]client.Object, error) {
	objs := []client.Object{kubeSystem()}
	objs = append(objs, priorityClasses()...)
	objs = append(objs, nodeAccess()...)
	objs = append(objs, userAccess()...)
	return append(objs,
		&corev1.ConfigMap{ObjectMeta: system(gardencorev1beta1.ConfigMapShootInfo), Data: info(f)},
		&corev1.ConfigMap{
			ObjectMeta: system(gardencorev1beta1.ConfigMapClusterIdentity),
			Immutable:  new(true),
			Data: map[string]string{
				gardencorev1beta1.ConfigMapClusterIdentity: f.ClusterIdentity,
				gardencorev1beta1.ClusterIdentityOrigin:    gardencorev1beta1.ClusterIdentityOriginShoot,
			},
		},
	), nil
}

// info is what programs in the shoot may want to know of it.
func info(f facts.Shoot) map[string]string {
	spec := &f.Shoot.Spec
	info := map[string]string{
		"projectName":       f.Project,
		"shootName":         f.Shoot.Name,
		"provider":          spec.Provider.Type,
		"region":            spec.Region,
		"kubernetesVersion": spec.Kubernetes.Version,
		"podNetwork":        strings.Join(f.PodNetworks(), ","),
		"serviceNetwork":    strings.Join(f.ServiceNetworks(), ","),
	}
	if f.Hosts.External != "" {
		info["domain"] = *spec.DNS.Domain
	}
	if n := spec.Networking; n != nil && n.Nodes != nil {
		info["nodeNetwork"] = *n.Nodes
	}
	// A gardenlet of the cluster does not start if nodeNetwork is there and its seed has another range or none, as a seed from before has
	// that was set up without one. So what the provider has chosen has a key of its own.
	if nodes := f.NodeNetworks(); len(nodes) > 0 {
		info["nodeNetworks"] = strings.Join(nodes, ",")
	}
	if m := spec.Maintenance; m != nil && m.TimeWindow != nil {
		info["maintenanceBegin"], info["maintenanceEnd"] = m.TimeWindow.Begin, m.TimeWindow.End
	}
	return info
}

// kubeSystem only adds labels to a namespace that exists in every cluster.
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
func nodeAccess() []client.Object {
	return []client.Object{
		bind("system:node-bootstrapper", "system:node-bootstrapper", group(gardencorev1beta1.GroupBootstrappers)),
		bind("system:certificates.k8s.io:certificatesigningrequests:nodeclient", "system:certificates.k8s.io:certificatesigningrequests:nodeclient", group(gardencorev1beta1.GroupBootstrappers)),
		bind("system:certificates.k8s.io:certificatesigningrequests:selfnodeclient", "system:certificates.k8s.io:certificatesigningrequests:selfnodeclient", group("system:nodes")),
		bind("system:apiserver:kubelet", "system:kubelet-api-admin", rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: apiserver.KubeletClientUser}),
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

// readOnly lists every resource of the core group except Secrets, because a role can only allow. Custom resources are not part
// of it, because they may contain secrets.
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
