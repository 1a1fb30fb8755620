// SPDX-License-Identifier: Apache-2.0

package networkpolicy_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/reach"
	"github.com/terrarium-garden/terrarium/controllers/resourcemanager/networkpolicy"
)

// stage is a cluster with the controller of network policies.
type stage struct {
	client.Client
	*networkpolicy.Reconciler

	t      *testing.T
	events *events.FakeRecorder
}

// newStage has the namespaces garden, shoot--a and shoot--b, where traffic is denied, and default, where it is not.
func newStage(t *testing.T, objects ...client.Object) *stage {
	t.Helper()
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	for name, role := range map[string]string{"garden": "garden", "shoot--a": "shoot", "shoot--b": "shoot", "default": ""} {
		objects = append(objects, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
			Name: name, Labels: map[string]string{"kubernetes.io/metadata.name": name, "gardener.cloud/role": role},
		}})
	}
	denied, err := reach.SeedNamespaces()
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{t: t, events: events.NewFakeRecorder(20)}
	s.Client = fake.NewClientBuilder().WithScheme(types).WithObjects(objects...).Build()
	s.Reconciler = &networkpolicy.Reconciler{
		Base: kit.Base{Client: s.Client, Reader: s.Client, Recorder: s.events, Clock: clock.RealClock{}}, Seed: s.Client, Namespaces: denied,
		Ingress: networkpolicy.Controller{Namespace: "garden", Pods: map[string]string{"app": "nginx"}},
	}
	return s
}

// serve has the controller look at a Service, and returns all policies of the cluster.
func (s *stage) serve(namespace, name string) []string {
	s.t.Helper()
	if _, err := s.try(namespace, name); err != nil {
		s.t.Fatal(err)
	}
	return s.policies()
}

func (s *stage) try(namespace, name string) (reconcile.Result, error) {
	return s.Reconcile(s.t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Namespace: namespace, Name: name}})
}

// told are the events that were recorded.
func (s *stage) told() string {
	var all []string
	for len(s.events.Events) > 0 {
		all = append(all, <-s.events.Events)
	}
	return strings.Join(all, "\n")
}

func (s *stage) policies() []string {
	s.t.Helper()
	list := &networkingv1.NetworkPolicyList{}
	if err := s.List(s.t.Context(), list); err != nil {
		s.t.Fatal(err)
	}
	var texts []string
	for i := range list.Items {
		texts = append(texts, describe(&list.Items[i]))
	}
	slices.Sort(texts)
	return texts
}

// describe says in one line what a policy allows.
func describe(p *networkingv1.NetworkPolicy) string {
	text := fmt.Sprintf("%s/%s: {%s}", p.Namespace, p.Name, pairs(p.Spec.PodSelector.MatchLabels))
	for _, rule := range p.Spec.Ingress {
		text += " <-" + peers(rule.From) + " " + ports(rule.Ports)
	}
	for _, rule := range p.Spec.Egress {
		text += " ->" + peers(rule.To) + " " + ports(rule.Ports)
	}
	return text
}

func peers(all []networkingv1.NetworkPolicyPeer) string {
	text := ""
	for _, peer := range all {
		if peer.NamespaceSelector != nil {
			text += " " + peer.NamespaceSelector.MatchLabels["kubernetes.io/metadata.name"]
		}
		text += " {" + pairs(peer.PodSelector.MatchLabels) + "}"
	}
	return text
}

func ports(all []networkingv1.NetworkPolicyPort) string {
	texts := make([]string, 0, len(all))
	for _, port := range all {
		texts = append(texts, fmt.Sprintf("%s:%s", *port.Protocol, port.Port.String()))
	}
	return "[" + strings.Join(texts, " ") + "]"
}

func pairs(of map[string]string) string {
	texts := make([]string, 0, len(of))
	for _, key := range slices.Sorted(maps.Keys(of)) {
		texts = append(texts, strings.TrimPrefix(key, "networking.resources.gardener.cloud/")+"="+of[key])
	}
	return strings.Join(texts, ",")
}

// service is a Service of the namespace shoot--a with pods of its name; its annotations have a short form of their keys.
func service(name string, annotations map[string]string, ports ...corev1.ServicePort) *corev1.Service {
	s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "shoot--a", Name: name, Annotations: map[string]string{}}}
	for key, value := range annotations {
		s.Annotations["networking.resources.gardener.cloud/"+key] = value
	}
	s.Spec.Selector, s.Spec.Ports = map[string]string{"app": name}, ports
	return s
}

func tcp(port int32, target intstr.IntOrString) corev1.ServicePort {
	return corev1.ServicePort{Protocol: corev1.ProtocolTCP, Port: port, TargetPort: target}
}

// pod has labels for what it reaches; their keys have a short form.
func pod(namespace, name string, to ...string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"app": name}}}
	for _, way := range to {
		p.Labels["networking.resources.gardener.cloud/to-"+way] = "allowed"
	}
	return p
}
