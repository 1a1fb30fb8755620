// SPDX-License-Identifier: Apache-2.0

package networkpolicy_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	gardenoperatorv1alpha1 "github.com/terrarium-garden/terrarium/apis/operator/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/networkpolicy"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/reach"
)

// stage is a seed and its garden in one.
type stage struct {
	client.Client

	t          *testing.T
	reconciler *networkpolicy.Reconciler
}

func newStage(t *testing.T, objects ...client.Object) *stage {
	t.Helper()
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	denied, err := reach.SeedNamespaces()
	if err != nil {
		t.Fatal(err)
	}
	seed := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "north"}}
	seed.Spec.Networks = gardencorev1beta1.SeedNetworks{Pods: "10.98.0.0/16", Services: "10.97.0.0/16", Nodes: new("10.96.0.0/16"), BlockCIDRs: []string{"169.254.169.254/32"}}
	s := &stage{t: t, Client: fake.NewClientBuilder().WithScheme(types).WithObjects(append(objects, seed)...).Build()}
	s.reconciler = &networkpolicy.Reconciler{
		SeedBase: kit.SeedBase{GardenClient: s.Client, SeedClient: s.Client, Clock: clock.RealClock{}, SeedName: "north"}, Namespaces: denied,
	}
	return s
}

func (s *stage) reconcile(namespace string) {
	s.t.Helper()
	if _, err := s.reconciler.Reconcile(s.t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Name: namespace}}); err != nil {
		s.t.Fatal(err)
	}
}

// names are the policies of a namespace.
func (s *stage) names(namespace string) []string {
	s.t.Helper()
	list := &networkingv1.NetworkPolicyList{}
	if err := s.List(s.t.Context(), list, client.InNamespace(namespace)); err != nil {
		s.t.Fatal(err)
	}
	var found []string
	for i := range list.Items {
		found = append(found, list.Items[i].Name)
	}
	slices.Sort(found)
	return found
}

func (s *stage) policy(name string) *networkingv1.NetworkPolicy {
	s.t.Helper()
	found := &networkingv1.NetworkPolicy{}
	if err := s.Get(s.t.Context(), client.ObjectKey{Namespace: "shoot--dev--a", Name: name}, found); err != nil {
		s.t.Fatal(err)
	}
	return found
}

func namespace(name, role string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"kubernetes.io/metadata.name": name, "gardener.cloud/role": role}}}
}

// general are the policies of every namespace.
func general() []string {
	return []string{
		"allow-to-blocked-cidrs", "allow-to-dns", "allow-to-private-networks", "allow-to-public-networks", "allow-to-runtime-apiserver", "deny-all",
	}
}

// TestNamespaces_GLET_NP_1 gives each namespace what it needs, and takes it away where traffic is no longer denied.
func TestNamespaces_GLET_NP_1(t *testing.T) {
	t.Parallel()
	home := namespace("shoot--dev--a", "shoot")
	foreign := &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: home.Name, Name: "allow-machines"}}
	squatter := &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: home.Name, Name: "deny-all"}}
	squatter.Spec.Ingress = []networkingv1.NetworkPolicyIngressRule{{}}
	s := newStage(t, home, foreign, squatter, namespace("garden", ""), namespace("extension-local", "extension"), namespace("default", ""))
	ofShoot := append(general()[:2:2], append([]string{"allow-machines"}, general()[2:]...)...)
	ofShoot = slices.Insert(ofShoot, len(ofShoot)-1, "allow-to-shoot-networks")
	slices.Sort(ofShoot)
	for name, want := range map[string][]string{home.Name: ofShoot, "garden": general(), "extension-local": general(), "default": nil, "gone": nil} {
		s.reconcile(name)
		if diff := cmp.Diff(want, s.names(name)); diff != "" {
			t.Errorf("policies of namespace %q (-want +got):\n%s", name, diff)
		}
	}
	if got := s.policy("deny-all").Spec; len(got.Ingress) > 0 || len(got.PolicyTypes) != 2 {
		t.Errorf("a policy that somebody made before still opens: %+v", got)
	}
	home.Labels["gardener.cloud/role"] = "retired"
	if err := s.Update(t.Context(), home); err != nil {
		t.Fatal(err)
	}
	s.reconcile(home.Name)
	if diff := cmp.Diff([]string{"allow-machines"}, s.names(home.Name)); diff != "" {
		t.Errorf("policies after the role changed (-want +got):\n%s", diff)
	}
}

// TestAddresses_GLET_NP_1 follows the address of the API server and sets right what somebody opened.
func TestAddresses_GLET_NP_1(t *testing.T) {
	t.Parallel()
	server := slice("default", "kubernetes", 6443, "10.96.0.1")
	s := newStage(t, namespace("shoot--dev--a", "shoot"), server, slice("kube-system", "kube-dns", 53, "10.96.0.2"), slice("default", "other", 80, "10.96.0.3"))
	s.reconcile("shoot--dev--a")
	to := func() string {
		rule := s.policy("allow-to-runtime-apiserver").Spec.Egress[0]
		return rule.To[0].IPBlock.CIDR + ":" + rule.Ports[0].Port.String()
	}
	if got := to(); got != "10.96.0.1/32:6443" {
		t.Errorf("the API server is at %s", got)
	}
	server.Endpoints[0].Addresses = []string{"10.96.0.9"}
	opened := s.policy("deny-all")
	opened.Spec.Egress = []networkingv1.NetworkPolicyEgressRule{{}}
	for _, changed := range []client.Object{server, opened} {
		if err := s.Update(t.Context(), changed); err != nil {
			t.Fatal(err)
		}
	}
	before := s.policy("allow-to-dns").ResourceVersion
	s.reconcile("shoot--dev--a")
	if got := to(); got != "10.96.0.9/32:6443" {
		t.Errorf("after it moved, the API server is at %s", got)
	}
	if got := s.policy("deny-all").Spec.Egress; len(got) > 0 {
		t.Errorf("what somebody opened is still open: %+v", got)
	}
	if after := s.policy("allow-to-dns").ResourceVersion; after != before {
		t.Errorf("a policy that is as it should be was written: %s became %s", before, after)
	}
}

// TestShoot_GLET_NP_3 takes the networks of a shoot from its Cluster, whose status may know more than the spec.
func TestShoot_GLET_NP_3(t *testing.T) {
	t.Parallel()
	cluster := &gardenextensionsv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "shoot--dev--a"}}
	cluster.Spec.Shoot = runtime.RawExtension{Raw: []byte(`{"spec":{"networking":{"pods":"10.1.0.0/16","nodes":"10.2.0.0/16"}},"status":{"networking":{"nodes":["10.98.0.0/16"],"services":["10.3.0.0/16"]}}}`)}
	s := newStage(t, namespace("shoot--dev--a", "shoot"), cluster)
	s.reconcile("shoot--dev--a")
	var got []string
	for _, peer := range s.policy("allow-to-shoot-networks").Spec.Egress[0].To {
		got = append(got, peer.IPBlock.CIDR)
	}
	if diff := cmp.Diff([]string{"10.1.0.0/16", "10.2.0.0/16", "10.3.0.0/16"}, got); diff != "" {
		t.Errorf("networks of the shoot (-want +got):\n%s", diff)
	}
	private := s.policy("allow-to-private-networks").Spec.Egress[0].To[0].IPBlock
	want := []string{"10.1.0.0/16", "10.2.0.0/16", "10.3.0.0/16", "10.96.0.0/16", "10.97.0.0/16", "10.98.0.0/16"}
	if diff := cmp.Diff(want, private.Except); diff != "" {
		t.Errorf("what %s leaves out (-want +got):\n%s", private.CIDR, diff)
	}
}

func TestOperator_GLET_NP_4(t *testing.T) {
	t.Parallel()
	config := &gardenconfigv1alpha1.NetworkPolicyControllerConfiguration{AdditionalNamespaceSelectors: []metav1.LabelSelector{{MatchLabels: map[string]string{"a": "b"}}}}
	s := newStage(t)
	denied, err := networkpolicy.Namespaces(t.Context(), s, config)
	if err != nil || !denied.Have(map[string]string{"a": "b"}) || !denied.Have(map[string]string{"gardener.cloud/role": "shoot"}) {
		t.Errorf("a seed of its own: got %v, %v", denied, err)
	}
	if err := s.Create(t.Context(), &gardenoperatorv1alpha1.Garden{ObjectMeta: metav1.ObjectMeta{Name: "garden"}}); err != nil {
		t.Fatal(err)
	}
	if denied, err = networkpolicy.Namespaces(t.Context(), s, config); err != nil || len(denied) > 0 {
		t.Errorf("the cluster of a garden: got %v, %v", denied, err)
	}
	// Nothing is registered: that would fail without a manager.
	if err := (&networkpolicy.Reconciler{Namespaces: denied}).AddToManager(kit.Clusters{}); err != nil {
		t.Error(err)
	}
}

// TestCauses says which changes in the seed start a pass.
func TestCauses(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	shoot, other := namespace("shoot--dev--a", "shoot"), namespace("other", "")
	concerned := s.reconciler.Concerned()
	if !concerned.Update(event.UpdateEvent{ObjectOld: shoot, ObjectNew: namespace("shoot--dev--a", "")}) || concerned.Update(event.UpdateEvent{ObjectOld: shoot, ObjectNew: shoot}) ||
		concerned.Update(event.UpdateEvent{ObjectOld: other, ObjectNew: namespace("other", "x")}) || !concerned.Create(event.CreateEvent{Object: other}) {
		t.Error("a namespace that is, or was, one in which traffic is denied starts a pass when its labels change")
	}
	for _, tc := range []struct {
		slice *discoveryv1.EndpointSlice
		want  bool
	}{
		{slice("default", "kubernetes", 1), true}, {slice("kube-system", "kube-dns", 1), true}, {slice("default", "kube-dns", 1), false}, {slice("default", "x", 1), false},
	} {
		if got := networkpolicy.OfServers().Create(event.CreateEvent{Object: tc.slice}); got != tc.want {
			t.Errorf("endpoints of %s/%s start a pass: %t, want %t", tc.slice.Namespace, tc.slice.Name, got, tc.want)
		}
	}
	own := &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "shoot--dev--a", Labels: map[string]string{"resources.gardener.cloud/managed-by": "gardenlet"}}}
	if got := networkpolicy.Home(t.Context(), own); len(got) != 1 || got[0].Name != "shoot--dev--a" {
		t.Errorf("a general policy starts %v", got)
	}
	if got := networkpolicy.Home(t.Context(), &networkingv1.NetworkPolicy{}); got != nil {
		t.Errorf("a policy of somebody else starts %v", got)
	}
}
