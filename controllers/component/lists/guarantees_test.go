// SPDX-License-Identifier: Apache-2.0

package lists_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/yaml"

	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
)

// each decodes the documents of a golden file of a component, of one kind.
func each[T any](t *testing.T, kind string, path ...string) []*T {
	t.Helper()
	file, err := os.ReadFile(filepath.Join(append([]string{".."}, path...)...))
	if err != nil {
		t.Fatal(err)
	}
	var found []*T
	for reader := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(file))); ; {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(document, []byte("\nkind: "+kind+"\n")) {
			continue
		}
		object := new(T)
		if err := yaml.Unmarshal(document, object); err != nil {
			t.Fatal(err)
		}
		found = append(found, object)
	}
	if len(found) == 0 {
		t.Fatalf("%v has no %s", path, kind)
	}
	return found
}

// TestGuaranteesToWebhooks_EXT_WH_2_3 is about what webhooks of extensions rely on, in what the components render.
func TestGuaranteesToWebhooks_EXT_WH_2_3(t *testing.T) {
	t.Parallel()
	const mutable = "provider.extensions.gardener.cloud/mutated-by-controlplane-webhook"
	for folder, name := range map[string]string{"apiserver": "kube-apiserver", "controllermanager": "kube-controller-manager", "scheduler": "kube-scheduler", "machinecontroller": "machine-controller-manager"} {
		d := each[appsv1.Deployment](t, "Deployment", folder, "testdata", "default.yaml")[0]
		containers := d.Spec.Template.Spec.Containers
		if d.Name != name || len(containers) != 1 || containers[0].Name != name {
			t.Errorf("EXT-WH-2: the container of Deployment %q is not called as the component: %d containers, the first is %q", d.Name, len(containers), containers[0].Name)
		}
		for _, argument := range slices.Concat(containers[0].Command, containers[0].Args) {
			flag, _, _ := strings.Cut(argument, "=")
			if slices.Contains([]string{"--cloud-provider", "--cloud-config", "--external-cloud-volume-plugin", "--configure-cloud-routes", "--provider-id"}, flag) {
				t.Errorf("EXT-WH-2: %s has %s, which only a provider knows", name, argument)
			}
		}
		if d.Labels[mutable] != "true" || d.Spec.Selector.MatchLabels[mutable] != "" || d.Spec.Template.Labels[mutable] != "" {
			t.Errorf("EXT-WH-3: %s has labels %v, selects %v and its pods have %v: the object alone is marked, since selectors never change",
				name, d.Labels, d.Spec.Selector.MatchLabels, d.Spec.Template.Labels)
		}
	}
	store := each[appsv1.StatefulSet](t, "StatefulSet", "etcd", "testdata", "main.yaml")[0]
	if store.Labels[mutable] != "true" || store.Spec.Selector.MatchLabels[mutable] != "" {
		t.Errorf("EXT-WH-3: the store has labels %v and selects %v", store.Labels, store.Spec.Selector.MatchLabels)
	}
	machine := each[gardenextensionsv1alpha1.OperatingSystemConfig](t, "OperatingSystemConfig", "osc", "testdata", "default.yaml")[0]
	at := slices.IndexFunc(machine.Spec.Units, func(u gardenextensionsv1alpha1.Unit) bool { return u.Name == "kubelet.service" })
	config := slices.ContainsFunc(machine.Spec.Files, func(f gardenextensionsv1alpha1.File) bool { return f.Path == "/var/lib/kubelet/config/kubelet" })
	if at < 0 || !config || strings.Count(*machine.Spec.Units[at].Content, "ExecStart=") != 1 || machine.Labels[mutable] != "true" {
		t.Errorf("EXT-WH-2: a machine has units %v, a configuration of the kubelet: %t, labels %v", machine.Spec.Units, config, machine.Labels)
	}
}
