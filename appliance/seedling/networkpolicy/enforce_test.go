// SPDX-License-Identifier: Apache-2.0

package networkpolicy_test

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	corelisters "k8s.io/client-go/listers/core/v1"
	networkinglisters "k8s.io/client-go/listers/networking/v1"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/knftables"

	"github.com/terrarium-garden/terrarium/appliance/seedling/networkpolicy"
)

var node = netip.MustParseAddr("10.98.0.1")

// address is where each pod of the test is found.
func address(pod string) netip.Addr {
	return map[string]netip.Addr{
		"node": node, "web": netip.MustParseAddr("10.98.0.11"), "client": netip.MustParseAddr("10.98.0.12"), "foreign": netip.MustParseAddr("10.98.0.13"),
	}[pod]
}

func pod(namespace, name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"app": name}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080}}}}},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning, PodIP: address(name).String()},
	}
}

func namespace(name string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"of": name}}}
}

func app(name string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}
}

func policy(name, of string, spec networkingv1.NetworkPolicySpec) *networkingv1.NetworkPolicy {
	if of != "" {
		spec.PodSelector = *app(of)
	}
	return &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "one", Name: name}, Spec: spec}
}

func allow(peers ...networkingv1.NetworkPolicyPeer) networkingv1.NetworkPolicySpec {
	return networkingv1.NetworkPolicySpec{Ingress: []networkingv1.NetworkPolicyIngressRule{{From: peers}}}
}

func allowTo(ports []networkingv1.NetworkPolicyPort, peers ...networkingv1.NetworkPolicyPeer) networkingv1.NetworkPolicySpec {
	return networkingv1.NetworkPolicySpec{
		PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeEgress},
		Egress:      []networkingv1.NetworkPolicyEgressRule{{To: peers, Ports: ports}},
	}
}

func number(from int32, to ...int32) []networkingv1.NetworkPolicyPort {
	port := networkingv1.NetworkPolicyPort{Port: new(intstr.FromInt32(from))}
	if len(to) > 0 {
		port.EndPort = &to[0]
	}
	return []networkingv1.NetworkPolicyPort{port}
}

func named(port string) []networkingv1.NetworkPolicyPort {
	return []networkingv1.NetworkPolicyPort{{Port: new(intstr.FromString(port))}}
}

func block(cidr string, except ...string) networkingv1.NetworkPolicyPeer {
	return networkingv1.NetworkPolicyPeer{IPBlock: &networkingv1.IPBlock{CIDR: cidr, Except: except}}
}

// world is a machine with its pods and what informers have seen.
type world struct {
	*machine

	policies, pods, namespaces cache.Indexer
	reconciler                 *networkpolicy.Reconciler
}

func newWorld(t *testing.T) *world {
	t.Helper()
	indexer := func() cache.Indexer {
		return cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	}
	w := &world{machine: newMachine(t), policies: indexer(), pods: indexer(), namespaces: indexer()}
	w.listen(t, 8080)
	w.listen(t, 9090)
	for name, in := range map[string]string{"web": "one", "client": "one", "foreign": "two"} {
		p := w.connectPod(t, name, address(name))
		p.listen(t, 8080)
		p.listen(t, 9090)
		_ = w.pods.Add(pod(in, name))
		_ = w.namespaces.Add(namespace(in))
	}
	w.machine.pods["node"] = w.place
	w.reconciler = &networkpolicy.Reconciler{
		Policies: networkinglisters.NewNetworkPolicyLister(w.policies), Pods: corelisters.NewPodLister(w.pods),
		Namespaces: corelisters.NewNamespaceLister(w.namespaces),
		Open:       func() (knftables.Interface, error) { return knftables.New(knftables.IPv4Family, networkpolicy.Table) },
	}
	return w
}

func (w *world) reconcile(t *testing.T) {
	t.Helper()
	var err error
	w.do(func() { err = w.reconciler.Reconcile(t.Context()) })
	if err != nil {
		t.Fatalf("Reconcile() = %v", err)
	}
}

// refused returns the connections that are refused, of all that there are.
func (w *world) refused(t *testing.T) []string {
	t.Helper()
	found := []string{}
	for from, place := range w.machine.pods {
		for _, to := range []string{"node", "web", "client", "foreign"} {
			for _, port := range []uint16{8080, 9090} {
				connected, answered := place.connect(t.Context(), address(to), port)
				text := fmt.Sprintf("%s-%s:%d", from, to, port)
				if !connected {
					found = append(found, text)
				}
				if !answered {
					t.Errorf("%s is refused without an answer", text)
				}
			}
		}
	}
	slices.Sort(found)
	return found
}

func TestEnforce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	none := networkingv1.NetworkPolicySpec{PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress}}
	var (
		toWeb  = []string{"client-web:8080", "client-web:9090", "foreign-web:8080", "foreign-web:9090"}
		ofWeb  = []string{"web-client:8080", "web-client:9090", "web-foreign:8080", "web-foreign:9090", "web-node:8080", "web-node:9090"}
		others = []string{"foreign-client:8080", "foreign-client:9090"}
	)
	without := func(all []string, allowed ...string) []string {
		return slices.DeleteFunc(slices.Clone(all), func(c string) bool { return slices.Contains(allowed, c) })
	}
	cases := []struct {
		reason   string
		policies []*networkingv1.NetworkPolicy
		refused  []string
	}{
		{"Without policies everything is allowed.", nil, nil},
		{
			"A policy without rules refuses everything but packets of the node.",
			[]*networkingv1.NetworkPolicy{policy("none", "web", none)},
			slices.Concat(toWeb, ofWeb),
		},
		{
			"Without a type it is one for ingress.",
			[]*networkingv1.NetworkPolicy{policy("none", "web", networkingv1.NetworkPolicySpec{})},
			toWeb,
		},
		{
			"An empty selector selects all pods of the namespace, and no other.",
			[]*networkingv1.NetworkPolicy{policy("none", "", networkingv1.NetworkPolicySpec{})},
			slices.Concat(toWeb, others, []string{"web-client:8080", "web-client:9090"}),
		},
		{"A rule without peers allows all.", []*networkingv1.NetworkPolicy{policy("all", "web", allow())}, nil},
		{"Pods are selected in the namespace of the policy,", []*networkingv1.NetworkPolicy{
			policy("some", "web", allow(networkingv1.NetworkPolicyPeer{PodSelector: &metav1.LabelSelector{}})),
		}, []string{"foreign-web:8080", "foreign-web:9090"}},
		{"or in others.", []*networkingv1.NetworkPolicy{policy("some", "web", allow(networkingv1.NetworkPolicyPeer{
			PodSelector: app("foreign"), NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"of": "two"}},
		}))}, []string{"client-web:8080", "client-web:9090"}},
		{"A peer that selects nobody allows nobody.", []*networkingv1.NetworkPolicy{
			policy("some", "web", allow(networkingv1.NetworkPolicyPeer{PodSelector: app("foreign")})),
		}, toWeb},
		{"Several policies allow what one of them allows.", []*networkingv1.NetworkPolicy{
			policy("none", "web", none), policy("one", "web", allow(networkingv1.NetworkPolicyPeer{PodSelector: app("client")})),
			policy("two", "web", allowTo(number(9090), networkingv1.NetworkPolicyPeer{PodSelector: app("client")})),
		}, slices.Concat([]string{"foreign-web:8080", "foreign-web:9090"}, without(ofWeb, "web-client:9090"))},
		{"Blocks of addresses have exceptions,", []*networkingv1.NetworkPolicy{
			policy("block", "web", allowTo(nil, block("10.98.0.0/24", "10.98.0.13/32"))),
		}, []string{"web-foreign:8080", "web-foreign:9090"}},
		{"and ports.", []*networkingv1.NetworkPolicy{
			policy("block", "web", allowTo(number(9000, 9100), block("0.0.0.0/0"))),
		}, without(ofWeb, "web-client:9090", "web-foreign:9090", "web-node:9090")},
		{"Ports have names, of the pods that are connected to.", []*networkingv1.NetworkPolicy{
			policy("named", "web", allowTo(named("http"), networkingv1.NetworkPolicyPeer{PodSelector: app("client")})),
		}, without(ofWeb, "web-client:8080")},
		{"In both directions.", []*networkingv1.NetworkPolicy{policy("named", "web", networkingv1.NetworkPolicySpec{
			Ingress: []networkingv1.NetworkPolicyIngressRule{{Ports: named("http")}},
		})}, []string{"client-web:9090", "foreign-web:9090"}},
		{"What the sender may send, the receiver may refuse.", []*networkingv1.NetworkPolicy{
			policy("to", "client", allowTo(nil, networkingv1.NetworkPolicyPeer{PodSelector: app("web")})), policy("none", "web", networkingv1.NetworkPolicySpec{}),
		}, slices.Concat(toWeb, []string{"client-foreign:8080", "client-foreign:9090", "client-node:8080", "client-node:9090"})},
	}
	for _, c := range cases {
		items := make([]any, 0, len(c.policies))
		for _, p := range c.policies {
			items = append(items, p)
		}
		if err := w.policies.Replace(items, ""); err != nil {
			t.Fatal(err)
		}
		w.reconcile(t)
		slices.Sort(c.refused)
		if diff := cmp.Diff(append([]string{}, c.refused...), w.refused(t)); diff != "" {
			t.Errorf("%s\nRefused connections (-want +got):\n%s", c.reason, diff)
		}
	}
}

// A Service in front of a pod brings its own connections back to it, and gives them the address of the node.
func TestEnforceOfSelf(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	service := netip.MustParseAddr("10.97.0.1")
	w.do(func() {
		run(t, "nft", "add table ip services; add chain ip services prerouting { type nat hook prerouting priority dstnat; };"+
			"add rule ip services prerouting ip daddr 10.97.0.1 dnat to 10.98.0.11;"+
			"add chain ip services postrouting { type nat hook postrouting priority srcnat; };"+
			"add rule ip services postrouting ip saddr 10.98.0.11 ip daddr 10.98.0.11 masquerade")
		run(t, "bridge", "link", "set", "dev", "vethweb", "hairpin", "on")
	})
	none := networkingv1.NetworkPolicySpec{PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress}}
	_ = w.policies.Add(policy("none", "web", none))
	w.reconcile(t)
	for from, want := range map[string]bool{"web": true, "client": false} {
		if got, _ := w.machine.pods[from].connect(t.Context(), service, 8080); got != want {
			t.Errorf("from %s through the Service: connected %t, want %t", from, got, want)
		}
	}
}

func TestReconcile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_ = w.policies.Add(policy("none", "web", networkingv1.NetworkPolicySpec{}))
	w.reconcile(t)
	refuses := func() bool {
		connected, _ := w.machine.pods["client"].connect(t.Context(), address("web"), 8080)
		return !connected
	}
	if !refuses() {
		t.Error("the policy is not enforced")
	}
	handles := func() string {
		var list string
		w.do(func() { list = run(t, "nft", "--handle", "list", "table", "ip", networkpolicy.Table) })
		return list
	}
	before := handles()
	w.reconcile(t)
	if diff := cmp.Diff(before, handles()); diff != "" {
		t.Errorf("Nothing is written if nothing has changed (-want +got):\n%s", diff)
	}
	w.do(func() { run(t, "nft", "delete", "table", "ip", networkpolicy.Table) })
	w.reconcile(t)
	if !refuses() {
		t.Error("a table that somebody has removed comes back")
	}

	ended := pod("one", "web")
	ended.Status.Phase = corev1.PodSucceeded
	_ = w.pods.Update(ended)
	w.reconcile(t)
	if refuses() {
		t.Error("the address of a pod that has ended may belong to another one")
	}
	_ = w.policies.Delete(policy("none", "web", networkingv1.NetworkPolicySpec{}))
	_ = w.pods.Update(pod("one", "web"))
	w.reconcile(t)
	if refuses() {
		t.Error("a policy ends with its object")
	}
}
