// SPDX-License-Identifier: Apache-2.0

package shoot_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/yaml"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/shoot"
	"github.com/terrarium-garden/terrarium/controllers/nodeagent"
)

// answers lets the extensions in the seed of a bedroom answer in some way.
func (b *bedroom) answers(t *testing.T, answer func(obj client.Object)) {
	t.Helper()
	seed, ok := b.SeedClient.(client.WithWatch)
	if !ok {
		t.Fatalf("%T cannot be intercepted", b.SeedClient)
	}
	b.SeedClient = interceptor.NewClient(seed, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, options ...client.GetOption) error {
			err := c.Get(ctx, key, obj, options...)
			if err == nil {
				answer(obj)
			}
			return err
		},
	})
}

// ofShoot reads an object in the control plane of a shoot.
func (b *bedroom) ofShoot(t *testing.T, obj client.Object, name string) {
	t.Helper()
	if err := b.SeedClient.Get(t.Context(), client.ObjectKey{Namespace: "shoot--dev--a", Name: name}, obj); err != nil {
		t.Fatal(err)
	}
}

// TestNetworksAreNetworks_EXT_INFRA_3: a network that is none does not get into the status of the shoot, where others rely on it.
func TestNetworksAreNetworks_EXT_INFRA_3(t *testing.T) {
	t.Parallel()
	for reason, report := range map[string]func(*gardenextensionsv1alpha1.InfrastructureStatus){
		"of nodes": func(s *gardenextensionsv1alpha1.InfrastructureStatus) { s.NodesCIDR = new("10.0.0.0/33") },
		"of more nodes": func(s *gardenextensionsv1alpha1.InfrastructureStatus) {
			s.Networking.Nodes = []string{"10.1.0.0/16", "10.2.0.1"}
		},
		"of its pods": func(s *gardenextensionsv1alpha1.InfrastructureStatus) { s.Networking.Pods = []string{"10.3.0.0"} },
		"of its endpoints": func(s *gardenextensionsv1alpha1.InfrastructureStatus) {
			s.Networking.Services = []string{"100.64.0.0 /13"}
		},
		"of its egress": func(s *gardenextensionsv1alpha1.InfrastructureStatus) { s.EgressCIDRs = []string{"198.51.100.7"} },
		"too many": func(s *gardenextensionsv1alpha1.InfrastructureStatus) {
			s.EgressCIDRs = slices.Repeat([]string{"198.51.100.7/32"}, 1000)
		},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			b := newBedroom(t)
			b.answers(t, func(obj client.Object) {
				if o, ok := obj.(*gardenextensionsv1alpha1.Infrastructure); ok {
					o.Status.Networking = &gardenextensionsv1alpha1.InfrastructureStatusNetworking{}
					report(&o.Status)
				}
			})
			b.give(t, b.inside, machineNode())
			synctest.Test(t, func(t *testing.T) {
				err := shoot.RunFlow(t.Context(), b.Reconciler, b.shoot, "shoot--dev--a")
				if err == nil || !strings.Contains(err.Error(), `task "infrastructure-wait" failed: the extension of Infrastructure "a" reports `) {
					t.Errorf("the operation ended with %v, and the extension does not fulfil the contract", err)
				}
			})
		})
	}
}

// TestInfrastructureIsHandedOn_EXT_INFRA_2 has an extension that answers with something that only it understands: those who make the
// control plane and the machines get it, unchanged.
func TestInfrastructureIsHandedOn_EXT_INFRA_2(t *testing.T) {
	t.Parallel()
	b := newBedroom(t)
	made := runtime.RawExtension{Raw: []byte(`{"kind":"Cloud","apiVersion":"cloud.example.org/v1","subnets":["a",{"b":1}]}`)}
	b.answers(t, func(obj client.Object) {
		if o, ok := obj.(*gardenextensionsv1alpha1.Infrastructure); ok {
			o.Status.ProviderStatus = &made
		}
	})
	b.give(t, b.inside, machineNode())
	b.run(t)

	control, worker := &gardenextensionsv1alpha1.ControlPlane{}, &gardenextensionsv1alpha1.Worker{}
	b.ofShoot(t, control, "a")
	b.ofShoot(t, worker, "a")
	for kind, got := range map[string]*runtime.RawExtension{"ControlPlane": control.Spec.InfrastructureProviderStatus, "Worker": worker.Spec.InfrastructureProviderStatus} {
		if got == nil {
			t.Errorf("%s has nothing from the infrastructure", kind)
			continue
		}
		if diff := cmp.Diff(string(made.Raw), string(got.Raw)); diff != "" {
			t.Errorf("what %s has from the infrastructure (-want +got):\n%s", kind, diff)
		}
	}
}

// TestNetworkOfAShoot_EXT_NET_1 compares a Network with what the owner of the shoot has written.
func TestNetworkOfAShoot_EXT_NET_1(t *testing.T) {
	t.Parallel()
	config := &runtime.RawExtension{Raw: []byte(`{"overlay":{"enabled":false}}`)}
	cases := map[string]struct {
		reason     string
		networking gardencorev1beta1.Networking
		want       gardenextensionsv1alpha1.NetworkSpec
	}{
		"All": {
			reason: "everything is passed on",
			networking: gardencorev1beta1.Networking{
				Type: new("calm"), Pods: new("10.71.0.0/16"), Services: new("10.72.0.0/16"), ProviderConfig: config, IPFamilies: []gardencorev1beta1.IPFamily{"IPv4"},
			},
			want: gardenextensionsv1alpha1.NetworkSpec{
				DefaultSpec: gardenextensionsv1alpha1.DefaultSpec{Type: "calm", ProviderConfig: config},
				PodCIDR:     "10.71.0.0/16", ServiceCIDR: "10.72.0.0/16", IPFamilies: []gardenextensionsv1alpha1.IPFamily{"IPv4"},
			},
		},
		"Least": {
			reason:     "a shoot without a configuration has none",
			networking: gardencorev1beta1.Networking{Type: new("local"), Pods: new("10.81.0.0/16"), Services: new("10.82.0.0/16")},
			want: gardenextensionsv1alpha1.NetworkSpec{
				DefaultSpec: gardenextensionsv1alpha1.DefaultSpec{Type: "local"}, PodCIDR: "10.81.0.0/16", ServiceCIDR: "10.82.0.0/16",
				IPFamilies: []gardenextensionsv1alpha1.IPFamily{"IPv4"},
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBedroom(t, func(s *gardencorev1beta1.Shoot) { s.Spec.Networking = &tc.networking })
			b.give(t, b.inside, machineNode())
			b.run(t)
			network := &gardenextensionsv1alpha1.Network{}
			b.ofShoot(t, network, "a")
			if diff := cmp.Diff(tc.want, network.Spec); diff != "" {
				t.Errorf("%s\nspec of the Network (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestImageSelectsTheExtension_EXT_OSC_8 gives a pool an operating system that this project has never heard of: its name alone selects
// the extension that acts, and the shoot waits for that one.
func TestImageSelectsTheExtension_EXT_OSC_8(t *testing.T) {
	t.Parallel()
	config := &runtime.RawExtension{Raw: []byte(`{"kernel":"tiny"}`)}
	b := newBedroom(t, func(s *gardencorev1beta1.Shoot) {
		s.Spec.Provider.Workers[0].Machine.Image = &gardencorev1beta1.ShootMachineImage{Name: "mossy", Version: new("3.2.1"), ProviderConfig: config}
	})
	b.give(t, b.inside, machineNode())
	b.run(t)
	list := &gardenextensionsv1alpha1.OperatingSystemConfigList{}
	if err := b.SeedClient.List(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for i := range list.Items {
		got[list.Items[i].Spec.Type+" "+string(list.Items[i].Spec.ProviderConfig.Raw)]++
	}
	// One is for the first start of a machine, one for what its agent applies later.
	if diff := cmp.Diff(map[string]int{`mossy {"kernel":"tiny"}`: 2}, got); diff != "" {
		t.Errorf("types and configurations of the operating systems (-want +got):\n%s", diff)
	}
}

// TestUserDataIsRequired_EXT_OSC_5 has an extension that says it has succeeded, and has made no user data: no machine can be made of
// that, so the operation ends with an error that names the object.
func TestUserDataIsRequired_EXT_OSC_5(t *testing.T) {
	t.Parallel()
	b := newBedroom(t)
	b.answers(t, func(obj client.Object) {
		if o, ok := obj.(*gardenextensionsv1alpha1.OperatingSystemConfig); ok {
			o.Status.CloudConfig = nil
		}
	})
	b.give(t, b.inside, machineNode())
	synctest.Test(t, func(t *testing.T) {
		err := shoot.RunFlow(t.Context(), b.Reconciler, b.shoot, "shoot--dev--a")
		if err == nil || !strings.Contains(err.Error(), `OperatingSystemConfig "gardener-node-agent-small-`) || !strings.Contains(err.Error(), "has no status.cloudConfig") {
			t.Errorf("RunFlow(...): got error %v, want one about the missing user data", err)
		}
	})
	if workers := found(t, b.SeedClient, gardenextensionsv1alpha1.GroupVersion.WithKind("Worker")); len(workers) != 0 {
		t.Errorf("machines were ordered without user data: %v", workers)
	}
}

// TestOSUpdateIsHandedOn_EXT_OSC_7 has an extension that brings a command to update its operating system: the agents of a pool that is updated in place
// get it with the version that is wanted, and those of another pool do not.
func TestOSUpdateIsHandedOn_EXT_OSC_7(t *testing.T) {
	t.Parallel()
	for strategy, want := range map[gardencorev1beta1.MachineUpdateStrategy]*nodeagent.OSUpdate{
		gardencorev1beta1.MachineUpdateStrategyAutoInPlaceUpdate: {Version: "1.0.0", Command: "/opt/update", Args: []string{"--now"}},
		gardencorev1beta1.MachineUpdateStrategyAutoRollingUpdate: nil,
	} {
		t.Run(string(strategy), func(t *testing.T) {
			t.Parallel()
			b := newBedroom(t, func(s *gardencorev1beta1.Shoot) { s.Spec.Provider.Workers[0].UpdateStrategy = &strategy })
			b.answers(t, func(obj client.Object) {
				if o, ok := obj.(*gardenextensionsv1alpha1.OperatingSystemConfig); ok {
					o.Status.InPlaceUpdates = &gardenextensionsv1alpha1.InPlaceUpdatesStatus{OSUpdate: &gardenextensionsv1alpha1.OSUpdate{
						Command: "/opt/update", Args: []string{"--now"},
					}}
				}
			})
			b.give(t, b.inside, machineNode())
			b.run(t)
			if diff := cmp.Diff(want, osUpdateOf(b.kept(t))); diff != "" {
				t.Errorf("the command of the agents (-want +got):\n%s", diff)
			}
		})
	}
}

// TestUnitsAreMerged_EXT_OSC_4 has an extension that adds a drop-in to a unit that all machines have, which it names once more for that.
func TestUnitsAreMerged_EXT_OSC_4(t *testing.T) {
	t.Parallel()
	b := newBedroom(t)
	more := []gardenextensionsv1alpha1.DropIn{{Name: "10-more.conf", Content: "[Service]\nNice=1\n"}}
	b.answers(t, func(obj client.Object) {
		if o, ok := obj.(*gardenextensionsv1alpha1.OperatingSystemConfig); ok && o.Spec.Purpose == gardenextensionsv1alpha1.OperatingSystemConfigPurposeReconcile {
			o.Status.ExtensionUnits = []gardenextensionsv1alpha1.Unit{{Name: "kubelet.service", DropIns: more}}
		}
	})
	b.give(t, b.inside, machineNode())
	b.run(t)
	var got []gardenextensionsv1alpha1.Unit
	for _, unit := range b.kept(t).Units {
		if unit.Name == "kubelet.service" {
			got = append(got, unit)
		}
	}
	if len(got) != 1 || got[0].Content == nil || len(got[0].FilePaths) == 0 {
		t.Fatalf("the agents have the kubelet %d times: %+v", len(got), got)
	}
	if diff := cmp.Diff(more, got[0].DropIns); diff != "" {
		t.Errorf("drop-ins (-want +got):\n%s", diff)
	}
}

// TestAgentsGetAuthorities: agents learn what verifies the API server, and that is what machines start with. Machines that are updated in place
// wait with it for their update.
func TestAgentsGetAuthorities_GLET_CRED_10(t *testing.T) {
	t.Parallel()
	for strategy, inPlace := range map[gardencorev1beta1.MachineUpdateStrategy]bool{
		gardencorev1beta1.MachineUpdateStrategyAutoRollingUpdate: false, gardencorev1beta1.MachineUpdateStrategyAutoInPlaceUpdate: true,
	} {
		t.Run(string(strategy), func(t *testing.T) {
			t.Parallel()
			b := newBedroom(t, func(s *gardencorev1beta1.Shoot) { s.Spec.Provider.Workers[0].UpdateStrategy = &strategy })
			b.give(t, b.inside, machineNode())
			b.run(t)
			kept := b.kept(t)
			type authorities struct{ File, InPlace string }
			var want, got authorities
			if begins := b.bootstrapAuthorities(t); inPlace {
				want.InPlace = begins
			} else {
				want.File = begins
			}
			for _, file := range kept.Files {
				if file.Path == nodeagent.ServerCA(nil).Path {
					got.File += file.Content.Inline.Data
				}
			}
			if kept.InPlaceUpdates != nil {
				got.InPlace = kept.InPlaceUpdates.ServerCA
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("what verifies the API server (-want +got):\n%s", diff)
			}
		})
	}
}

// bootstrapAuthorities are the certificates with which a new machine of the only pool verifies the API server.
func (b *bedroom) bootstrapAuthorities(t *testing.T) string {
	t.Helper()
	list := &gardenextensionsv1alpha1.OperatingSystemConfigList{}
	if err := b.SeedClient.List(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	for i := range list.Items {
		for _, file := range list.Items[i].Spec.Files {
			if !strings.HasSuffix(file.Path, "/kubeconfig-bootstrap") {
				continue
			}
			config, err := clientcmd.Load([]byte(file.Content.Inline.Data))
			if err != nil {
				t.Fatal(err)
			}
			for _, cluster := range config.Clusters {
				return string(cluster.CertificateAuthorityData)
			}
		}
	}
	t.Fatal("new machines get no kubeconfig")
	return ""
}

func osUpdateOf(c nodeagent.Configuration) *nodeagent.OSUpdate {
	if c.InPlaceUpdates == nil {
		return nil
	}
	return c.InPlaceUpdates.OSUpdate
}

// kept is what the agents of the only pool get.
func (b *bedroom) kept(t *testing.T) nodeagent.Configuration {
	t.Helper()
	manifests := &corev1.Secret{}
	b.ofShoot(t, manifests, "managedresource-shoot-core-node-agent-config")
	for manifest := range strings.SplitSeq(string(manifests.Data["objects.yaml"]), "---\n") {
		secret := &corev1.Secret{}
		if err := yaml.Unmarshal([]byte(manifest), secret); err != nil {
			t.Fatal(err)
		}
		if data := secret.Data[gardencorev1beta1.DataKeyNodeAgentConfig]; secret.Kind == "Secret" && len(data) > 0 {
			c, err := nodeagent.Decode(data)
			if err != nil {
				t.Fatal(err)
			}
			return c
		}
	}
	t.Fatal("the agents get no configuration")
	return nodeagent.Configuration{}
}

// TestFilesAreUnique_EXT_OSC_7 has an extension that adds a file which the gardenlet has in the configuration already: nobody could say which counts, so
// the operation ends with an error that names it, and no machine gets either.
func TestFilesAreUnique_EXT_OSC_7(t *testing.T) {
	t.Parallel()
	b := newBedroom(t)
	b.answers(t, func(obj client.Object) {
		if o, ok := obj.(*gardenextensionsv1alpha1.OperatingSystemConfig); ok && o.Spec.Purpose == gardenextensionsv1alpha1.OperatingSystemConfigPurposeReconcile {
			o.Status.ExtensionFiles = []gardenextensionsv1alpha1.File{{Path: "/var/lib/kubelet/config/kubelet"}}
		}
	})
	b.give(t, b.inside, machineNode())
	synctest.Test(t, func(t *testing.T) {
		err := shoot.RunFlow(t.Context(), b.Reconciler, b.shoot, "shoot--dev--a")
		for _, want := range []string{`OperatingSystemConfig "gardener-node-agent-small-`, `file "/var/lib/kubelet/config/kubelet": it is there twice for all machines`} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("RunFlow(...): got error %v, want one with %s", err, want)
			}
		}
	})
	if workers := found(t, b.SeedClient, gardenextensionsv1alpha1.GroupVersion.WithKind("Worker")); len(workers) != 0 {
		t.Errorf("machines were ordered: %v", workers)
	}
}
