// SPDX-License-Identifier: Apache-2.0

package maintenance_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/garden/shoot/maintenance"
)

type change = func(*gardencorev1beta1.Shoot)

// shoot is one that runs, with a pool, and is updated automatically. It is now in its window.
func shoot(changes ...change) *gardencorev1beta1.Shoot {
	s := &gardencorev1beta1.Shoot{
		ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: "a", UID: "1", CreationTimestamp: metav1.NewTime(now().Add(-1000 * time.Hour))},
		Spec: gardencorev1beta1.ShootSpec{
			CloudProfile: &gardencorev1beta1.CloudProfileReference{Kind: "CloudProfile", Name: "local"},
			Kubernetes:   gardencorev1beta1.Kubernetes{Version: "1.33.1"},
			Maintenance: &gardencorev1beta1.Maintenance{
				TimeWindow: &gardencorev1beta1.MaintenanceTimeWindow{Begin: "030000+0000", End: "040000+0000"},
				AutoUpdate: &gardencorev1beta1.MaintenanceAutoUpdate{KubernetesVersion: true, MachineImageVersion: new(true)},
			},
			Provider: gardencorev1beta1.Provider{Type: "local", Workers: []gardencorev1beta1.Worker{{
				Name: "one", CRI: &gardencorev1beta1.CRI{Name: "containerd"},
				Machine: gardencorev1beta1.Machine{Type: "small", Architecture: new("amd64"), Image: &gardencorev1beta1.ShootMachineImage{Name: "linux", Version: new("1.0.0")}},
			}}},
		},
		Status: gardencorev1beta1.ShootStatus{LastOperation: &gardencorev1beta1.LastOperation{Type: "Reconcile", State: "Succeeded"}},
	}
	for _, c := range changes {
		c(s)
	}
	return s
}

func manually(s *gardencorev1beta1.Shoot) {
	s.Spec.Maintenance.AutoUpdate = &gardencorev1beta1.MaintenanceAutoUpdate{MachineImageVersion: new(false)}
}

func poolVersion(v string) change {
	return func(s *gardencorev1beta1.Shoot) {
		s.Spec.Provider.Workers[0].Kubernetes = &gardencorev1beta1.WorkerKubernetes{Version: &v}
	}
}

func pool(c func(*gardencorev1beta1.Worker)) change {
	return func(s *gardencorev1beta1.Shoot) { c(&s.Spec.Provider.Workers[0]) }
}

// offers makes a profile of versions of Kubernetes and of the image.
func offers(kubernetes, images string, changes ...func(*gardencorev1beta1.MachineImage)) *gardencorev1beta1.CloudProfileSpec {
	image := gardencorev1beta1.MachineImage{Name: "linux"}
	for _, v := range versions(images) {
		image.Versions = append(image.Versions, gardencorev1beta1.MachineImageVersion{ExpirableVersion: v})
	}
	for _, c := range changes {
		c(&image)
	}
	return &gardencorev1beta1.CloudProfileSpec{
		Kubernetes:    gardencorev1beta1.KubernetesSettings{Versions: versions(kubernetes)},
		MachineImages: []gardencorev1beta1.MachineImage{image},
		MachineTypes:  []gardencorev1beta1.MachineType{{Name: "small", Architecture: new("amd64")}},
	}
}

// version changes what is known of one version of the image.
func version(name string, c func(*gardencorev1beta1.MachineImageVersion)) func(*gardencorev1beta1.MachineImage) {
	return func(i *gardencorev1beta1.MachineImage) {
		for j := range i.Versions {
			if i.Versions[j].Version == name {
				c(&i.Versions[j])
			}
		}
	}
}

func servedAll(string) bool { return true }

// outcome is what a plan makes of the versions of a shoot.
type outcome struct {
	Kubernetes, Pool, Image string
	Done, Failed            int
}

func TestPlanOfVersions(t *testing.T) {
	t.Parallel()
	unchanged := outcome{Kubernetes: "1.33.1", Image: "1.0.0"}
	image := func(v string) outcome { return outcome{Kubernetes: "1.33.1", Image: v, Done: 1} }
	for name, tc := range map[string]struct {
		reason  string
		shoot   *gardencorev1beta1.Shoot
		profile *gardencorev1beta1.CloudProfileSpec
		want    outcome
	}{
		"GCM-MAINT-4 nothing new":   {"nothing to do", shoot(), offers("1.33.1", "1.0.0"), unchanged},
		"GCM-MAINT-4 both":          {"both are updated", shoot(), offers("1.33.1 1.33.2", "1.0.0 1.0.1"), outcome{"1.33.2", "", "1.0.1", 2, 0}},
		"GCM-MAINT-4 manually":      {"the owner wants none", shoot(manually), offers("1.33.1 1.33.2", "1.0.0 1.0.1"), unchanged},
		"GCM-MAINT-4 unset":         {"without a word nothing is updated", shoot(func(s *gardencorev1beta1.Shoot) { s.Spec.Maintenance = nil }), offers("1.33.1 1.33.2", "1.0.0 1.0.1"), unchanged},
		"GCM-MAINT-7 Kubernetes":    {"the owner is not asked if it has expired", shoot(manually), offers("1.33.1:expired 1.34.2", "1.0.0"), outcome{"1.34.2", "", "1.0.0", 1, 0}},
		"GCM-MAINT-7 image":         {"nor if the image has", shoot(manually), offers("1.33.1", "1.0.0:expired 1.0.1"), image("1.0.1")},
		"GCM-MAINT-7 gone":          {"nor if both are gone", shoot(manually), offers("1.33.5", "1.0.1"), outcome{"1.33.5", "", "1.0.1", 2, 0}},
		"GCM-MAINT-4 failure":       {"the image is updated all the same", shoot(), offers("1.33.1:expired 1.36.0", "1.0.0 1.0.1"), outcome{"1.33.1", "", "1.0.1", 1, 1}},
		"GCM-MAINT-5 pool":          {"a pool with its own version follows", shoot(poolVersion("1.32.1")), offers("1.33.1 1.32.1 1.32.2", "1.0.0"), outcome{"1.33.1", "1.32.2", "1.0.0", 1, 0}},
		"GCM-MAINT-5 limit":         {"never beyond the control plane", shoot(manually, poolVersion("1.32.1")), offers("1.33.1 1.33.2 1.32.1:expired", "1.0.0"), outcome{"1.33.1", "1.33.1", "1.0.0", 1, 0}},
		"GCM-MAINT-5 together":      {"up to the new version of the control plane", shoot(poolVersion("1.33.1")), offers("1.33.1 1.33.2", "1.0.0"), outcome{"1.33.2", "1.33.2", "1.0.0", 2, 0}},
		"GCM-MAINT-5 manually":      {"not without need", shoot(manually, poolVersion("1.32.1")), offers("1.33.1 1.32.1 1.32.2", "1.0.0"), outcome{"1.33.1", "1.32.1", "1.0.0", 0, 0}},
		"GCM-MAINT-6 no such image": {"the owner has to choose another one", shoot(pool(func(w *gardencorev1beta1.Worker) { w.Machine.Image.Name = "bsd" })), offers("1.33.1", "1.0.0"), outcome{"1.33.1", "", "1.0.0", 0, 1}},
		"GCM-MAINT-6 without image": {"nothing to compare", shoot(pool(func(w *gardencorev1beta1.Worker) { w.Machine.Image = nil })), offers("1.33.1", "1.0.0"), outcome{Kubernetes: "1.33.1"}},
		"GCM-MAINT-6 strategy": {"the profile says how far", shoot(), offers("1.33.1", "1.0.0 1.0.4 1.1.0", func(i *gardencorev1beta1.MachineImage) {
			i.UpdateStrategy = new(gardencorev1beta1.MachineImageUpdateStrategyPatch)
		}), image("1.0.4")},
		"GCM-MAINT-6 end of life":  {"there is nothing newer", shoot(), offers("1.33.1", "1.0.0:expired"), outcome{"1.33.1", "", "1.0.0", 0, 1}},
		"GCM-MAINT-6 architecture": {"an image for other machines", shoot(), offers("1.33.1", "1.0.0 1.0.1 1.0.2", version("1.0.2", func(v *gardencorev1beta1.MachineImageVersion) { v.Architectures = []string{"arm64"} })), image("1.0.1")},
		"GCM-MAINT-6 runtime":      {"an image without the runtime", shoot(), offers("1.33.1", "1.0.0 1.0.1 1.0.2", version("1.0.2", func(v *gardencorev1beta1.MachineImageVersion) { v.CRI = []gardencorev1beta1.CRI{{Name: "docker"}} })), image("1.0.1")},
		"GCM-MAINT-6 sandbox": {"an image without the sandbox", shoot(pool(func(w *gardencorev1beta1.Worker) {
			w.CRI.ContainerRuntimes = []gardencorev1beta1.ContainerRuntime{{Type: "gvisor"}}
		})), offers("1.33.1", "1.0.0 1.0.1 1.0.2", version("1.0.2", func(v *gardencorev1beta1.MachineImageVersion) { v.CRI = []gardencorev1beta1.CRI{{Name: "containerd"}} })), image("1.0.1")},
		"GCM-MAINT-6 kubelet":     {"an image for newer kubelets", shoot(), offers("1.33.1", "1.0.0 1.0.1 1.0.2", version("1.0.2", kubelets(">= 1.34"))), image("1.0.1")},
		"GCM-MAINT-6 new kubelet": {"the version that the pool gets counts", shoot(), offers("1.33.1:expired 1.34.0", "1.0.0 1.0.2", version("1.0.2", kubelets(">= 1.34"))), outcome{"1.34.0", "", "1.0.2", 2, 0}},
		"GCM-MAINT-6 own kubelet": {"that of the pool, not that of the shoot", shoot(poolVersion("1.32.1")), offers("1.33.1 1.32.1", "1.0.0 1.0.2", version("1.0.2", kubelets(">= 1.33"))), outcome{"1.33.1", "1.32.1", "1.0.0", 0, 0}},
		"GCM-MAINT-7 kubelet": {
			"an image that the new kubelets do not work with is replaced, too", shoot(manually),
			offers("1.33.1:expired 1.34.0", "1.0.0 1.0.1", version("1.0.0", kubelets("< 1.34"))),
			outcome{"1.34.0", "", "1.0.1", 2, 0},
		},
		"GCM-MAINT-7 kubelet, none": {
			"and fails if there is no other", shoot(manually),
			offers("1.33.1:expired 1.34.0", "1.0.0 1.0.1", version("1.0.0", kubelets("< 1.34")), version("1.0.1", kubelets("< 1.34"))),
			outcome{"1.34.0", "", "1.0.0", 1, 1},
		},
		"GCM-MAINT-7 kubelet, old": {
			"but stays with the old ones", shoot(manually), offers("1.33.1", "1.0.0 1.0.1", version("1.0.0", kubelets("< 1.34"))), unchanged,
		},
		"GCM-MAINT-7 kubelet in place": {
			"machines that are updated in place get it as well", shoot(manually, inPlace),
			offers("1.33.1:expired 1.34.0", "1.0.0 1.0.1", version("1.0.0", kubelets("< 1.34")), version("1.0.1", fromVersion("1.0.0"))),
			outcome{"1.34.0", "", "1.0.1", 2, 0},
		},
		"GCM-MAINT-7 architecture": {
			"an image that is not for the machines any more", shoot(manually),
			offers("1.33.1", "1.0.0 1.0.1", version("1.0.0", func(v *gardencorev1beta1.MachineImageVersion) { v.Architectures = []string{"arm64"} })), image("1.0.1"),
		},
		"GCM-MAINT-7 runtime": {
			"an image that does not have the runtime any more", shoot(manually),
			offers("1.33.1", "1.0.0 1.0.1", version("1.0.0", func(v *gardencorev1beta1.MachineImageVersion) { v.CRI = []gardencorev1beta1.CRI{{Name: "docker"}} })), image("1.0.1"),
		},
		"GCM-MAINT-7 in place": {
			"machines have it, so it does not matter that none could be updated to it", shoot(manually, inPlace),
			offers("1.33.1", "1.0.0 1.0.1", version("1.0.1", fromVersion("1.0.0"))), unchanged,
		},
		"GCM-MAINT-7 in place, from": {
			"nor from where", shoot(manually, inPlace),
			offers("1.33.1", "1.0.0 1.0.1", version("1.0.0", fromVersion("1.0.1")), version("1.0.1", fromVersion(""))), unchanged,
		},
		"GCM-MAINT-6 in place":       {"an image that machines cannot be updated to", shoot(inPlace), offers("1.33.1", "1.0.0 1.0.1 1.0.2", version("1.0.1", fromVersion(""))), image("1.0.1")},
		"GCM-MAINT-6 in place, from": {"an image that is too far away", shoot(inPlace), offers("1.33.1", "1.0.0 1.0.1 1.0.2", version("1.0.1", fromVersion("1.0.0")), version("1.0.2", fromVersion("1.0.1"))), image("1.0.1")},
		"GCM-MAINT-6 capabilities":   {"an image without what the machines need", shoot(), capable(offers("1.33.1", "1.0.0 1.0.1 1.0.2", version("1.0.1", flavor("amd64", "uefi")), version("1.0.2", flavor("amd64", "bios")))), image("1.0.1")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := tc.shoot.DeepCopy()
			plan := maintenance.Make(tc.shoot, tc.profile, maintenance.Settings{Served: servedAll}, now())
			w := plan.Spec.Provider.Workers[0]
			got := outcome{Kubernetes: plan.Spec.Kubernetes.Version, Done: len(plan.Done()), Failed: len(plan.Failed())}
			if w.Kubernetes != nil {
				got.Pool = *w.Kubernetes.Version
			}
			if w.Machine.Image != nil {
				got.Image = *w.Machine.Image.Version
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nMake(...) (-want +got):\n%s\nsteps %+v", tc.reason, diff, plan.Steps)
			}
			if diff := cmp.Diff(before, tc.shoot); diff != "" {
				t.Errorf("the shoot itself was changed (-before +after):\n%s", diff)
			}
			for range 2 { // an image can be out of reach until the one before it is there
				plan = maintenance.Make(shoot(func(s *gardencorev1beta1.Shoot) { s.Spec = *plan.Spec }), tc.profile, maintenance.Settings{Served: servedAll}, now())
			}
			if len(plan.Done()) > 0 {
				t.Errorf("a plan for what was planned has %+v, want nothing more", plan.Done())
			}
		})
	}
}

func inPlace(s *gardencorev1beta1.Shoot) {
	s.Spec.Provider.Workers[0].UpdateStrategy = new(gardencorev1beta1.MachineUpdateStrategyAutoInPlaceUpdate)
}

func kubelets(constraint string) func(*gardencorev1beta1.MachineImageVersion) {
	return func(v *gardencorev1beta1.MachineImageVersion) { v.KubeletVersionConstraint = &constraint }
}

func fromVersion(least string) func(*gardencorev1beta1.MachineImageVersion) {
	return func(v *gardencorev1beta1.MachineImageVersion) {
		v.InPlaceUpdates = &gardencorev1beta1.InPlaceUpdates{Supported: true}
		if least != "" {
			v.InPlaceUpdates.MinVersionForUpdate = &least
		}
	}
}

func flavor(architecture, boot string) func(*gardencorev1beta1.MachineImageVersion) {
	return func(v *gardencorev1beta1.MachineImageVersion) {
		v.CapabilityFlavors = []gardencorev1beta1.MachineImageFlavor{{Capabilities: gardencorev1beta1.Capabilities{"architecture": {architecture}, "boot": {boot}}}}
	}
}

func capable(p *gardencorev1beta1.CloudProfileSpec) *gardencorev1beta1.CloudProfileSpec {
	p.MachineCapabilities = []gardencorev1beta1.CapabilityDefinition{{Name: "architecture", Values: []string{"amd64", "arm64"}}, {Name: "boot", Values: []string{"uefi", "bios"}}}
	p.MachineTypes[0].Capabilities = gardencorev1beta1.Capabilities{"architecture": {"amd64"}, "boot": {"uefi"}}
	return p
}

func TestSteps(t *testing.T) {
	t.Parallel()
	s := shoot(func(s *gardencorev1beta1.Shoot) {
		s.Spec.Kubernetes.KubeControllerManager = &gardencorev1beta1.KubeControllerManagerConfig{PodEvictionTimeout: &metav1.Duration{Duration: time.Minute}}
		s.Spec.Kubernetes.Version, s.Spec.SecretBindingName = "1.33.1", new("cloud")
	})
	plan := maintenance.Make(s, offers("1.33.1:expired 1.34.0", "1.0.0:expired"), maintenance.Settings{Served: servedAll}, now())
	want := []maintenance.Step{
		{Event: "KubernetesVersionMaintenance", Text: "Kubernetes of the control plane: updated from 1.33.1 to 1.34.0, because the version has expired"},
		{
			Event: "MachineImageVersionMaintenance", Text: `Image "linux" of pool "one": 1.0.0 cannot be updated although the version has expired`,
			Failure: `Image "linux" of pool "one": the image is at the end of its life: another one has to be chosen, or the cloud profile has to offer a newer version that fits the pool`,
		},
		{Text: "Removed what the new version of Kubernetes does not have: spec.kubernetes.kubeControllerManager.podEvictionTimeout"},
		{Text: `SecretBinding "cloud" is replaced by the CredentialsBinding of that name`},
	}
	if diff := cmp.Diff(want, plan.Steps); diff != "" {
		t.Errorf("GCM-MAINT-11, 13: steps (-want +got):\n%s", diff)
	}
	if plan.Binding != "cloud" || plan.Spec.SecretBindingName != nil || *plan.Spec.CredentialsBindingName != "cloud" {
		t.Errorf("GCM-MAINT-13: binding %q, spec %v and %v, want the CredentialsBinding", plan.Binding, plan.Spec.SecretBindingName, plan.Spec.CredentialsBindingName)
	}
}
