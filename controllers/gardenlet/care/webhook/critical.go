// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// critical is a kind of objects that nodes and controllers write when a shoot starts or wakes up. Labels that are nil stand for all
// objects and namespaces: no selector keeps a webhook away from them (GLET-CONSTR-4).
type critical struct {
	group     string
	versions  []string
	resource  string
	namespace map[string]string
	object    map[string]string
	global    bool
}

// name is what a person reads.
func (c critical) name() string {
	name := c.resource
	if c.group != "" {
		name += "." + c.group
	}
	if where := c.namespace[corev1.LabelMetadataName]; where != "" && !c.global {
		name += " in namespace " + where
	}
	return name
}

const (
	groupApps, groupRBAC, groupNetworking = "apps", "rbac.authorization.k8s.io", "networking.k8s.io"
	groupCoordination, groupScheduling    = "coordination.k8s.io", "scheduling.k8s.io"
	groupExtensions, groupRegistration    = "apiextensions.k8s.io", "apiregistration.k8s.io"
	groupCertificates                     = "certificates.k8s.io"

	statusOf, scaleOf, approvalOf = "/status", "/scale", "/approval"
)

// system are the labels of namespace kube-system of a shoot.
func system() map[string]string {
	return map[string]string{
		gardencorev1beta1.LabelPurpose: metav1.NamespaceSystem, gardencorev1beta1.LabelShootNoCleanup: "true", corev1.LabelMetadataName: metav1.NamespaceSystem,
	}
}

// own are the labels of pods of the shoot itself.
func own() map[string]string {
	return map[string]string{gardencorev1beta1.LabelShootNoCleanup: "true", originLabel: originGardener}
}

// resources returns a kind with its subresources.
func resources(c critical, subresources ...string) []critical {
	all := []critical{c}
	for _, sub := range subresources {
		part := c
		part.resource += sub
		all = append(all, part)
	}
	return all
}

// leases are those of nodes and controllers, which are renewed every few seconds.
func leases(namespace map[string]string) critical {
	return critical{group: groupCoordination, versions: []string{"v1", "v1beta1"}, resource: "leases", namespace: namespace}
}

// criticals are all critical kinds.
func criticals() []critical {
	v1 := []string{"v1"}
	in := func(group, resource string, subresources ...string) []critical {
		return resources(critical{group: group, versions: v1, resource: resource, namespace: system()}, subresources...)
	}
	global := func(group, resource string, subresources ...string) []critical {
		return resources(critical{group: group, versions: v1, resource: resource, global: true}, subresources...)
	}
	everyday := map[string]string{corev1.LabelMetadataName: metav1.NamespaceDefault}
	return slices.Concat(
		resources(critical{versions: v1, resource: "pods", namespace: system(), object: own()}, statusOf),
		in("", "configmaps"), in("", "secrets"), in("", "serviceaccounts"), in("", "services", statusOf), in("", "endpoints"),
		in(groupApps, "daemonsets", statusOf), in(groupApps, "deployments", statusOf, scaleOf), in(groupApps, "replicasets", statusOf, scaleOf),
		in(groupApps, "controllerrevisions"), in(groupNetworking, "networkpolicies"), in(groupRBAC, "roles"), in(groupRBAC, "rolebindings"),
		[]critical{{versions: v1, resource: "endpoints", namespace: everyday}},
		resources(critical{versions: v1, resource: "services", namespace: everyday}, statusOf),
		[]critical{leases(nil)},
		global("", "nodes", statusOf),
		resources(critical{versions: v1, resource: "namespaces", namespace: system(), object: system(), global: true}, statusOf),
		global(groupRBAC, "clusterroles"), global(groupRBAC, "clusterrolebindings"),
		global(groupExtensions, "customresourcedefinitions", statusOf), global(groupRegistration, "apiservices", statusOf),
		global(groupCertificates, "certificatesigningrequests", statusOf, approvalOf), global(groupScheduling, "priorityclasses"),
	)
}

// matches reports whether a webhook is called when such an object is created or changed.
func (c critical) matches(h hook) bool {
	return slices.ContainsFunc(h.rules, c.ruled) && selects(h.objects, c.object) && selects(h.namespaces, c.namespace)
}

// ruled reports whether a rule is about creating or changing such objects.
func (c critical) ruled(rule admissionregistrationv1.RuleWithOperations) bool {
	writes := slices.ContainsFunc(rule.Operations, func(op admissionregistrationv1.OperationType) bool {
		return op == admissionregistrationv1.OperationAll || op == admissionregistrationv1.Create || op == admissionregistrationv1.Update
	})
	return writes && c.scoped(rule.Scope) && listed(rule.APIGroups, c.group) &&
		slices.ContainsFunc(c.versions, func(version string) bool { return listed(rule.APIVersions, version) }) &&
		slices.ContainsFunc(rule.Resources, c.named)
}

func (c critical) scoped(scope *admissionregistrationv1.ScopeType) bool {
	switch {
	case scope == nil, *scope == admissionregistrationv1.AllScopes:
		return true
	default:
		return (*scope == admissionregistrationv1.ClusterScope) == c.global
	}
}

// named reports whether a resource in a rule means this one. A star alone does not mean subresources.
func (c critical) named(resource string) bool {
	name, sub, _ := strings.Cut(c.resource, "/")
	wantedName, wantedSub, deeper := strings.Cut(resource, "/")
	if wantedName != anything && wantedName != name {
		return false
	}
	if resource == anything+"/"+anything {
		return true
	}
	if !deeper {
		return sub == ""
	}
	return sub != "" && (wantedSub == anything || wantedSub == sub)
}

const anything = "*"

func listed(list []string, value string) bool {
	return slices.Contains(list, anything) || slices.Contains(list, value)
}

// selects reports whether a selector lets objects with these labels through. One that cannot be read counts as if there were none.
func selects(by *metav1.LabelSelector, given map[string]string) bool {
	if by == nil || given == nil {
		return true
	}
	selector, err := metav1.LabelSelectorAsSelector(by)
	return err != nil || selector.Matches(labels.Set(given))
}
