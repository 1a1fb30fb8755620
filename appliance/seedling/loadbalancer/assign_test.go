// SPDX-License-Identifier: Apache-2.0

package loadbalancer_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/terrarium-garden/terrarium/appliance/seedling/loadbalancer"
)

// service makes a load balancer that is as many seconds old as it takes.
func service(uid string, created int64, change ...func(*corev1.Service)) *corev1.Service {
	s := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: uid, UID: types.UID(uid), CreationTimestamp: metav1.Unix(created, 0)},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer},
	}
	for _, c := range change {
		c(s)
	}
	return s
}

func holds(ip string) func(*corev1.Service) {
	return func(s *corev1.Service) { s.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: ip}} }
}

func asksFor(ip string) func(*corev1.Service) {
	return func(s *corev1.Service) { s.Spec.LoadBalancerIP = ip }
}

func ofType(kind corev1.ServiceType) func(*corev1.Service) {
	return func(s *corev1.Service) { s.Spec.Type = kind }
}

func TestAssign(t *testing.T) {
	t.Parallel()
	const small = "10.99.1.0/29" // .1 to .6
	for name, tc := range map[string]struct {
		reason   string
		pool     string
		held     map[string]string
		services []*corev1.Service
		want     map[string]string
	}{
		"lowest free": {
			reason:   "New Services get the lowest addresses, the older Service first.",
			services: []*corev1.Service{service("young", 2), service("old", 1)},
			want:     map[string]string{"old": "10.99.1.1", "young": "10.99.1.2"},
		},
		"status stays": {
			reason:   "After a restart the Services themselves tell who has which address, whatever their age.",
			services: []*corev1.Service{service("old", 1), service("young", 2, holds("10.99.1.1"))},
			want:     map[string]string{"young": "10.99.1.1", "old": "10.99.1.2"},
		},
		"held before status": {
			reason:   "What was given a moment ago counts although the Service does not tell of it yet.",
			held:     map[string]string{"young": "10.99.1.1"},
			services: []*corev1.Service{service("old", 1), service("young", 2)},
			want:     map[string]string{"young": "10.99.1.1", "old": "10.99.1.2"},
		},
		"two with one address": {
			reason:   "No address is given twice: the older Service keeps it, the other gets another.",
			services: []*corev1.Service{service("young", 2, holds("10.99.1.3")), service("old", 1, holds("10.99.1.3"))},
			want:     map[string]string{"old": "10.99.1.3", "young": "10.99.1.1"},
		},
		"asked for": {
			reason:   "A Service gets what it asks for, also before others that do not care.",
			services: []*corev1.Service{service("old", 1), service("young", 2, asksFor("10.99.1.1"))},
			want:     map[string]string{"young": "10.99.1.1", "old": "10.99.1.2"},
		},
		"asked for but taken": {
			reason:   "What another Service has is not taken from it.",
			services: []*corev1.Service{service("old", 1, holds("10.99.1.1")), service("young", 2, asksFor("10.99.1.1"))},
			want:     map[string]string{"old": "10.99.1.1", "young": "10.99.1.2"},
		},
		"outside of the pool": {
			reason:   "An address from elsewhere is not ours to give.",
			services: []*corev1.Service{service("a", 1, asksFor("192.0.2.1")), service("b", 2, holds("10.99.2.1"))},
			want:     map[string]string{"a": "10.99.1.1", "b": "10.99.1.2"},
		},
		"ends of the pool": {
			reason:   "The first and the last address are never given, also when asked for.",
			pool:     small,
			services: []*corev1.Service{service("a", 1, asksFor("10.99.1.0")), service("b", 2, asksFor("10.99.1.7"))},
			want:     map[string]string{"a": "10.99.1.1", "b": "10.99.1.2"},
		},
		"exhausted": {
			reason: "When all addresses are given the youngest Service waits.",
			pool:   "10.99.1.0/30",
			services: []*corev1.Service{
				service("a", 1), service("b", 2), service("c", 3),
			},
			want: map[string]string{"a": "10.99.1.1", "b": "10.99.1.2"},
		},
		"released": {
			reason: "Who is no load balancer any more, or not of this class, or on its way out, has no address.",
			held:   map[string]string{"cluster": "10.99.1.1", "class": "10.99.1.2", "leaving": "10.99.1.3", "gone": "10.99.1.4"},
			services: []*corev1.Service{
				service("cluster", 1, ofType(corev1.ServiceTypeClusterIP), holds("10.99.1.1")),
				service("class", 1, func(s *corev1.Service) { s.Spec.LoadBalancerClass = new("other") }),
				service("leaving", 1, func(s *corev1.Service) { s.DeletionTimestamp = &metav1.Time{Time: time.Unix(9, 0)} }),
				service("new", 2),
			},
			want: map[string]string{"new": "10.99.1.1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := tc.pool
			if pool == "" {
				pool = "10.99.1.0/24"
			}
			held := loadbalancer.Assignment{}
			for uid, ip := range tc.held {
				held[types.UID(uid)] = netip.MustParseAddr(ip)
			}
			got := map[string]string{}
			for uid, address := range loadbalancer.Assign(netip.MustParsePrefix(pool), held, tc.services) {
				got[string(uid)] = address.String()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nAssign(%s, %v) (-want +got):\n%s", tc.reason, pool, tc.held, diff)
			}
		})
	}
}
