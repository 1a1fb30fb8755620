// SPDX-License-Identifier: Apache-2.0

package facts_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
)

// running is a shoot that is up.
func running(changes ...func(*gardencorev1beta1.Shoot)) *gardencorev1beta1.Shoot {
	s := &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: "a"}}
	for _, change := range changes {
		change(s)
	}
	return s
}

func TestAdvertisedAddresses_GLET_RECON_6(t *testing.T) {
	t.Parallel()
	managed := func(s *gardencorev1beta1.Shoot) {
		s.Spec.DNS = &gardencorev1beta1.DNS{Domain: new("a.example.com"), Providers: []gardencorev1beta1.DNSProvider{{Type: new("cloud-dns"), Primary: new(true)}}}
	}
	beside := func(s *gardencorev1beta1.Shoot) {
		managed(s)
		s.Spec.DNS.Providers[0].Primary = nil
	}
	unmanaged := func(s *gardencorev1beta1.Shoot) {
		s.Spec.DNS = &gardencorev1beta1.DNS{Domain: new("a.example.com"), Providers: []gardencorev1beta1.DNSProvider{{Type: new("unmanaged"), Primary: new(true)}}}
	}
	internal := &gardencorev1beta1.Seed{Spec: gardencorev1beta1.SeedSpec{DNS: gardencorev1beta1.SeedDNS{
		Internal: &gardencorev1beta1.SeedDNSProviderConfig{Type: "local", Domain: "internal.terrarium.local"},
	}}}
	cases := map[string]struct {
		reason       string
		shoot        *gardencorev1beta1.Shoot
		seed         *gardencorev1beta1.Seed
		want         []string
		issuer, node string
	}{
		"NoDomain": {
			reason: "only the load balancer is there", shoot: running(), seed: &gardencorev1beta1.Seed{}, want: []string{"unmanaged=https://10.99.1.1"},
			issuer: "https://kubernetes.default.svc.cluster.local", node: "https://10.99.1.1",
		},
		"Internal": {
			reason: "the load balancer first, the internal name second", shoot: running(), seed: internal,
			want:   []string{"unmanaged=https://10.99.1.1", "internal=https://api.a.dev.internal.terrarium.local"},
			issuer: "https://api.a.dev.internal.terrarium.local", node: "https://api.a.dev.internal.terrarium.local",
		},
		"External": {
			reason: "the owner's domain takes the place of the load balancer", shoot: running(managed), seed: internal,
			want:   []string{"external=https://api.a.example.com", "internal=https://api.a.dev.internal.terrarium.local"},
			issuer: "https://api.a.dev.internal.terrarium.local", node: "https://api.a.dev.internal.terrarium.local",
		},
		"ExternalOnly": {
			reason: "a seed without a domain", shoot: running(managed), seed: &gardencorev1beta1.Seed{}, want: []string{"external=https://api.a.example.com"},
			issuer: "https://api.a.example.com", node: "https://10.99.1.1",
		},
		"Default": {
			reason: "a provider beside a default domain of the garden does not host that domain", shoot: running(beside), seed: &gardencorev1beta1.Seed{},
			want:   []string{"unmanaged=https://10.99.1.1"},
			issuer: "https://kubernetes.default.svc.cluster.local", node: "https://10.99.1.1",
		},
		"Unmanaged": {
			reason: "a domain that the owner looks after is not ours to advertise", shoot: running(unmanaged), seed: &gardencorev1beta1.Seed{},
			want:   []string{"unmanaged=https://10.99.1.1"},
			issuer: "https://kubernetes.default.svc.cluster.local", node: "https://10.99.1.1",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hosts := facts.HostsOf(tc.shoot, "dev", tc.seed)
			var got []string
			for _, a := range hosts.Advertised("10.99.1.1") {
				got = append(got, a.Name+"="+a.URL)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nAdvertised(...) (-want +got):\n%s", tc.reason, diff)
			}
			if hosts.Issuer() != tc.issuer || hosts.NodeServer("10.99.1.1") != tc.node {
				t.Errorf("%s\nissuer %s, server for nodes %s, want %s, %s", tc.reason, hosts.Issuer(), hosts.NodeServer("10.99.1.1"), tc.issuer, tc.node)
			}
		})
	}
}

func TestSmallFacts(t *testing.T) {
	t.Parallel()
	if got, err := facts.FirstAddress("10.101.0.0/16"); got != "10.101.0.1" || err != nil {
		t.Errorf("FirstAddress = %q, %v, want 10.101.0.1", got, err)
	}
	if got := facts.URL("fd00::1"); got != "https://[fd00::1]" {
		t.Errorf("URL = %q", got)
	}
	for address, want := range map[string]gardenextensionsv1alpha1.DNSRecordType{"10.99.1.1": "A", "fd00::1": "AAAA", "lb.example.com": "CNAME"} {
		if got := facts.RecordType(address); got != want {
			t.Errorf("RecordType(%q) = %s, want %s", address, got, want)
		}
	}
	service := &corev1.Service{Status: corev1.ServiceStatus{LoadBalancer: corev1.LoadBalancerStatus{Ingress: []corev1.LoadBalancerIngress{{Hostname: "lb.example.com"}}}}}
	if got := facts.LoadBalancerAddress(service); got != "lb.example.com" {
		t.Errorf("LoadBalancerAddress = %q", got)
	}
}
