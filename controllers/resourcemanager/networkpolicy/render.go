// SPDX-License-Identifier: Apache-2.0

package networkpolicy

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/reach"
)

// way is one way to the pods of a Service, from pods with a label in one namespace.
type way struct {
	// id and ports say what is reached.
	id    string
	ports []networkingv1.NetworkPolicyPort
	// from is the namespace of the pods with the label of that key.
	from, key string
	// shortened is set if the key is.
	shortened bool
}

// ways lists the ways that a Service wants, given the other namespaces that it is open to.
func (w Wish) ways(elsewhere []string) []way {
	var found []way
	add := func(id string, ports []networkingv1.NetworkPolicyPort, part string) {
		for _, from := range append([]string{w.Service.Namespace}, elsewhere...) {
			asked := part
			if from != w.Service.Namespace {
				asked = w.Alias + "-" + part
			}
			key, shortened := reach.Key(asked)
			found = append(found, way{id: id, ports: ports, from: from, key: key, shortened: shortened})
		}
	}
	for _, port := range w.Ports {
		id := reach.ID(w.Service.Name, port)
		add(id, []networkingv1.NetworkPolicyPort{policyPort(port)}, id)
	}
	for _, alias := range slices.Sorted(maps.Keys(w.From)) {
		for _, port := range w.From[alias] {
			id := reach.ID(w.Service.Name, reach.Port{Protocol: protocolOf(port), Port: *port.Port})
			add(id+"-via-"+alias, []networkingv1.NetworkPolicyPort{port}, alias)
		}
	}
	return found
}

// policies are the two ends of a way (GRM-NP-1, GRM-NP-2). Where it begins, there is one only if all other ways are closed there.
func (w Wish) policies(way way, closed bool) []*networkingv1.NetworkPolicy {
	ingress, egress := "ingress-to-"+way.id, "egress-to-"+way.id
	from := networkingv1.NetworkPolicyPeer{PodSelector: labelled(reach.Allowed(way.key))}
	to := networkingv1.NetworkPolicyPeer{PodSelector: labelled(w.Selector)}
	if way.from != w.Service.Namespace {
		from.NamespaceSelector, to.NamespaceSelector = named(way.from), named(w.Service.Namespace)
		ingress += "-from-" + way.from
		// A Service of the same name in another namespace may be reached from there too.
		egress = "egress-to-" + w.Service.Namespace + "-" + way.id + "-from-" + way.from
	}
	made := []*networkingv1.NetworkPolicy{w.ingress(ingress, []networkingv1.NetworkPolicyPeer{from}, way.ports)}
	if closed {
		made = append(made, w.egress(client.ObjectKey{Namespace: way.from, Name: egress}, *from.PodSelector, to, way.ports))
	}
	return made
}

// world lets everyone in (GRM-NP-3).
func (w Wish) world() []*networkingv1.NetworkPolicy {
	if w.World == nil {
		return nil
	}
	return []*networkingv1.NetworkPolicy{w.ingress("ingress-to-"+w.Service.Name+"-from-world", nil, w.World)}
}

// fromController lets an ingress controller reach a port (GRM-NP-4).
func (w Wish) fromController(c Controller, port reach.Port) []*networkingv1.NetworkPolicy {
	const suffix = "-from-ingress-controller"
	id, through := reach.ID(w.Service.Name, port), []networkingv1.NetworkPolicyPort{policyPort(port)}
	from := networkingv1.NetworkPolicyPeer{NamespaceSelector: named(c.Namespace), PodSelector: labelled(c.Pods)}
	to := networkingv1.NetworkPolicyPeer{NamespaceSelector: named(w.Service.Namespace), PodSelector: labelled(w.Selector)}
	return []*networkingv1.NetworkPolicy{
		w.ingress("ingress-to-"+id+suffix, []networkingv1.NetworkPolicyPeer{from}, through),
		w.egress(client.ObjectKey{Namespace: c.Namespace, Name: "egress-to-" + w.Service.Namespace + "-" + id + suffix}, *from.PodSelector, to, through),
	}
}

// ingress lets peers, or everyone, into the pods of the Service.
func (w Wish) ingress(name string, from []networkingv1.NetworkPolicyPeer, ports []networkingv1.NetworkPolicyPort) *networkingv1.NetworkPolicy {
	return &networkingv1.NetworkPolicy{
		ObjectMeta: w.meta(client.ObjectKey{Namespace: w.Service.Namespace, Name: name}),
		Spec: networkingv1.NetworkPolicySpec{
			PodSelector: *labelled(w.Selector), PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress},
			Ingress: []networkingv1.NetworkPolicyIngressRule{{From: from, Ports: ports}},
		},
	}
}

// egress lets pods out to a peer.
func (w Wish) egress(at client.ObjectKey, pods metav1.LabelSelector, to networkingv1.NetworkPolicyPeer, ports []networkingv1.NetworkPolicyPort) *networkingv1.NetworkPolicy {
	return &networkingv1.NetworkPolicy{
		ObjectMeta: w.meta(at),
		Spec: networkingv1.NetworkPolicySpec{
			PodSelector: pods, PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeEgress},
			Egress: []networkingv1.NetworkPolicyEgressRule{{To: []networkingv1.NetworkPolicyPeer{to}, Ports: ports}},
		},
	}
}

func (w Wish) meta(key client.ObjectKey) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, Labels: ownLabels(w.Service)}
}

// ownLabels are the labels of all policies of a Service.
func ownLabels(service client.ObjectKey) map[string]string {
	return map[string]string{
		gardenresourcesv1alpha1.LabelNetworkPolicyServiceName:      service.Name,
		gardenresourcesv1alpha1.LabelNetworkPolicyServiceNamespace: service.Namespace,
	}
}

func labelled(labels map[string]string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: labels}
}

func named(namespace string) *metav1.LabelSelector {
	return labelled(map[string]string{corev1.LabelMetadataName: namespace})
}

func policyPort(port reach.Port) networkingv1.NetworkPolicyPort {
	return networkingv1.NetworkPolicyPort{Protocol: new(cmp.Or(port.Protocol, corev1.ProtocolTCP)), Port: new(port.Port)}
}
