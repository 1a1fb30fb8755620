// SPDX-License-Identifier: Apache-2.0

package shoot_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/extensions"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/shoot"
)

func TestRequiredExtensions_GLET_FLOW_9(t *testing.T) {
	t.Parallel()
	s := running(withWorkers, func(s *gardencorev1beta1.Shoot) {
		s.Spec.Networking = &gardencorev1beta1.Networking{Type: new("calico")}
		s.Spec.Provider.Workers[0].Machine.Image = &gardencorev1beta1.ShootMachineImage{Name: "debian"}
	})
	seed := &gardencorev1beta1.Seed{Spec: gardencorev1beta1.SeedSpec{DNS: gardencorev1beta1.SeedDNS{Internal: &gardencorev1beta1.SeedDNSProviderConfig{Type: "local"}}}}
	needs := shoot.Needs(s, seed, nil)
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
	if diff := cmp.Diff(want, shoot.Needs(s, seed, nil)); diff != "" {
		t.Errorf("No run makes backups, so none waits for who would keep them: Needs(...) (-want +got):\n%s", diff)
	}
	s.Spec.Extensions = []gardencorev1beta1.Extension{{Type: "extra"}, {Type: "unwanted", Disabled: new(true)}}
	everywhere := *registration(extensions.Offer{Kind: "Extension", Type: "unwanted"}, extensions.Offer{Kind: "Extension", Type: "always"})
	for i := range everywhere.Spec.Resources {
		everywhere.Spec.Resources[i].AutoEnable = []gardencorev1beta1.ClusterType{gardencorev1beta1.ClusterTypeShoot}
	}
	extras := []extensions.Offer{{Kind: "Extension", Type: "always"}, {Kind: "Extension", Type: "extra"}}
	if diff := cmp.Diff(slices.Insert(slices.Clone(want), 2, extras...), shoot.Needs(s, seed, []gardencorev1beta1.ControllerRegistration{everywhere})); diff != "" {
		t.Errorf("Add-ons are asked to act (EXT-EXT-2): Needs(...) (-want +got):\n%s", diff)
	}
	s.Spec.Extensions = nil
	s.Spec.Provider.Workers[0].CRI = &gardencorev1beta1.CRI{ContainerRuntimes: []gardencorev1beta1.ContainerRuntime{{Type: "gvisor"}}}
	want = slices.Insert(want, 0, extensions.Offer{Kind: "ContainerRuntime", Type: "gvisor"})
	if diff := cmp.Diff(want, shoot.Needs(s, seed, nil)); diff != "" {
		t.Errorf("The runtimes of pools are asked to act (GCM-CR-3): Needs(...) (-want +got):\n%s", diff)
	}
	seed.Spec.Provider.Type, seed.Spec.DNS.Defaults = "host", []gardencorev1beta1.SeedDNSProviderConfig{{Type: "names", Domain: "example.com"}}
	s.Spec.DNS = &gardencorev1beta1.DNS{Domain: new("a.example.com")}
	if diff := cmp.Diff(slices.Insert(slices.Insert(slices.Clone(want), 3, extensions.Offer{Kind: "DNSRecord", Type: "names"}), 1, extensions.Offer{Kind: "ControlPlane", Type: "host"}), shoot.Needs(s, seed, nil)); diff != "" {
		t.Errorf("The provider of the seed and who hosts the default domain count (GCM-CR-3): Needs(...) (-want +got):\n%s", diff)
	}
	if workerless := shoot.Needs(running(), &gardencorev1beta1.Seed{}, nil); len(workerless) != 0 {
		t.Errorf("a shoot without workers on a seed without a domain needs %v, want nothing", workerless)
	}
}

func TestPools_EXT_WORKER_2_3(t *testing.T) {
	t.Parallel()
	s := running(withWorkers, func(s *gardencorev1beta1.Shoot) {
		s.Spec.Kubernetes.Version = "1.36.3"
		s.Spec.Kubernetes.Kubelet = &gardencorev1beta1.KubeletConfig{MaxPods: new(int32(50))}
		w := &s.Spec.Provider.Workers[0]
		w.Machine = gardencorev1beta1.Machine{Type: "large", Image: &gardencorev1beta1.ShootMachineImage{Name: "debian", Version: new("12.1.0")}}
		w.Labels = map[string]string{"team": "a", "worker.gardener.cloud/pool": "forged"}
		w.CRI = &gardencorev1beta1.CRI{Name: "containerd", ContainerRuntimes: []gardencorev1beta1.ContainerRuntime{{Type: "gvisor"}}}
		w.Volume = &gardencorev1beta1.Volume{Size: "50Gi"}
		w.ClusterAutoscaler = &gardencorev1beta1.ClusterAutoscalerOptions{
			ScaleDownUtilizationThreshold: new(0.25), ScaleDownUnneededTime: &metav1.Duration{Duration: time.Minute},
		}
	})
	profile := &gardencorev1beta1.CloudProfile{Spec: gardencorev1beta1.CloudProfileSpec{MachineTypes: []gardencorev1beta1.MachineType{
		{Name: "large", CPU: resource.MustParse("8"), Memory: resource.MustParse("32Gi"), GPU: resource.MustParse("0")},
	}}}
	got := shoot.Pools(s, profile, map[string]string{"small": "osc-result-x"})
	labels := map[string]string{
		"team": "a", "node.kubernetes.io/role": "node", "worker.gardener.cloud/pool": "small", "worker.garden.sapcloud.io/group": "small",
		"worker.gardener.cloud/kubernetes-version": "1.36.3", "worker.gardener.cloud/system-components": "true",
		"networking.gardener.cloud/node-local-dns-enabled": "false", "worker.gardener.cloud/cri-name": "containerd",
		"containerruntime.worker.gardener.cloud/gvisor": "true",
	}
	want := []gardenextensionsv1alpha1.WorkerPool{{
		Name: "small", MachineType: "large", Minimum: 1, Maximum: 1, MaxSurge: intstr.FromInt32(1), MaxUnavailable: intstr.FromInt32(0),
		MachineImage: gardenextensionsv1alpha1.MachineImage{Name: "debian", Version: "12.1.0"}, Labels: labels, KubernetesVersion: new("1.36.3"),
		KubeletConfig: &gardencorev1beta1.KubeletConfig{MaxPods: new(int32(50))},
		Volume:        &gardenextensionsv1alpha1.Volume{Size: "50Gi"},
		NodeTemplate: &gardenextensionsv1alpha1.NodeTemplate{Capacity: corev1.ResourceList{
			"cpu": resource.MustParse("8"), "memory": resource.MustParse("32Gi"), "gpu": resource.MustParse("0"),
		}},
		UserDataSecretRef: corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "osc-result-x"}, Key: "cloud_config"},
		ClusterAutoscaler: &gardenextensionsv1alpha1.ClusterAutoscalerOptions{
			ScaleDownUtilizationThreshold: new("0.25"), ScaleDownUnneededTime: &metav1.Duration{Duration: time.Minute},
		},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Pools(...), whose labels the owner cannot change where they are ours (-want +got):\n%s", diff)
	}
	s.Spec.Provider.Workers[0].Kubernetes = &gardencorev1beta1.WorkerKubernetes{Kubelet: &gardencorev1beta1.KubeletConfig{MaxPods: new(int32(70))}}
	if diff := cmp.Diff(&gardencorev1beta1.KubeletConfig{MaxPods: new(int32(70))}, shoot.Pools(s, profile, nil)[0].KubeletConfig); diff != "" {
		t.Errorf("the kubelets of a pool with a configuration of its own (-want +got):\n%s", diff)
	}
	s.Spec.SystemComponents = &gardencorev1beta1.SystemComponents{NodeLocalDNS: &gardencorev1beta1.NodeLocalDNS{Enabled: true}}
	if got := shoot.Pools(s, profile, nil)[0].Labels["networking.gardener.cloud/node-local-dns-enabled"]; got != "true" {
		t.Errorf("the label of nodes with a DNS cache is %q", got)
	}
}

// TestUnreadyNodes_GLET_RECON_1: an operation waits for the nodes that it makes, and for no others.
func TestUnreadyNodes_GLET_RECON_1(t *testing.T) {
	t.Parallel()
	node := func(name, pool string, ready corev1.ConditionStatus) corev1.Node {
		return corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"worker.gardener.cloud/pool": pool}},
			Status:     corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: ready, Message: "network plugin is not ready"}}},
		}
	}
	pools := []gardencorev1beta1.Worker{{Name: "small", Minimum: 1}, {Name: "large", Minimum: 2}}
	kept := node("m-3", "small", "Unknown")
	kept.Status.Conditions = append(kept.Status.Conditions, corev1.NodeCondition{Type: "Preserved", Status: "True"})
	former := node("m-4", "small", "False")
	former.Status.Conditions = append(former.Status.Conditions, corev1.NodeCondition{Type: "Preserved", Status: "False"})
	got := shoot.UnreadyNodes(pools, []corev1.Node{
		node("m-1", "small", "True"), node("m-2", "large", "False"), kept, former, node("mine", "", "False"), node("m-5", "removed", "False"),
	})
	want := []string{`node "m-2" is not ready: network plugin is not ready`, `node "m-4" is not ready: network plugin is not ready`, `pool "large" has 1 of at least 2 nodes`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("UnreadyNodes(...) (-want +got):\n%s", diff)
	}
}

func TestClusterHoldsWholeObjects_EXT_CLUSTER_1(t *testing.T) {
	t.Parallel()
	s := running(func(s *gardencorev1beta1.Shoot) { s.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl"}} })
	given := s.DeepCopy()
	profile := &gardencorev1beta1.CloudProfile{ObjectMeta: metav1.ObjectMeta{Name: "local"}}
	seed := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "eu-1"}}
	data, err := json.Marshal(shoot.ClusterOf("shoot--dev--a", profile, seed, s))
	if err != nil {
		t.Fatal(err)
	}
	got := struct {
		Spec struct {
			CloudProfile gardencorev1beta1.CloudProfile
			Seed         gardencorev1beta1.Seed
			Shoot        gardencorev1beta1.Shoot
		}
	}{}
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	want := got
	want.Spec.CloudProfile, want.Spec.Seed, want.Spec.Shoot = *profile, *seed, *given.DeepCopy()
	want.Spec.Shoot.ManagedFields = nil
	want.Spec.CloudProfile.TypeMeta = metav1.TypeMeta{APIVersion: "core.gardener.cloud/v1beta1", Kind: "CloudProfile"}
	want.Spec.Seed.TypeMeta = metav1.TypeMeta{APIVersion: "core.gardener.cloud/v1beta1", Kind: "Seed"}
	want.Spec.Shoot.TypeMeta = metav1.TypeMeta{APIVersion: "core.gardener.cloud/v1beta1", Kind: "Shoot"}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("ClusterOf(...) as JSON (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(given, s); diff != "" {
		t.Errorf("the given shoot was changed (-want +got):\n%s", diff)
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

func TestNodeTemplatesStay_EXT_WORKER_4(t *testing.T) {
	t.Parallel()
	pool := func(machineType, cpu string) gardenextensionsv1alpha1.WorkerPool {
		return gardenextensionsv1alpha1.WorkerPool{Name: "small", MachineType: machineType, NodeTemplate: &gardenextensionsv1alpha1.NodeTemplate{
			Capacity: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)},
		}}
	}
	cases := map[string]struct {
		why  string
		live []gardenextensionsv1alpha1.WorkerPool
		want string
	}{
		"New":   {"a new pool has what the profile says", nil, "2"},
		"Same":  {"the provider may have changed it", []gardenextensionsv1alpha1.WorkerPool{pool("local", "3")}, "3"},
		"Other": {"which says nothing about another machine type", []gardenextensionsv1alpha1.WorkerPool{pool("large", "3")}, "2"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := shoot.WithNodeTemplates([]gardenextensionsv1alpha1.WorkerPool{pool("local", "2")}, tc.live)
			if cpu := got[0].NodeTemplate.Capacity.Cpu().String(); cpu != tc.want {
				t.Errorf("%s\nthe machine has %s processors, want %s", tc.why, cpu, tc.want)
			}
		})
	}
}
