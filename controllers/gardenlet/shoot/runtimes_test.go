// SPDX-License-Identifier: Apache-2.0

package shoot_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/shoot"
)

// TestContainerRuntimes follows the runtimes of a shoot through its life: each pool and runtime has an object, those that no pool
// asks for any more are deleted, and a deletion deletes all.
func TestContainerRuntimes(t *testing.T) {
	t.Parallel()
	const namespace = "shoot--dev--a"
	l := newLandscape(t, fresh())
	s := l.shoot(t)
	pool := func(name string, runtimes ...gardencorev1beta1.ContainerRuntime) gardencorev1beta1.Worker {
		return gardencorev1beta1.Worker{Name: name, CRI: &gardencorev1beta1.CRI{Name: "containerd", ContainerRuntimes: runtimes}}
	}
	gvisor := gardencorev1beta1.ContainerRuntime{Type: "gvisor", ProviderConfig: &runtime.RawExtension{Raw: []byte(`{"a":"b"}`)}}
	kata := gardencorev1beta1.ContainerRuntime{Type: "kata"}
	objects := func() (map[string]*gardenextensionsv1alpha1.ContainerRuntime, []string) {
		list := &gardenextensionsv1alpha1.ContainerRuntimeList{}
		if err := l.SeedClient.List(t.Context(), list, client.InNamespace(namespace)); err != nil {
			t.Fatal(err)
		}
		all, names := map[string]*gardenextensionsv1alpha1.ContainerRuntime{}, []string{}
		for i := range list.Items {
			all[list.Items[i].Name], names = &list.Items[i], append(names, list.Items[i].Name)
		}
		slices.Sort(names)
		return all, names
	}
	do := func(what string, want []string, err error) map[string]*gardenextensionsv1alpha1.ContainerRuntime {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		all, names := objects()
		if diff := cmp.Diff(want, names); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
		return all
	}

	s.Spec.Provider.Workers = []gardencorev1beta1.Worker{pool("small", gvisor, kata), pool("large", gvisor), pool("plain"), {Name: "bare"}}
	all := do("EXT-CR-1: one for each pool and runtime", []string{"gvisor-large", "gvisor-small", "kata-small"},
		shoot.DeployRuntimes(t.Context(), l.Reconciler, s, namespace))
	want := gardenextensionsv1alpha1.ContainerRuntimeSpec{
		DefaultSpec: gardenextensionsv1alpha1.DefaultSpec{Type: "gvisor", ProviderConfig: &runtime.RawExtension{Raw: []byte(`{"a":"b"}`)}},
		BinaryPath:  "/var/bin/containerruntimes",
		WorkerPool: gardenextensionsv1alpha1.ContainerRuntimeWorkerPool{Name: "large", Selector: metav1.LabelSelector{MatchLabels: map[string]string{
			"worker.gardener.cloud/pool": "large", "worker.garden.sapcloud.io/group": "large",
		}}},
	}
	if diff := cmp.Diff(want, all["gvisor-large"].Spec); diff != "" {
		t.Errorf("EXT-CR-1: the runtime of a pool (-want +got):\n%s", diff)
	}
	if got := all["gvisor-large"].Annotations["gardener.cloud/operation"]; got != "reconcile" {
		t.Errorf("EXT-AGENT-2: the extension is asked to act, operation = %q", got)
	}

	s.Spec.Provider.Workers = []gardencorev1beta1.Worker{pool("small", kata)}
	do("nothing goes before the machines", []string{"gvisor-large", "gvisor-small", "kata-small"}, shoot.DeployRuntimes(t.Context(), l.Reconciler, s, namespace))
	do("EXT-AGENT-6: what no pool asks for goes", []string{"kata-small"}, shoot.DeleteStaleRuntimes(t.Context(), l.Reconciler, s, namespace))
	do("a deletion takes all", []string{}, shoot.DestroyRuntimes(t.Context(), l.Reconciler, namespace))
	do("and may be repeated", []string{}, shoot.DestroyRuntimes(t.Context(), l.Reconciler, namespace))
}
