// SPDX-License-Identifier: Apache-2.0

package operatingsystemconfig_test

import (
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
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/engine"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/operatingsystemconfig"
)

// made says what a status has: user data, and the files and units of the extension.
type made struct {
	UserData     bool
	Files, Units []string
}

func madeOf(o *gardenextensionsv1alpha1.OperatingSystemConfig) made {
	m := made{UserData: o.Status.CloudConfig != nil}
	for i := range o.Status.ExtensionFiles {
		m.Files = append(m.Files, o.Status.ExtensionFiles[i].Path)
	}
	for i := range o.Status.ExtensionUnits {
		m.Units = append(m.Units, o.Status.ExtensionUnits[i].Name)
	}
	return m
}

// TestBothPurposes_EXT_OSC_4 has both configurations of a pool that asks for a container runtime, in a shoot whose machines people log in to.
func TestBothPurposes_EXT_OSC_4(t *testing.T) {
	t.Parallel()
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	seed := fake.NewClientBuilder().WithScheme(types).Build()
	actor := &operatingsystemconfig.Actor{Access: engine.Access{Reader: seed, Seed: deploy.Engine{Client: seed, Owner: "test"}}}
	shoot := &gardencorev1beta1.Shoot{}
	shoot.Spec.Provider.Workers = []gardencorev1beta1.Worker{{Name: "small", CRI: &gardencorev1beta1.CRI{
		ContainerRuntimes: []gardencorev1beta1.ContainerRuntime{{Type: "local"}},
	}}}
	object := func(name string, purpose gardenextensionsv1alpha1.OperatingSystemConfigPurpose) *gardenextensionsv1alpha1.OperatingSystemConfig {
		o := &gardenextensionsv1alpha1.OperatingSystemConfig{ObjectMeta: metav1.ObjectMeta{
			Namespace: "shoot--dev--a", Name: name, Labels: map[string]string{"worker.gardener.cloud/pool": "small"},
		}}
		o.Spec = spec{Purpose: purpose, Files: []file{{Path: "/etc/motd", Content: inline("hello")}}}
		if err := actor.Reconcile(t.Context(), o, &engine.Cluster{Shoot: shoot}); err != nil {
			t.Fatal(err)
		}
		return o
	}

	first := object("a-init", gardenextensionsv1alpha1.OperatingSystemConfigPurposeProvision)
	if diff := cmp.Diff(made{UserData: true}, madeOf(first)); diff != "" {
		t.Errorf("new machines have user data and nothing else (-want +got):\n%s", diff)
	}
	kept := object("a-original", gardenextensionsv1alpha1.OperatingSystemConfigPurposeReconcile)
	want := made{Files: []string{"/var/bin/containerruntimes/local", "/etc/machine/sshd_config"}, Units: []string{"machine-sshd.service"}}
	if diff := cmp.Diff(want, madeOf(kept)); diff != "" {
		t.Errorf("machines that run have the runtime and the SSH server and no user data (-want +got):\n%s", diff)
	}
	err = seed.Get(t.Context(), client.ObjectKey{Namespace: "shoot--dev--a", Name: "osc-result-a-original"}, &corev1.Secret{})
	if client.IgnoreNotFound(err) != nil || err == nil {
		t.Errorf("there is user data that nobody needs: %v", err)
	}

	broken := object("a-original", gardenextensionsv1alpha1.OperatingSystemConfigPurposeReconcile)
	broken.Spec.Units = []unit{{Name: "a.service", Content: new("[Service]\nExecStart=/a\nExecStart=/b\n")}}
	if err := actor.Reconcile(t.Context(), broken, nil); err == nil {
		t.Error("a unit that no machine could run is accepted, and every agent would fail with it")
	}
	configured := object("a-init", gardenextensionsv1alpha1.OperatingSystemConfigPurposeProvision)
	configured.Spec.ProviderConfig = &runtime.RawExtension{Raw: []byte(`{"kernel":"old"}`)}
	if err := actor.Reconcile(t.Context(), configured, nil); err == nil || !strings.Contains(err.Error(), "machine.image.providerConfig") {
		t.Errorf("EXT-CONV-9: Reconcile(...) = %v with a setting that has no effect", err)
	}
}
