// SPDX-License-Identifier: Apache-2.0

package networkpolicy_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestPolicies(t *testing.T) {
	t.Parallel()
	web := intstr.FromInt32(8080)
	gardenOnly := `[{"matchLabels":{"kubernetes.io/metadata.name":"garden"}},{"matchLabels":{"no":"such"}}]`
	cases := map[string]struct {
		reason  string
		service *corev1.Service
		pods    []client.Object
		want    []string
	}{
		"Port": {
			reason:  "GRM-NP-1: both ends of the way of a label, by the port of the pods and not that of the Service",
			service: service("web", nil, tcp(80, web)), pods: []client.Object{pod("shoot--a", "user", "web-tcp-8080", "web-tcp-80")},
			want: []string{
				"shoot--a/egress-to-web-tcp-8080: {to-web-tcp-8080=allowed} -> {app=web} [TCP:8080]",
				"shoot--a/ingress-to-web-tcp-8080: {app=web} <- {to-web-tcp-8080=allowed} [TCP:8080]",
			},
		},
		"Ports": {
			reason: "GRM-NP-1: ports that are named or left out, and one behind two ports",
			service: service("web", nil, tcp(53, intstr.IntOrString{}), tcp(80, intstr.FromString("http")), tcp(81, intstr.FromString("http")),
				corev1.ServicePort{Protocol: corev1.ProtocolUDP, Port: 53, TargetPort: intstr.FromInt32(53)}),
			pods: []client.Object{pod("shoot--a", "user", "web-tcp-53", "web-tcp-http", "web-udp-53")},
			want: []string{
				"shoot--a/egress-to-web-tcp-53: {to-web-tcp-53=allowed} -> {app=web} [TCP:53]",
				"shoot--a/egress-to-web-tcp-http: {to-web-tcp-http=allowed} -> {app=web} [TCP:http]",
				"shoot--a/egress-to-web-udp-53: {to-web-udp-53=allowed} -> {app=web} [UDP:53]",
				"shoot--a/ingress-to-web-tcp-53: {app=web} <- {to-web-tcp-53=allowed} [TCP:53]",
				"shoot--a/ingress-to-web-tcp-http: {app=web} <- {to-web-tcp-http=allowed} [TCP:http]",
				"shoot--a/ingress-to-web-udp-53: {app=web} <- {to-web-udp-53=allowed} [UDP:53]",
			},
		},
		"Nobody": {reason: "GRM-NP-1: no policies without pods that need them", service: service("web", nil, tcp(80, web)), pods: []client.Object{
			pod("shoot--b", "stranger", "web-tcp-8080", "shoot--a-web-tcp-8080"),
		}},
		"NoPods": {
			reason: "a Service without a selector has no pods", pods: []client.Object{pod("shoot--a", "user", "web-tcp-8080")},
			service: func() *corev1.Service { s := service("web", nil, tcp(80, web)); s.Spec.Selector = nil; return s }(),
		},
		"Open": {
			reason:  "where nothing is denied, a policy would close what is open",
			service: func() *corev1.Service { s := service("web", nil, tcp(80, web)); s.Namespace = "default"; return s }(),
			pods:    []client.Object{pod("default", "user", "web-tcp-8080")},
		},
		"Elsewhere": {
			reason:  "GRM-NP-2: from another namespace by a label with the namespace of the Service, and not from one that is not selected",
			service: service("web", map[string]string{"namespace-selectors": gardenOnly}, tcp(80, web)),
			pods:    []client.Object{pod("garden", "user", "shoot--a-web-tcp-8080"), pod("shoot--b", "stranger", "shoot--a-web-tcp-8080")},
			want: []string{
				"garden/egress-to-shoot--a-web-tcp-8080-from-garden: {to-shoot--a-web-tcp-8080=allowed} -> shoot--a {app=web} [TCP:8080]",
				"shoot--a/ingress-to-web-tcp-8080-from-garden: {app=web} <- garden {to-shoot--a-web-tcp-8080=allowed} [TCP:8080]",
			},
		},
		"Alias": {
			reason:  "GRM-NP-2: an alias takes the place of the namespace; no policy closes the namespace where the way begins",
			service: service("web", map[string]string{"namespace-selectors": `[{}]`, "pod-label-selector-namespace-alias": "all-shoots"}, tcp(80, web)),
			pods:    []client.Object{pod("default", "user", "all-shoots-web-tcp-8080"), pod("shoot--b", "stranger", "shoot--a-web-tcp-8080")},
			want: []string{
				"shoot--a/ingress-to-web-tcp-8080-from-default: {app=web} <- default {to-all-shoots-web-tcp-8080=allowed} [TCP:8080]",
			},
		},
		"Scraped": {
			reason: "GRM-NP-3: ports that need not be those of the Service, for the pods of an alias, here and elsewhere",
			service: service("web", map[string]string{
				"from-all-scrape-targets-allowed-ports": `[{"port":9090},{"protocol":"UDP","port":"stats"}]`, "namespace-selectors": gardenOnly,
			}, tcp(80, web)),
			pods: []client.Object{pod("shoot--a", "scraper", "all-scrape-targets"), pod("garden", "scraper", "shoot--a-all-scrape-targets")},
			want: []string{
				"garden/egress-to-shoot--a-web-tcp-9090-via-all-scrape-targets-from-garden: {to-shoot--a-all-scrape-targets=allowed} -> shoot--a {app=web} [TCP:9090]",
				"garden/egress-to-shoot--a-web-udp-stats-via-all-scrape-targets-from-garden: {to-shoot--a-all-scrape-targets=allowed} -> shoot--a {app=web} [UDP:stats]",
				"shoot--a/egress-to-web-tcp-9090-via-all-scrape-targets: {to-all-scrape-targets=allowed} -> {app=web} [TCP:9090]",
				"shoot--a/egress-to-web-udp-stats-via-all-scrape-targets: {to-all-scrape-targets=allowed} -> {app=web} [UDP:stats]",
				"shoot--a/ingress-to-web-tcp-9090-via-all-scrape-targets-from-garden: {app=web} <- garden {to-shoot--a-all-scrape-targets=allowed} [TCP:9090]",
				"shoot--a/ingress-to-web-tcp-9090-via-all-scrape-targets: {app=web} <- {to-all-scrape-targets=allowed} [TCP:9090]",
				"shoot--a/ingress-to-web-udp-stats-via-all-scrape-targets-from-garden: {app=web} <- garden {to-shoot--a-all-scrape-targets=allowed} [UDP:stats]",
				"shoot--a/ingress-to-web-udp-stats-via-all-scrape-targets: {app=web} <- {to-all-scrape-targets=allowed} [UDP:stats]",
			},
		},
		"World": {
			reason: "GRM-NP-3: ports that are open to everyone", service: service("web", map[string]string{"from-world-to-ports": `[{"port":8080}]`}, tcp(80, web)),
			want: []string{"shoot--a/ingress-to-web-from-world: {app=web} <- [TCP:8080]"},
		},
		"WholeWorld": {
			reason: "GRM-NP-3: an empty list opens all ports", service: service("web", map[string]string{"from-world-to-ports": `[]`}, tcp(80, web)),
			want: []string{"shoot--a/ingress-to-web-from-world: {app=web} <- []"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, append(tc.pods, tc.service)...)
			if diff := cmp.Diff(tc.want, s.serve(tc.service.Namespace, tc.service.Name)); diff != "" {
				t.Errorf("%s\npolicies (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestLongLabels_GRM_NP_4 shortens the label of a Service, tells which one it is, and opens the way of that label.
func TestLongLabels_GRM_NP_4(t *testing.T) {
	t.Parallel()
	name := strings.Repeat("a", 60)
	const label = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-"
	s := newStage(t, service(name, nil, tcp(80, intstr.FromInt32(8080)), tcp(81, intstr.FromInt32(8081))))
	s.serve("shoot--a", name)
	if told := s.told(); told != "" {
		t.Errorf("nobody needs the label, but there was %q", told)
	}
	full := "to-" + name + "-tcp-8080"
	if len(full) <= 63 {
		t.Fatalf("%q is not too long", full)
	}
	user := pod("shoot--a", "user")
	user.Labels["networking.resources.gardener.cloud/to-"+label+"f08c5501"] = "allowed"
	if err := s.Create(t.Context(), user); err != nil {
		t.Fatal(err)
	}
	got := s.serve("shoot--a", name)
	if len(got) != 2 || !strings.HasPrefix(got[0], "shoot--a/egress-to-"+name+"-tcp-8080: {to-"+label+"f08c5501=allowed}") {
		t.Errorf("policies: %q", got)
	}
	if told := s.told(); !strings.Contains(told, "NetworkPolicyLabelShortened") || !strings.Contains(told, label) {
		t.Errorf("the event says %q", told)
	}
}

// TestOnlyWhatIsWanted_GRM_NP_4 follows the policies of a Service until it is gone.
func TestOnlyWhatIsWanted_GRM_NP_4(t *testing.T) {
	t.Parallel()
	web, user := service("web", nil, tcp(80, intstr.FromInt32(8080))), pod("shoot--a", "user", "web-tcp-8080", "web-tcp-9090")
	foreign := &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "shoot--a", Name: "somebody's"}}
	s := newStage(t, web, user, foreign)
	step := func(reason string, want ...string) {
		t.Helper()
		if diff := cmp.Diff(append(want, "shoot--a/somebody's: {}"), s.serve("shoot--a", "web")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", reason, diff)
		}
	}
	policies := func(port string) []string {
		return []string{
			"shoot--a/egress-to-web-tcp-" + port + ": {to-web-tcp-" + port + "=allowed} -> {app=web} [TCP:" + port + "]",
			"shoot--a/ingress-to-web-tcp-" + port + ": {app=web} <- {to-web-tcp-" + port + "=allowed} [TCP:" + port + "]",
		}
	}
	step("at first", policies("8080")...)
	made := &networkingv1.NetworkPolicy{}
	if err := s.Get(t.Context(), client.ObjectKey{Namespace: "shoot--a", Name: "egress-to-web-tcp-8080"}, made); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"networking.resources.gardener.cloud/service-name": "web", "networking.resources.gardener.cloud/service-namespace": "shoot--a"}
	if diff := cmp.Diff(want, made.Labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	made.Spec.Egress = []networkingv1.NetworkPolicyEgressRule{{}}
	if err := s.Update(t.Context(), made); err != nil {
		t.Fatal(err)
	}
	step("after somebody opened one", policies("8080")...)
	web.Spec.Ports[0].TargetPort = intstr.FromInt32(9090)
	if err := s.Update(t.Context(), web); err != nil {
		t.Fatal(err)
	}
	step("after the port moved", policies("9090")...)
	if err := s.Delete(t.Context(), web); err != nil {
		t.Fatal(err)
	}
	step("after the Service went")
}

// TestWrongAnnotations: what cannot be read opens nothing and takes nothing away.
func TestWrongAnnotations(t *testing.T) {
	t.Parallel()
	for key, value := range map[string]string{
		"namespace-selectors": `{"matchLabels":{}}`, "pod-label-selector-namespace-alias": "a/b", "from-world-to-ports": `[{"protocol":"TCP"}]`,
		"from-all-allowed-ports": `8080`, "from-not_a_label-allowed-ports": `[]`,
	} {
		t.Run(key, func(t *testing.T) {
			t.Parallel()
			web := service("web", nil, tcp(80, intstr.FromInt32(8080)))
			s := newStage(t, web, pod("shoot--a", "user", "web-tcp-8080"))
			before := s.serve("shoot--a", "web")
			web.Annotations = service("web", map[string]string{key: value, "from-world-to-ports": `[{"port":1}]`}).Annotations
			web.Annotations["networking.resources.gardener.cloud/"+key] = value
			if err := s.Update(t.Context(), web); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(before, s.serve("shoot--a", "web")); diff != "" || len(before) != 2 {
				t.Errorf("policies (-before +after):\n%s", diff)
			}
			if told := s.told(); !strings.Contains(told, "InvalidNetworkPolicyAnnotation") || !strings.Contains(told, key) {
				t.Errorf("the event says %q", told)
			}
		})
	}
}

// TestNamesOfOthers: a Service cannot take over a policy by its own name.
func TestNamesOfOthers(t *testing.T) {
	t.Parallel()
	taken := &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "shoot--a", Name: "egress-to-web-tcp-8080", Labels: map[string]string{
		"networking.resources.gardener.cloud/service-name": "other", "networking.resources.gardener.cloud/service-namespace": "shoot--b",
	}}}
	s := newStage(t, service("web", nil, tcp(80, intstr.FromInt32(8080))), pod("shoot--a", "user", "web-tcp-8080"), taken)
	if _, err := s.try("shoot--a", "web"); err == nil || !strings.Contains(err.Error(), "egress-to-web-tcp-8080") {
		t.Errorf("got error %v", err)
	}
	want := []string{
		"shoot--a/egress-to-web-tcp-8080: {}",
		"shoot--a/ingress-to-web-tcp-8080: {app=web} <- {to-web-tcp-8080=allowed} [TCP:8080]",
	}
	if diff := cmp.Diff(want, s.policies()); diff != "" {
		t.Errorf("policies (-want +got):\n%s", diff)
	}
	if told := s.told(); !strings.Contains(told, "NetworkPolicyNameTaken") {
		t.Errorf("the event says %q", told)
	}
}
