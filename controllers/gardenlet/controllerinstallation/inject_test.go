// SPDX-License-Identifier: Apache-2.0

package controllerinstallation_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/terrarium-garden/terrarium/controllers/gardenlet/controllerinstallation"
)

// TestInject_EXT_GARDEN_1_GLET_CI_11 tells in a few words what a workload has after the injection.
func TestInject_EXT_GARDEN_1_GLET_CI_11(t *testing.T) {
	t.Parallel()
	const pod = "{initContainers: [{name: i}], containers: [{name: c}]}"
	cases := map[string]struct{ reason, object, want string }{
		"Deployment": {
			reason: "all containers get it", want: "volume mounts=2 kubeconfig=2 seed=2 refers",
			object: "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {template: {spec: " + pod + "}}}",
		},
		"CronJob": {
			reason: "the template is deeper", want: "volume mounts=2 kubeconfig=2 seed=2 refers",
			object: "{apiVersion: batch/v1, kind: CronJob, metadata: {name: a}, spec: {jobTemplate: {spec: {template: {spec: " + pod + "}}}}}",
		},
		"Refused": {
			reason: "a label says no", want: "mounts=0 kubeconfig=0 seed=0",
			object: "{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: a, labels: {extensions.gardener.cloud/inject-garden-kubeconfig: \"false\"}}, spec: {template: {spec: " + pod + "}}}",
		},
		"Own": {
			reason: "its own kubeconfig stays", want: "mounts=0 kubeconfig=1 seed=1",
			object: "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: a}, spec: {template: {spec: {containers: [{name: c, env: [{name: GARDEN_KUBECONFIG, value: mine}]}]}}}}",
		},
		"Other": {
			reason: "kinds of other groups are no workloads", want: "mounts=0 kubeconfig=0 seed=0",
			object: "{apiVersion: example.org/v1, kind: Deployment, metadata: {name: a}, spec: {template: {spec: " + pod + "}}}",
		},
	}
	kubeconfig, err := controllerinstallation.Kubeconfig("demo-x", &rest.Config{Host: "https://garden.example.org"})
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			object := &unstructured.Unstructured{}
			if err := yaml.Unmarshal([]byte(tc.object), &object.Object); err != nil {
				t.Fatal(err)
			}
			for range 2 { // a second time changes nothing
				if err := controllerinstallation.Inject([]client.Object{object}, kubeconfig, "one"); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(tc.want, summary(t, object, kubeconfig.Name)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func summary(t *testing.T, object *unstructured.Unstructured, kubeconfig string) string {
	t.Helper()
	data, err := yaml.Marshal(object.Object)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	var words []string
	if strings.Count(text, "name: garden-access-extension") == 1 {
		words = append(words, "volume")
	}
	for _, pair := range [][2]string{
		{"mounts", "mountPath: /var/run/secrets/gardener.cloud/garden/generic-kubeconfig"},
		{"kubeconfig", "name: GARDEN_KUBECONFIG"},
		{"seed", "name: SEED_NAME"},
	} {
		words = append(words, pair[0]+"="+string(rune('0'+strings.Count(text, pair[1]))))
	}
	if n := strings.Count(text, ": "+kubeconfig+"\n"); n == 3 { // the volume, the workload and its pods
		words = append(words, "refers")
	}
	return strings.Join(words, " ")
}
