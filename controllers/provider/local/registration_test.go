// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/chart"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/provider/local"
	"github.com/terrarium-garden/terrarium/controllers/reach"
	"github.com/terrarium-garden/terrarium/tests/golden"
)

func images() local.Images {
	return local.Images{
		Terrarium: "terrarium:v1", Machine: "machine:v1", NetworkAgent: "agent:v1", Pause: "pause:v1", Archives: "/images",
	}
}

func TestRegistration(t *testing.T) {
	t.Parallel()
	golden.Objects(t, "registration.yaml", []client.Object{local.Registration()})
}

// TestDeployment installs what a gardenlet would: the chart inside of the deployment, with the values beside it.
func TestDeployment(t *testing.T) {
	t.Parallel()
	deployment, err := local.Deployment(images())
	if err != nil {
		t.Fatal(err)
	}
	if deployment.Type != "helm" || deployment.Name != local.Registration().Spec.Deployment.DeploymentRefs[0].Name {
		t.Errorf("deployment %q of type %q is not what the registration refers to", deployment.Name, deployment.Type)
	}
	config := struct {
		Chart  []byte         `json:"chart"`
		Values map[string]any `json:"values"`
	}{}
	if err := json.Unmarshal(deployment.ProviderConfig.Raw, &config); err != nil {
		t.Fatal(err)
	}
	loaded, err := chart.Load(config.Chart)
	if err != nil {
		t.Fatal(err)
	}
	rendered, err := loaded.Render(chart.Release{Name: "provider-local", Namespace: "extension-provider-local", KubernetesVersion: "v1.36.3"}, config.Values)
	if err != nil {
		t.Fatal(err)
	}
	objects := make([]client.Object, 0, len(rendered))
	for _, object := range rendered {
		objects = append(objects, object)
		if object.GetKind() == "Deployment" {
			checkCommand(t, object.Object)
		}
	}
	golden.Objects(t, "chart.yaml", objects)

	again, err := local.Deployment(images())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(deployment, again); diff != "" {
		t.Errorf("every apply would install again, because a second manifest differs from the first (-first +second):\n%s", diff)
	}
}

// checkCommand: a value that the chart does not hand on would be lost without a word.
func checkCommand(t *testing.T, content map[string]any) {
	t.Helper()
	deployment := &appsv1.Deployment{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(content, deployment); err != nil {
		t.Fatal(err)
	}
	want := component.WithWays(deployment.Spec.Selector.MatchLabels, reach.ProviderLocal)
	if diff := cmp.Diff(want, deployment.Spec.Template.Labels); diff != "" {
		t.Errorf("GLET-NP-2: labels of the pods (-want +got):\n%s", diff)
	}
	command := strings.Join(deployment.Spec.Template.Spec.Containers[0].Command, " ")
	for _, flag := range []string{
		"--image=terrarium:v1", "--machine-image=machine:v1", "--network-agent-image=agent:v1", "--pause-image=pause:v1", "--image-archives=/images",
		"--namespace=extension-provider-local",
	} {
		if !strings.Contains(command, flag) {
			t.Errorf("command %q lacks %q", command, flag)
		}
	}
}

func TestKindsAreRegistered(t *testing.T) {
	t.Parallel()
	var want []gardencorev1beta1.ControllerResource
	for _, kind := range local.Kinds() {
		want = append(want, gardencorev1beta1.ControllerResource{Kind: kind, Type: "local"})
	}
	if diff := cmp.Diff(want, local.Registration().Spec.Resources); diff != "" {
		t.Errorf("registered are the kinds that are acted on (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(gardencorev1beta1.GroupVersion.String(), local.Registration().APIVersion); diff != "" {
		t.Errorf("version of the registration (-want +got):\n%s", diff)
	}
}
