// SPDX-License-Identifier: Apache-2.0

package loadbalancer_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/controllers/provider/local/loadbalancer"
)

const namespace = "shoot--dev--sprout"

// service is one of the shoot, of type LoadBalancer, as its API server would have filled it in.
func service(name string, change ...func(*corev1.Service)) *corev1.Service {
	s := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec: corev1.ServiceSpec{
			Type: corev1.ServiceTypeLoadBalancer, Selector: map[string]string{"app": "hello"},
			Ports:                 []corev1.ServicePort{{Name: "web", Protocol: corev1.ProtocolTCP, Port: 80, TargetPort: intstr.FromInt32(8080), NodePort: 30080}},
			ExternalTrafficPolicy: corev1.ServiceExternalTrafficPolicyCluster, SessionAffinity: corev1.ServiceAffinityNone,
		},
	}
	for _, c := range change {
		c(s)
	}
	return s
}

func open(networks ...string) func(*corev1.Service) {
	return func(s *corev1.Service) { s.Spec.LoadBalancerSourceRanges = networks }
}

func annotated(key, value string) func(*corev1.Service) {
	return func(s *corev1.Service) { s.Annotations = map[string]string{key: value} }
}

func TestWanted(t *testing.T) {
	t.Parallel()
	want := func(change ...func(*corev1.Service)) *corev1.Service {
		s := &corev1.Service{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: namespace, Name: loadbalancer.Name(client.ObjectKey{Namespace: "default", Name: "web"}),
				Labels:      map[string]string{"local.provider.extensions.gardener.cloud/load-balancer": "shoot"},
				Annotations: map[string]string{"local.provider.extensions.gardener.cloud/service": "default/web"},
			},
			Spec: corev1.ServiceSpec{
				Type: "LoadBalancer", Selector: map[string]string{"app": "machine"},
				IPFamilyPolicy: new(corev1.IPFamilyPolicySingleStack), IPFamilies: []corev1.IPFamily{"IPv4"},
				ExternalTrafficPolicy: "Cluster", SessionAffinity: "None",
				Ports: []corev1.ServicePort{{Name: "tcp-80", Protocol: "TCP", Port: 80, TargetPort: intstr.FromInt32(30080)}},
			},
		}
		for _, c := range change {
			c(s)
		}
		return s
	}
	affinity := func(s *corev1.Service) {
		s.Spec.SessionAffinity = "ClientIP"
		s.Spec.SessionAffinityConfig = &corev1.SessionAffinityConfig{ClientIP: &corev1.ClientIPConfig{TimeoutSeconds: new(int32(60))}}
	}
	cases := map[string]struct {
		reason string
		given  *corev1.Service
		want   *corev1.Service
	}{
		"Plain": {reason: "a load balancer leads to the node ports of the machines", given: service("web"), want: want()},
		"Owner": {
			reason: "annotations and wishes of owners do not get into the cluster of the machines: they could take an address of others, or buy things",
			given: service("web", func(s *corev1.Service) {
				s.Annotations = map[string]string{"networking.resources.gardener.cloud/from-world-to-ports": "[]", "cloud.example.com/size": "huge"}
				s.Labels = map[string]string{"app": "kubernetes"}
				s.Spec.LoadBalancerIP, s.Spec.ExternalIPs = "10.99.1.1", []string{"10.99.0.1"}
			}),
			want: want(),
		},
		"Ports": {
			reason: "ports of several protocols have names of their own, also where they have the same number",
			given: service("web", func(s *corev1.Service) {
				s.Spec.Ports = []corev1.ServicePort{{Name: "a", Protocol: "UDP", Port: 53, NodePort: 30053}, {Name: "b", Port: 53, NodePort: 30054}, {Name: "c", Protocol: "SCTP", Port: 9, NodePort: 30009}}
			}),
			want: want(func(s *corev1.Service) {
				s.Spec.Ports = []corev1.ServicePort{
					{Name: "udp-53", Protocol: "UDP", Port: 53, TargetPort: intstr.FromInt32(30053)},
					{Name: "tcp-53", Protocol: "TCP", Port: 53, TargetPort: intstr.FromInt32(30054)},
					{Name: "sctp-9", Protocol: "SCTP", Port: 9, TargetPort: intstr.FromInt32(30009)},
				}
			}),
		},
		"Networks": {
			reason: "networks of clients are taken over, once each",
			given:  service("web", open(" 10.0.0.0/8", "192.0.2.1/24", "10.0.0.0/8", "2001:db8::/32")), want: want(open("10.0.0.0/8", "192.0.2.0/24")),
		},
		"FormerNetworks": {
			reason: "networks in the annotation that is older than the field are no less strict",
			given:  service("web", annotated("service.beta.kubernetes.io/load-balancer-source-ranges", "10.0.0.0/8, 192.0.2.0/24")), want: want(open("10.0.0.0/8", "192.0.2.0/24")),
		},
		"Affinity": {reason: "clients stay with their machine if they are to", given: service("web", affinity), want: want(affinity)},
		"Local": {
			reason: "not all machines have pods of such a Service, so nothing is selected",
			given:  service("web", func(s *corev1.Service) { s.Spec.ExternalTrafficPolicy = "Local" }),
			want:   want(func(s *corev1.Service) { s.Spec.ExternalTrafficPolicy, s.Spec.Selector = "Local", nil }),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := loadbalancer.Wanted(namespace, tc.given)
			if diff := cmp.Diff(tc.want, got); diff != "" || err != nil {
				t.Errorf("%s\nWanted(...) error %v (-want +got):\n%s", tc.reason, err, diff)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	var many []string
	for i := range 65 {
		many = append(many, fmt.Sprintf("10.0.%d.0/24", i))
	}
	cases := map[string]struct {
		reason string
		given  *corev1.Service
		want   string
	}{
		"NoNodePort":  {reason: "there is nothing that it could lead to", given: service("web", func(s *corev1.Service) { s.Spec.Ports[0].NodePort = 0 }), want: "allocateLoadBalancerNodePorts"},
		"IPv6":        {reason: "without a network of IPv4 it would be open to all", given: service("web", open("2001:db8::/32")), want: "none of the networks"},
		"NoNetwork":   {reason: "what cannot be read must not open it to all", given: service("web", annotated("service.beta.kubernetes.io/load-balancer-source-ranges", "10.0.0.0/8,x")), want: `"x" is not a network`},
		"AllNetworks": {reason: "each network is a rule on all nodes of the cluster", given: service("web", open(many...)), want: "64 networks"},
		"Ports": {
			reason: "each port takes a node port of the seed",
			given:  service("web", func(s *corev1.Service) { s.Spec.Ports = slices.Repeat(s.Spec.Ports, 33) }), want: "32 ports together",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got, err := loadbalancer.Wanted(namespace, tc.given); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s\nWanted(...) = %v, %v, want an error with %q", tc.reason, got, err, tc.want)
			}
		})
	}
}

func TestName(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("n", 63)
	seen := map[string]client.ObjectKey{}
	for _, key := range []client.ObjectKey{
		{Namespace: "a", Name: "b-c"}, {Namespace: "a-b", Name: "c"}, {Namespace: long, Name: long}, {Namespace: long, Name: long[1:]}, {Namespace: "default", Name: "kube-apiserver"},
	} {
		name := loadbalancer.Name(key)
		if other, taken := seen[name]; taken {
			t.Errorf("%v and %v have the same load balancer %q", key, other, name)
		}
		seen[name] = key
		if reasons := validation.IsDNS1035Label(name); len(reasons) > 0 {
			t.Errorf("Name(%v) = %q: %v", key, name, reasons)
		}
		if name != loadbalancer.Name(key) || !strings.HasPrefix(name, "load-balancer-") {
			t.Errorf("Name(%v) = %q", key, name)
		}
	}
}
