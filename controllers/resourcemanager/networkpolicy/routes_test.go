// SPDX-License-Identifier: Apache-2.0

package networkpolicy_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/terrarium-garden/terrarium/controllers/resourcemanager/networkpolicy"
)

func ingress(to ...networkingv1.IngressServiceBackend) *networkingv1.Ingress {
	i := &networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{Namespace: "shoot--a", Name: "web"}}
	rule := networkingv1.IngressRule{}
	rule.HTTP = &networkingv1.HTTPIngressRuleValue{}
	for n := range to {
		rule.HTTP.Paths = append(rule.HTTP.Paths, networkingv1.HTTPIngressPath{Backend: networkingv1.IngressBackend{Service: &to[n]}})
	}
	i.Spec.Rules = []networkingv1.IngressRule{rule, {}}
	return i
}

func virtualService(namespace, protocol, host string, port int64) *unstructured.Unstructured {
	to := map[string]any{"host": host}
	if port != 0 {
		to["port"] = map[string]any{"number": port}
	}
	v := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		protocol: []any{map[string]any{"route": []any{map[string]any{"destination": to}}}},
	}}}
	v.SetGroupVersionKind(networkpolicy.VirtualServiceKind())
	v.SetNamespace(namespace)
	v.SetName("web")
	return v
}

func TestBackends_GRM_NP_4(t *testing.T) {
	t.Parallel()
	numbered := networkingv1.IngressServiceBackend{Name: "web", Port: networkingv1.ServiceBackendPort{Number: 80}}
	named := networkingv1.IngressServiceBackend{Name: "web", Port: networkingv1.ServiceBackendPort{Name: "admin"}}
	first := []string{
		"garden/egress-to-shoot--a-web-tcp-8080-from-ingress-controller: {app=nginx} -> shoot--a {app=web} [TCP:8080]",
		"shoot--a/ingress-to-web-tcp-8080-from-ingress-controller: {app=web} <- garden {app=nginx} [TCP:8080]",
	}
	second := []string{
		"garden/egress-to-shoot--a-web-tcp-9090-from-ingress-controller: {app=nginx} -> shoot--a {app=web} [TCP:9090]",
		"shoot--a/ingress-to-web-tcp-9090-from-ingress-controller: {app=web} <- garden {app=nginx} [TCP:9090]",
	}
	cases := map[string]struct {
		reason string
		route  client.Object
		want   []string
	}{
		"Number": {reason: "a port by its number in the Service", route: ingress(numbered), want: first},
		"Name":   {reason: "a port by its name in the Service", route: ingress(named), want: second},
		"Other":  {reason: "another Service", route: ingress(networkingv1.IngressServiceBackend{Name: "other", Port: numbered.Port})},
		"Default": {reason: "what is asked when no rule matches", want: first, route: func() client.Object {
			i := ingress()
			i.Spec.DefaultBackend = &networkingv1.IngressBackend{Service: &numbered}
			return i
		}()},
		"Virtual":     {reason: "a VirtualService of the same namespace", route: virtualService("shoot--a", "http", "web", 80), want: first},
		"VirtualFar":  {reason: "one of another namespace", route: virtualService("garden", "tls", "web.shoot--a.svc.cluster.local", 81), want: second},
		"VirtualNear": {reason: "one that means a Service beside itself", route: virtualService("garden", "tcp", "web", 80)},
		"VirtualOut":  {reason: "one that leads out of the cluster", route: virtualService("garden", "tcp", "web.shoot--a.example.org", 80)},
		"VirtualAll": {
			reason: "one without a port", route: virtualService("garden", "tcp", "web.shoot--a.svc", 0),
			want: []string{first[0], second[0], first[1], second[1]},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			web := service("web", nil, tcp(80, intstr.FromInt32(8080)), tcp(81, intstr.FromInt32(9090)))
			web.Spec.Ports[0].Name, web.Spec.Ports[1].Name = "http", "admin"
			s := newStage(t, web, tc.route)
			s.WithIstio()
			if diff := cmp.Diff(tc.want, s.serve("shoot--a", "web")); diff != "" {
				t.Errorf("%s\npolicies (-want +got):\n%s", tc.reason, diff)
			}
			leads := false
			for _, request := range networkpolicy.Led(t.Context(), tc.route) {
				leads = leads || request.NamespacedName == client.ObjectKeyFromObject(web)
			}
			if leads != (tc.want != nil) {
				t.Errorf("%s\na change of the route starts a run of the Service: %t", tc.reason, leads)
			}
		})
	}
}

// TestCauses says which changes of others start a run of which Services.
func TestCauses(t *testing.T) {
	t.Parallel()
	port := tcp(80, intstr.FromInt32(8080))
	s := newStage(t, service("near", nil, port), service("far", map[string]string{"namespace-selectors": "[{}]", "pod-label-selector-namespace-alias": "all"}, port))
	near, far := reconcile.Request{NamespacedName: client.ObjectKey{Namespace: "shoot--a", Name: "near"}}, reconcile.Request{NamespacedName: client.ObjectKey{Namespace: "shoot--a", Name: "far"}}
	namespace := func(name string) *corev1.Namespace {
		return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	}
	for reason, tc := range map[string]struct{ got, want []reconcile.Request }{
		"a pod beside the Service":        {s.WantedBy(t.Context(), pod("shoot--a", "p", "near-tcp-8080")), []reconcile.Request{near}},
		"one elsewhere, by the alias":     {s.WantedBy(t.Context(), pod("garden", "p", "all-far-tcp-8080", "shoot--a-near-tcp-8080")), []reconcile.Request{far}},
		"one with a label for another":    {s.WantedBy(t.Context(), pod("shoot--a", "p", "other-tcp-8080")), nil},
		"the namespace of Services":       {s.Within(t.Context(), namespace("shoot--a")), []reconcile.Request{far, near}},
		"a namespace that others open to": {s.Within(t.Context(), namespace("new")), []reconcile.Request{far}},
	} {
		if diff := cmp.Diff(tc.want, tc.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", reason, diff)
		}
	}
	policy := &networkingv1.NetworkPolicy{}
	if got := networkpolicy.Owner(t.Context(), policy); got != nil {
		t.Errorf("a policy of somebody else starts %v", got)
	}
	bare, user := pod("shoot--a", "p"), pod("shoot--a", "p", "near-tcp-8080")
	asking := networkpolicy.Asking()
	if asking.Create(event.CreateEvent{Object: bare}) || !asking.Create(event.CreateEvent{Object: user}) || !asking.Delete(event.DeleteEvent{Object: user}) ||
		asking.Update(event.UpdateEvent{ObjectOld: user, ObjectNew: user}) || !asking.Update(event.UpdateEvent{ObjectOld: user, ObjectNew: bare}) {
		t.Error("only pods with labels for Services start a run, and only when these change")
	}
	moved := namespace("n")
	moved.Labels = map[string]string{"a": "b"}
	relabelled := networkpolicy.Relabelled()
	if relabelled.Update(event.UpdateEvent{ObjectOld: moved, ObjectNew: moved}) || !relabelled.Update(event.UpdateEvent{ObjectOld: moved, ObjectNew: namespace("n")}) {
		t.Error("a namespace starts a run when its labels change")
	}
}
