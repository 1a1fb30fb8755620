// SPDX-License-Identifier: Apache-2.0

package shootstate_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	gardenmachinev1alpha1 "github.com/terrarium-garden/terrarium/apis/machine/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/shootstate"
)

func collect(t *testing.T, objects ...client.Object) (gardencorev1beta1.ShootStateSpec, error) {
	t.Helper()
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	return shootstate.Collect(t.Context(), fake.NewClientBuilder().WithScheme(types).WithObjects(objects...).Build(), sprout())
}

// authority is the Secret without which there is no control plane, and its entry.
func authority() *corev1.Secret { return generated("ca", "x", nil) }

func TestSecrets_GLET_STATE_3(t *testing.T) {
	t.Parallel()
	foreign := generated("ca", "theirs", nil)
	foreign.Namespace = "shoot--meadow--other"
	got, err := collect(
		t, authority(), generated("ssh", "y", map[string]string{"rotation-strategy": "keepold"}), foreign, leaving(generated("old", "z", nil)),
		generated("server", "again", map[string]string{"persist": "false"}), generated("hand", "made", map[string]string{"managed-by": "me"}),
		&corev1.Secret{ObjectMeta: in("plain"), Data: map[string][]byte{"key": []byte("x")}},
	)
	if err != nil {
		t.Fatal(err)
	}
	want := gardencorev1beta1.ShootStateSpec{Gardener: []gardencorev1beta1.GardenerResourceData{
		{
			Name: "ca", Type: "secret", Labels: map[string]string{"managed-by": "secrets-manager", "persist": "true", "name": "ca"},
			Data: runtime.RawExtension{Raw: []byte(`{"key":"eA=="}`)},
		},
		{
			Name: "ssh", Type: "secret", Labels: map[string]string{"managed-by": "secrets-manager", "persist": "true", "name": "ssh", "rotation-strategy": "keepold"},
			Data: runtime.RawExtension{Raw: []byte(`{"key":"eQ=="}`)},
		},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what is generated once, and nothing else (-want +got):\n%s", diff)
	}
}

func TestExtensions_GLET_STATE_1_GLET_STATE_3_EXT_MIG_3(t *testing.T) {
	t.Parallel()
	said := func(state string) gardenextensionsv1alpha1.DefaultStatus {
		return gardenextensionsv1alpha1.DefaultStatus{State: &runtime.RawExtension{Raw: []byte(state)}}
	}
	entry := func(kind, name, state string) gardencorev1beta1.ExtensionResourceState {
		return gardencorev1beta1.ExtensionResourceState{Kind: kind, Name: &name, State: &runtime.RawExtension{Raw: []byte(state)}}
	}
	gone := leaving(&gardenextensionsv1alpha1.Extension{ObjectMeta: in("gone")})
	objects := []client.Object{
		authority(), gone,
		&gardenextensionsv1alpha1.Infrastructure{ObjectMeta: in("silent")}, &gardenextensionsv1alpha1.Network{ObjectMeta: in("null")},
		&gardenextensionsv1alpha1.Infrastructure{ObjectMeta: in("sprout")}, &gardenextensionsv1alpha1.ControlPlane{ObjectMeta: in("sprout")},
		&gardenextensionsv1alpha1.Network{ObjectMeta: in("sprout")}, &gardenextensionsv1alpha1.Worker{ObjectMeta: in("sprout")},
		&gardenextensionsv1alpha1.ContainerRuntime{ObjectMeta: in("gvisor")}, &gardenextensionsv1alpha1.Extension{ObjectMeta: in("addon")},
		&gardenextensionsv1alpha1.DNSRecord{ObjectMeta: in("internal")},
		&gardenextensionsv1alpha1.OperatingSystemConfig{ObjectMeta: in("a"), Spec: gardenextensionsv1alpha1.OperatingSystemConfigSpec{Purpose: "provision"}},
		&gardenextensionsv1alpha1.Infrastructure{ObjectMeta: metav1.ObjectMeta{Namespace: "shoot--meadow--other", Name: "sprout"}},
	}
	for _, object := range objects {
		if o, ok := object.(gardenextensionsv1alpha1.Object); ok && o.GetName() != "silent" {
			*o.GetExtensionStatus() = said(`{"of":"` + o.GetName() + `"}`)
			if o.GetName() == "null" {
				*o.GetExtensionStatus() = said(" null ")
			}
		}
	}
	got, err := collect(t, objects...)
	if err != nil {
		t.Fatal(err)
	}
	config := entry("OperatingSystemConfig", "a", `{"of":"a"}`)
	config.Purpose = new("provision")
	want := []gardencorev1beta1.ExtensionResourceState{
		entry("Infrastructure", "sprout", `{"of":"sprout"}`), entry("ControlPlane", "sprout", `{"of":"sprout"}`), entry("Network", "sprout", `{"of":"sprout"}`), config,
		entry("Worker", "sprout", `{"of":"sprout"}`), entry("ContainerRuntime", "gvisor", `{"of":"gvisor"}`), entry("Extension", "addon", `{"of":"addon"}`),
		entry("DNSRecord", "internal", `{"of":"internal"}`),
	}
	if diff := cmp.Diff(want, got.Extensions); diff != "" {
		t.Errorf("all kinds, without what is silent or in deletion (-want +got):\n%s", diff)
	}
}

func TestReferences_GLET_STATE_3_EXT_MIG_3(t *testing.T) {
	t.Parallel()
	annotated := map[string]string{"a": "b", "kubectl.kubernetes.io/last-applied-configuration": "{}"}
	secret := &corev1.Secret{ObjectMeta: in("state"), Type: "example.org/state", Immutable: new(true), Data: map[string][]byte{"k": []byte("v")}}
	secret.Annotations, secret.Finalizers, secret.Labels = annotated, []string{"example.org/held"}, map[string]string{"c": "d"}
	config := &corev1.ConfigMap{ObjectMeta: in("state"), Data: map[string]string{"k": "v"}}
	network := &gardenextensionsv1alpha1.Network{ObjectMeta: in("sprout")}
	network.Status.Resources = []gardencorev1beta1.NamedResourceReference{refers("v1", "Secret", "state")}
	got, err := collect(t, authority(), secret, config, network, infrastructure("", refers("v1", "Secret", "state"), refers("v1", "ConfigMap", "state")))
	if err != nil {
		t.Fatal(err)
	}
	type content = map[string]any
	metadata := content{"namespace": plane, "name": "state"}
	full := content{"namespace": plane, "name": "state", "annotations": content{"a": "b"}, "labels": content{"c": "d"}}
	want := []gardencorev1beta1.ResourceData{
		{CrossVersionObjectReference: refers("v1", "Secret", "state").ResourceRef, Data: raw(t, content{
			"apiVersion": "v1", "kind": "Secret", "metadata": full, "type": "example.org/state", "immutable": true, "data": content{"k": "dg=="},
		})},
		{CrossVersionObjectReference: refers("v1", "ConfigMap", "state").ResourceRef, Data: raw(t, content{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": content{"k": "v"},
		})},
	}
	decode := cmp.Transformer("decode", func(r runtime.RawExtension) (value any) { _ = json.Unmarshal(r.Raw, &value); return value })
	if diff := cmp.Diff(want, got.Resources, decode); diff != "" {
		t.Errorf("each object once, as another cluster may have it (-want +got):\n%s", diff)
	}
	if len(got.Extensions) != 2 || len(got.Extensions[0].Resources) != 2 || got.Extensions[0].State != nil {
		t.Errorf("an extension may have resources and no state, got %+v", got.Extensions)
	}
}

// TestUnfit_EXT_MIG_3: the gardenlet can read everything in its seed, and reads for an extension only what may be a part of a state.
func TestUnfit_EXT_MIG_3(t *testing.T) {
	t.Parallel()
	elsewhere := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "gardenlet-kubeconfig"}, Data: map[string][]byte{"k": []byte("top secret")}}
	large := func(name string, size int) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: in(name), Data: map[string][]byte{"k": bytes.Repeat([]byte("x"), size)}}
	}
	for name, tc := range map[string]struct {
		reason string
		ref    gardencorev1beta1.NamedResourceReference
		more   []client.Object
		want   string
	}{
		"Deployment":    {"of other kinds, nobody makes an object on the new seed", refers("apps/v1", "Deployment", "x"), nil, `kind "Deployment" of version "apps/v1"`},
		"Other group":   {"the kind alone says nothing", refers("example.org/v1", "Secret", "ca"), nil, `version "example.org/v1"`},
		"Account":       {"a kind of the same group may be more than an extension may read", refers("v1", "ServiceAccount", "default"), nil, `kind "ServiceAccount"`},
		"No name":       {"that would be all", refers("v1", "Secret", ""), nil, "a reference has no name"},
		"Missing":       {"half a state is none", refers("v1", "Secret", "missing"), nil, `Secret "missing" does not exist`},
		"In deletion":   {"what goes is not there", refers("v1", "Secret", "leaves"), []client.Object{leaving(large("leaves", 1))}, `Secret "leaves" does not exist`},
		"Elsewhere":     {"a name is looked up beside the control plane", refers("v1", "Secret", "gardenlet-kubeconfig"), []client.Object{elsewhere}, `does not exist`},
		"Path":          {"and is no path", refers("v1", "Secret", "../garden/gardenlet-kubeconfig"), []client.Object{elsewhere}, `which no object can be named`},
		"Too large":     {"no etcd takes so much", refers("v1", "Secret", "l"), []client.Object{large("l", 1100<<10)}, `what takes most of it is Secret "l" with 1466 KiB`},
		"Both together": {"nor as much in parts", refers("v1", "Secret", "l"), []client.Object{large("l", 700<<10), generated("big", strings.Repeat("x", 400<<10), nil)}, `more than 1400 KiB`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := collect(t, append(tc.more, authority(), infrastructure(`{}`, tc.ref))...)
			if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), `Infrastructure "sprout"`) {
				t.Errorf("%s\nCollect(...) = %v, want an error about the Infrastructure with %q", tc.reason, err, tc.want)
			}
			if strings.Contains(string(raw(t, got).Raw)+err.Error(), "top secret") {
				t.Error("the Secret of another namespace is read")
			}
		})
	}
	if _, err := collect(t, infrastructure(`{}`)); err == nil || !strings.Contains(err.Error(), "none of the Secrets") {
		t.Errorf("a namespace without any Secret of a control plane is not one: got %v", err)
	}
}

func TestMachines_GLET_STATE_3(t *testing.T) {
	t.Parallel()
	of := func(kind, name string) []metav1.OwnerReference {
		return []metav1.OwnerReference{{APIVersion: "machine.sapcloud.io/v1alpha1", Kind: kind, Name: name, Controller: new(true)}}
	}
	deployment := &gardenmachinev1alpha1.MachineDeployment{ObjectMeta: in("d"), Spec: gardenmachinev1alpha1.MachineDeploymentSpec{Replicas: 3}}
	set := &gardenmachinev1alpha1.MachineSet{ObjectMeta: in("s"), Spec: gardenmachinev1alpha1.MachineSetSpec{Replicas: 3}}
	set.OwnerReferences, set.Labels, set.Status.Replicas = of("MachineDeployment", "d"), map[string]string{"machine-template-hash": "1"}, 2
	stranger := &gardenmachinev1alpha1.MachineSet{ObjectMeta: in("stranger")}
	machine := func(name, set, provider string) *gardenmachinev1alpha1.Machine {
		m := &gardenmachinev1alpha1.Machine{ObjectMeta: in(name), Spec: gardenmachinev1alpha1.MachineSpec{ProviderID: provider}}
		m.OwnerReferences, m.Labels, m.Finalizers = of("MachineSet", set), map[string]string{"node": "node-" + name}, []string{"machine.sapcloud.io/machine-controller"}
		m.Status.CurrentStatus.Phase = gardenmachinev1alpha1.MachineRunning
		return m
	}
	objects := []client.Object{
		authority(), deployment, set, stranger, machine("m", "s", "pod/m"), machine("young", "s", ""), leaving(machine("old", "s", "pod/old")),
		machine("lost", "stranger", "pod/lost"),
	}
	got, err := collect(t, objects...)
	if err != nil {
		t.Fatal(err)
	}
	again, err := collect(t, objects...)
	if diff := cmp.Diff(got, again); diff != "" || err != nil {
		t.Errorf("the same machines are another state: %v (-first +second):\n%s", err, diff)
	}
	last := got.Gardener[len(got.Gardener)-1]
	if last.Name != "machine-state" || last.Type != "machine-state" {
		t.Fatalf("the last entry is %q of type %q, want machine-state", last.Name, last.Type)
	}
	want := shootstate.Machines{Deployments: map[string]*shootstate.MachinesOfDeployment{"d": {
		Replicas: 3,
		Sets:     []gardenmachinev1alpha1.MachineSet{{ObjectMeta: metav1.ObjectMeta{Namespace: plane, Name: "s", Labels: set.Labels}, Spec: set.Spec}},
		Machines: []gardenmachinev1alpha1.Machine{{
			ObjectMeta: metav1.ObjectMeta{Namespace: plane, Name: "m", Labels: map[string]string{"node": "node-m"}},
			Spec:       gardenmachinev1alpha1.MachineSpec{ProviderID: "pod/m"},
		}},
	}}}
	if diff := cmp.Diff(want, unpack(t, last.Data.Raw)); diff != "" {
		t.Errorf("machines that exist, and the numbers of them (-want +got):\n%s", diff)
	}
}

// unpack reads machines as a seed does that gets the shoot.
func unpack(t *testing.T, data []byte) shootstate.Machines {
	t.Helper()
	box := struct {
		State []byte `json:"state"`
	}{}
	if err := json.Unmarshal(data, &box); err != nil {
		t.Fatal(err)
	}
	zip, err := gzip.NewReader(bytes.NewReader(box.State))
	if err != nil {
		t.Fatal(err)
	}
	got := shootstate.Machines{}
	if err := errors.Join(json.NewDecoder(zip).Decode(&got), zip.Close()); err != nil {
		t.Fatal(err)
	}
	return got
}
