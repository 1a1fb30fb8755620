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

	"github.com/google/go-cmp/cmp"
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

// marks are the values of a label on an object, in its selector and on its pods.
type marks struct{ Object, Selector, Pods string }

// TestGuaranteesToWebhooks_EXT_WH_2_3 is about what webhooks of extensions rely on, in what the components render.
func TestGuaranteesToWebhooks_EXT_WH_2_3(t *testing.T) {
	t.Parallel()
	const mutable = "provider.extensions.gardener.cloud/mutated-by-controlplane-webhook"
	for folder, name := range map[string]string{"apiserver": "kube-apiserver", "controllermanager": "kube-controller-manager", "scheduler": "kube-scheduler", "machinecontroller": "machine-controller-manager"} {
		d := each[appsv1.Deployment](t, "Deployment", folder, "testdata", "default.yaml")[0]
		containers := d.Spec.Template.Spec.Containers
		names := []string{d.Name}
		for i := range containers {
			names = append(names, containers[i].Name)
		}
		if diff := cmp.Diff([]string{name, name}, names); diff != "" {
			t.Errorf("EXT-WH-2: the Deployment and its only container are called as the component (-want +got):\n%s", diff)
		}
		for _, argument := range slices.Concat(containers[0].Command, containers[0].Args) {
			flag, _, _ := strings.Cut(argument, "=")
			if slices.Contains([]string{"--cloud-provider", "--cloud-config", "--external-cloud-volume-plugin", "--configure-cloud-routes", "--provider-id"}, flag) {
				t.Errorf("EXT-WH-2: %s has %s, which only a provider knows", name, argument)
			}
		}
		got := marks{Object: d.Labels[mutable], Selector: d.Spec.Selector.MatchLabels[mutable], Pods: d.Spec.Template.Labels[mutable]}
		if diff := cmp.Diff(marks{Object: "true"}, got); diff != "" {
			t.Errorf("EXT-WH-3: of %s the object alone is marked, since selectors never change (-want +got):\n%s", name, diff)
		}
	}
	store := each[appsv1.StatefulSet](t, "StatefulSet", "etcd", "testdata", "main.yaml")[0]
	if diff := cmp.Diff(marks{Object: "true"}, marks{Object: store.Labels[mutable], Selector: store.Spec.Selector.MatchLabels[mutable]}); diff != "" {
		t.Errorf("EXT-WH-3: of the store the object is marked (-want +got):\n%s", diff)
	}
	machine := each[gardenextensionsv1alpha1.OperatingSystemConfig](t, "OperatingSystemConfig", "osc", "testdata", "default.yaml")[0]
	at := slices.IndexFunc(machine.Spec.Units, func(u gardenextensionsv1alpha1.Unit) bool { return u.Name == "kubelet.service" })
	config := slices.ContainsFunc(machine.Spec.Files, func(f gardenextensionsv1alpha1.File) bool { return f.Path == "/var/lib/kubelet/config/kubelet" })
	if at < 0 || !config || strings.Count(*machine.Spec.Units[at].Content, "ExecStart=") != 1 || machine.Labels[mutable] != "true" {
		t.Errorf("EXT-WH-2: a machine has units %v, a configuration of the kubelet: %t, labels %v", machine.Spec.Units, config, machine.Labels)
	}
}
