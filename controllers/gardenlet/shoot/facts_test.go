// SPDX-License-Identifier: Apache-2.0

package shoot_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/extensions"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/shoot"
)

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
			hosts := shoot.HostsOf(tc.shoot, "dev", tc.seed)
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
	if got, err := shoot.FirstAddress("10.101.0.0/16"); got != "10.101.0.1" || err != nil {
		t.Errorf("FirstAddress = %q, %v, want 10.101.0.1", got, err)
	}
	if got := shoot.URL("fd00::1"); got != "https://[fd00::1]" {
		t.Errorf("URL = %q", got)
	}
	for address, want := range map[string]gardenextensionsv1alpha1.DNSRecordType{"10.99.1.1": "A", "fd00::1": "AAAA", "lb.example.com": "CNAME"} {
		if got := shoot.RecordType(address); got != want {
			t.Errorf("RecordType(%q) = %s, want %s", address, got, want)
		}
	}
	service := &corev1.Service{Status: corev1.ServiceStatus{LoadBalancer: corev1.LoadBalancerStatus{Ingress: []corev1.LoadBalancerIngress{{Hostname: "lb.example.com"}}}}}
	if got := shoot.LoadBalancerAddress(service); got != "lb.example.com" {
		t.Errorf("LoadBalancerAddress = %q", got)
	}
}

func TestRequiredExtensions_GLET_FLOW_9(t *testing.T) {
	t.Parallel()
	s := running(withWorkers, func(s *gardencorev1beta1.Shoot) {
		s.Spec.Networking = &gardencorev1beta1.Networking{Type: new("calico")}
		s.Spec.Provider.Workers[0].Machine.Image = &gardencorev1beta1.ShootMachineImage{Name: "debian"}
	})
	seed := &gardencorev1beta1.Seed{Spec: gardencorev1beta1.SeedSpec{DNS: gardencorev1beta1.SeedDNS{Internal: &gardencorev1beta1.SeedDNSProviderConfig{Type: "local"}}}}
	needs := shoot.Needs(s, seed)
	want := []extensions.Offer{
		{Kind: "ControlPlane", Type: "local"}, {Kind: "DNSRecord", Type: "local"}, {Kind: "Infrastructure", Type: "local"}, {Kind: "Network", Type: "calico"}, {Kind: "OperatingSystemConfig", Type: "debian"}, {Kind: "Worker", Type: "local"},
	}
	if diff := cmp.Diff(want, needs); diff != "" {
		t.Errorf("Needs(...) (-want +got):\n%s", diff)
	}
	installation := func(name string, healthy gardencorev1beta1.ConditionStatus) gardencorev1beta1.ControllerInstallation {
		return gardencorev1beta1.ControllerInstallation{
			Spec: gardencorev1beta1.ControllerInstallationSpec{RegistrationRef: corev1.ObjectReference{Name: name}},
			Status: gardencorev1beta1.ControllerInstallationStatus{Conditions: []gardencorev1beta1.Condition{
				{Type: "Valid", Status: "True"}, {Type: "Installed", Status: "True"}, {Type: "Healthy", Status: healthy},
			}},
		}
	}
	registration := func(needs ...extensions.Offer) *gardencorev1beta1.ControllerRegistration {
		r := &gardencorev1beta1.ControllerRegistration{}
		for _, n := range needs {
			r.Spec.Resources = append(r.Spec.Resources, gardencorev1beta1.ControllerResource{Kind: n.Kind, Type: n.Type})
		}
		return r
	}
	registrations := map[string]*gardencorev1beta1.ControllerRegistration{
		"local": registration(want[0], want[1], want[2], want[5]), "calico": registration(want[3]), "debian": registration(want[4]),
	}
	installations := []gardencorev1beta1.ControllerInstallation{installation("local", "True"), installation("calico", "False"), installation("unknown", "True")}
	if diff := cmp.Diff([]extensions.Offer{want[3], want[4]}, shoot.Missing(needs, installations, registrations)); diff != "" {
		t.Errorf("one is not healthy, one is not installed: Missing(...) (-want +got):\n%s", diff)
	}
	seed.Spec.Backup = &gardencorev1beta1.Backup{Provider: "local"}
	if diff := cmp.Diff(want, shoot.Needs(s, seed)); diff != "" {
		t.Errorf("No run makes backups, so none waits for who would keep them: Needs(...) (-want +got):\n%s", diff)
	}
	s.Spec.Extensions, s.Spec.Provider.Workers[0].CRI = []gardencorev1beta1.Extension{{Type: "extra"}}, &gardencorev1beta1.CRI{ContainerRuntimes: []gardencorev1beta1.ContainerRuntime{{Type: "gvisor"}}}
	if diff := cmp.Diff(want, shoot.Needs(s, seed)); diff != "" {
		t.Errorf("No run asks these to act, so none waits for them: Needs(...) (-want +got):\n%s", diff)
	}
	seed.Spec.Provider.Type, seed.Spec.DNS.Defaults = "host", []gardencorev1beta1.SeedDNSProviderConfig{{Type: "names", Domain: "example.com"}}
	s.Spec.DNS = &gardencorev1beta1.DNS{Domain: new("a.example.com")}
	if diff := cmp.Diff(slices.Insert(slices.Insert(slices.Clone(want), 2, extensions.Offer{Kind: "DNSRecord", Type: "names"}), 0, extensions.Offer{Kind: "ControlPlane", Type: "host"}), shoot.Needs(s, seed)); diff != "" {
		t.Errorf("The provider of the seed and who hosts the default domain count (GCM-CR-3): Needs(...) (-want +got):\n%s", diff)
	}
	if workerless := shoot.Needs(running(), &gardencorev1beta1.Seed{}); len(workerless) != 0 {
		t.Errorf("a shoot without workers on a seed without a domain needs %v, want nothing", workerless)
	}
}

func TestPools_EXT_WORKER_2_3(t *testing.T) {
	t.Parallel()
	s := running(withWorkers, func(s *gardencorev1beta1.Shoot) {
		s.Spec.Kubernetes.Version = "1.36.3"
		w := &s.Spec.Provider.Workers[0]
		w.Machine = gardencorev1beta1.Machine{Type: "large", Image: &gardencorev1beta1.ShootMachineImage{Name: "debian", Version: new("12.1.0")}}
		w.Labels = map[string]string{"team": "a", "worker.gardener.cloud/pool": "forged"}
		w.CRI = &gardencorev1beta1.CRI{Name: "containerd"}
		w.Volume = &gardencorev1beta1.Volume{Size: "50Gi"}
	})
	profile := &gardencorev1beta1.CloudProfile{Spec: gardencorev1beta1.CloudProfileSpec{MachineTypes: []gardencorev1beta1.MachineType{
		{Name: "large", CPU: resource.MustParse("8"), Memory: resource.MustParse("32Gi"), GPU: resource.MustParse("0")},
	}}}
	got := shoot.Pools(s, profile, map[string]string{"small": "osc-result-x"})
	if len(got) != 1 {
		t.Fatalf("%d pools, want 1", len(got))
	}
	p := got[0]
	want := map[string]string{
		"team": "a", "node.kubernetes.io/role": "node", "worker.gardener.cloud/pool": "small", "worker.garden.sapcloud.io/group": "small",
		"worker.gardener.cloud/kubernetes-version": "1.36.3", "worker.gardener.cloud/system-components": "true",
		"networking.gardener.cloud/node-local-dns-enabled": "false", "worker.gardener.cloud/cri-name": "containerd",
	}
	if diff := cmp.Diff(want, p.Labels); diff != "" {
		t.Errorf("labels, of which the owner cannot change ours (-want +got):\n%s", diff)
	}
	if p.UserDataSecretRef.Name != "osc-result-x" || p.UserDataSecretRef.Key != "cloud_config" || p.MaxSurge.String() != "1" || p.MaxUnavailable.String() != "0" ||
		p.MachineImage.Version != "12.1.0" || p.Volume.Size != "50Gi" || p.NodeTemplate.Capacity.Cpu().String() != "8" {
		data, _ := json.Marshal(p) //nolint:errchkjson // for a message
		t.Errorf("pool: %s", data)
	}
}

func TestUnreadyNodes(t *testing.T) {
	t.Parallel()
	node := func(name, pool string, ready corev1.ConditionStatus) corev1.Node {
		return corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"worker.gardener.cloud/pool": pool}},
			Status:     corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: ready, Message: "network plugin is not ready"}}},
		}
	}
	pools := []gardencorev1beta1.Worker{{Name: "small", Minimum: 1}, {Name: "large", Minimum: 2}}
	got := shoot.UnreadyNodes(pools, []corev1.Node{node("m-1", "small", "True"), node("m-2", "large", "False")})
	want := []string{`node "m-2" is not ready: network plugin is not ready`, `pool "large" has 1 of at least 2 nodes`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("UnreadyNodes(...) (-want +got):\n%s", diff)
	}
}

func TestClusterHoldsWholeObjects_EXT_CLUSTER_1(t *testing.T) {
	t.Parallel()
	s := running(func(s *gardencorev1beta1.Shoot) { s.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl"}} })
	c, err := shoot.ClusterOf("shoot--dev--a", &gardencorev1beta1.CloudProfile{ObjectMeta: metav1.ObjectMeta{Name: "local"}}, &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "eu-1"}}, s)
	if err != nil {
		t.Fatal(err)
	}
	got := &gardencorev1beta1.Shoot{}
	if err := json.Unmarshal(c.Spec.Shoot.Raw, got); err != nil {
		t.Fatal(err)
	}
	if got.APIVersion != "core.gardener.cloud/v1beta1" || got.Kind != "Shoot" || got.Status.UID != "uid-1" || got.ManagedFields != nil {
		t.Errorf("spec.shoot = %s", c.Spec.Shoot.Raw)
	}
	if s.ManagedFields == nil || s.Kind != "" {
		t.Error("the given shoot was changed")
	}
}

func TestNetworks_EXT_INFRA_3(t *testing.T) {
	t.Parallel()
	s := running(func(s *gardencorev1beta1.Shoot) {
		s.Spec.Networking = &gardencorev1beta1.Networking{Pods: new("10.100.0.0/16"), Services: new("10.101.0.0/16"), Nodes: new("10.1.0.0/16")}
	})
	i := &gardenextensionsv1alpha1.Infrastructure{}
	i.Status.NodesCIDR = new("10.2.0.0/16")
	i.Status.Networking = &gardenextensionsv1alpha1.InfrastructureStatusNetworking{Nodes: []string{"10.1.0.0/16", "10.3.0.0/16"}}
	i.Status.EgressCIDRs = []string{"1.2.3.4/32", "1.2.3.4/32"}
	want := &gardencorev1beta1.NetworkingStatus{
		Nodes: []string{"10.1.0.0/16", "10.2.0.0/16", "10.3.0.0/16"}, Pods: []string{"10.100.0.0/16"}, Services: []string{"10.101.0.0/16"}, EgressCIDRs: []string{"1.2.3.4/32"},
	}
	if diff := cmp.Diff(want, shoot.Networks(s, i)); diff != "" {
		t.Errorf("the owner's come first, each once (-want +got):\n%s", diff)
	}
}
