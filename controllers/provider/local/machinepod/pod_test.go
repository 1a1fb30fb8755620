// SPDX-License-Identifier: Apache-2.0

package machinepod_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardenmachinev1alpha1 "github.com/terrarium-garden/terrarium/apis/machine/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/machinepod"
	"github.com/terrarium-garden/terrarium/tests/golden"
)

const namespace = "shoot--dev--sprout"

func TestPod(t *testing.T) {
	t.Parallel()
	full := machinepod.Pod(machinepod.Values{
		Namespace: namespace, Name: "machine-worker-0a500-abcde", Node: `{"labels":{"worker.gardener.cloud/pool":"worker"}}`,
		VolumesClaim: "machine-volumes",
		Spec:         machinepod.Spec{Image: "terrarium.garden/machine:v1.36.3", PauseImage: "terrarium.garden/pause:v1", ImageArchives: "/var/lib/seedling/images"},
	})
	small := machinepod.Pod(machinepod.Values{
		Namespace: namespace, Name: "machine-worker-0a500-fghij", Node: "{}", Spec: machinepod.Spec{Image: "terrarium.garden/machine:v1.36.3"},
	})
	golden.Objects(t, "pods.yaml", []client.Object{full, small})
	if !machinepod.HasVolumes(full) || machinepod.HasVolumes(small) {
		t.Error("a pod does not say whether it has volumes")
	}
}

// TestNodeAnnotation: only machines that have the volumes of the shoot say so, whatever their pool says.
func TestNodeAnnotation(t *testing.T) {
	t.Parallel()
	const here = `"local.provider.extensions.gardener.cloud/volumes":"true"`
	for labels, wanted := range map[string]map[bool]string{
		"none":   {false: `{}`, true: `{"labels":{` + here + `}}`},
		"a":      {false: `{"labels":{"a":"b"}}`, true: `{"labels":{"a":"b",` + here + `}}`},
		"forged": {false: `{}`, true: `{"labels":{` + here + `}}`},
	} {
		for volumes, want := range wanted {
			m := &gardenmachinev1alpha1.Machine{}
			switch labels {
			case "a":
				m.Spec.NodeTemplate.Labels = map[string]string{"a": "b"}
			case "forged":
				m.Spec.NodeTemplate.Labels = map[string]string{"local.provider.extensions.gardener.cloud/volumes": "yes"}
			}
			before := len(m.Spec.NodeTemplate.Labels)
			if got, err := machinepod.NodeAnnotation(m, volumes); got != want || err != nil {
				t.Errorf("NodeAnnotation(%s, %t) = %s, %v, want %s", labels, volumes, got, err, want)
			}
			if len(m.Spec.NodeTemplate.Labels) != before {
				t.Errorf("the machine has changed: %v", m.Spec.NodeTemplate.Labels)
			}
		}
	}
}

func TestName(t *testing.T) {
	t.Parallel()
	key := client.ObjectKey{Namespace: namespace, Name: namespace + "-worker-z1-0123456789-abcde"}
	pod, err := machinepod.Name(key)
	if err != nil || pod != "machine-worker-z1-0123456789-abcde" {
		t.Fatalf("Name(...) = %q, %v", pod, err)
	}
	if back, found := machinepod.MachineOf(namespace, pod); !found || back != key {
		t.Errorf("MachineOf(...) = %v, %t, want %v", back, found, key)
	}
	for _, name := range []string{"another", namespace + "-"} {
		if pod, err := machinepod.Name(client.ObjectKey{Namespace: namespace, Name: name}); err == nil {
			t.Errorf("machine %q gets the pod %q: two machines could share one", name, pod)
		}
	}
	if back, found := machinepod.MachineOf(namespace, "etcd-main-0"); found {
		t.Errorf("etcd-main-0 belongs to machine %v", back)
	}
}

func TestReadSpec(t *testing.T) {
	t.Parallel()
	raw, err := machinepod.Spec{Image: "machine:v1", PauseImage: "pause:v1"}.Raw()
	if err != nil {
		t.Fatal(err)
	}
	spec, err := machinepod.ReadSpec(&gardenmachinev1alpha1.MachineClass{ProviderSpec: raw})
	want := machinepod.Spec{
		APIVersion: "local.provider.extensions.gardener.cloud/v1alpha1", Kind: "MachineSpec", Image: "machine:v1", PauseImage: "pause:v1",
	}
	if diff := cmp.Diff(want, spec); diff != "" || err != nil {
		t.Errorf("ReadSpec(...) error %v (-want +got):\n%s", err, diff)
	}
	for text, wanted := range map[string]string{
		`{"apiVersion":"x","kind":"y","image":"z"}`:                                                              `it is a "y" of "x"`,
		`{"apiVersion":"local.provider.extensions.gardener.cloud/v1alpha1","kind":"MachineSpec"}`:                "providerSpec.image",
		`{"apiVersion":"local.provider.extensions.gardener.cloud/v1alpha1","kind":"MachineSpec","privileges":1}`: `unknown field "privileges"`,
	} {
		_, err := machinepod.ReadSpec(&gardenmachinev1alpha1.MachineClass{ProviderSpec: runtime.RawExtension{Raw: []byte(text)}})
		if err == nil || !strings.Contains(err.Error(), wanted) {
			t.Errorf("ReadSpec(%s) = %v, want an error with %q", text, err, wanted)
		}
	}
}
