// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	gardencorev1 "github.com/terrarium-garden/terrarium/apis/core/v1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/chart"
	"github.com/terrarium-garden/terrarium/packaging/charts/gardenlet"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// TestSelfUpgrade_GLET_GL_1_GLET_GL_2 leaves a Gardenlet in the seed. The gardenlet makes it in the garden, with the rights of its seed, and
// upgrades its own Deployment by the chart.
func TestSelfUpgrade_GLET_GL_1_GLET_GL_2(t *testing.T) {
	t.Parallel()
	n := newNursery(t)
	host := openRegistry(t)
	labels := map[string]string{"app": "gardener", "role": "gardenlet"}
	deployment := &appsv1.Deployment{ObjectMeta: named("garden", "gardenlet"), Spec: appsv1.DeploymentSpec{
		Replicas: new(int32(0)), Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "gardenlet", Image: "example.org/terrarium:v1"}}},
		},
	}}
	n.seed.create(deployment)
	wanted := &gardenseedmanagementv1alpha1.Gardenlet{
		TypeMeta:   metav1.TypeMeta{APIVersion: "seedmanagement.gardener.cloud/v1alpha1", Kind: "Gardenlet"},
		ObjectMeta: named("garden", "one"),
	}
	wanted.Spec.Deployment.ReplicaCount = new(int32(0))
	wanted.Spec.Deployment.Image = &gardenseedmanagementv1alpha1.Image{Ref: new("example.org/terrarium:v2")}
	wanted.Spec.Deployment.Helm.OCIRepository = gardencorev1.OCIRepository{Repository: new(host + "/gardenlet"), Tag: new("v2")}
	wanted.Spec.Config = n.configOf("one")
	manifest, err := yaml.Marshal(wanted)
	if err != nil {
		t.Fatal(err)
	}
	left := &corev1.ConfigMap{ObjectMeta: named("garden", "gardenlet-selfupgrade-config"), Data: map[string]string{"gardenlet.yaml": string(manifest)}}
	n.seed.create(left)
	n.invite(n.token(time.Hour))
	n.run(n.config("one"))

	harness.Await(t, n.garden.Client, wanted, "GLET-GL-1: the gardenlet has upgraded itself", func(g *gardenseedmanagementv1alpha1.Gardenlet) error {
		c, err := condition(g.Status.Conditions, "GardenletReconciled")
		if err != nil {
			return err
		}
		return has(c.Status == "True" && c.Reason == "Reconciled" && g.Status.ObservedGeneration == g.Generation, "%+v", c)
	})
	n.seed.read(deployment)
	if got := deployment.Spec.Template.Spec.Containers[0].Image; got != "example.org/terrarium:v2" {
		t.Errorf("GLET-GL-1: the Deployment has the image %q", got)
	}
	config := &corev1.ConfigMap{ObjectMeta: named("garden", "gardenlet-configmap")}
	n.seed.read(config)
	var written struct {
		LogLevel               string
		SeedConfig             struct{ Metadata struct{ Name string } }
		GardenClientConnection struct{ KubeconfigSecret struct{ Name string } }
	}
	if err := yaml.Unmarshal([]byte(config.Data["config.yaml"]), &written); err != nil {
		t.Fatal(err)
	}
	got := []string{written.LogLevel, written.SeedConfig.Metadata.Name, written.GardenClientConnection.KubeconfigSecret.Name}
	if diff := cmp.Diff([]string{"debug", "one", "gardenlet-kubeconfig"}, got); diff != "" {
		t.Errorf("GLET-GL-1: the configuration that the next process starts with (-want +got):\n%s", diff)
	}
	if err := n.seed.Client.Get(t.Context(), client.ObjectKeyFromObject(left), left); !apierrors.IsNotFound(err) {
		t.Errorf("GLET-GL-2: the ConfigMap is left: %v", err)
	}
}

// configOf is the configuration of a gardenlet as a Gardenlet has it: the seed has no name, and the access to the garden is not mentioned.
func (n *nursery) configOf(seed string) runtime.RawExtension {
	n.t.Helper()
	template := n.config(seed).SeedConfig.SeedTemplate
	template.Name = ""
	raw, err := json.Marshal(map[string]any{
		"apiVersion": "gardenlet.config.gardener.cloud/v1alpha1", "kind": "GardenletConfiguration", "logLevel": "debug", "seedConfig": template,
	})
	if err != nil {
		n.t.Fatal(err)
	}
	return runtime.RawExtension{Raw: raw}
}

// openRegistry runs a registry that needs no credentials, with the chart of the gardenlet in gardenlet:v2.
func openRegistry(t *testing.T) string {
	t.Helper()
	packed, err := chart.Pack("gardenlet", gardenlet.Files())
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	host := server.Listener.Addr().String()
	ref, err := name.ParseReference(fmt.Sprintf("%s/gardenlet:v2", host))
	if err != nil {
		t.Fatal(err)
	}
	artifact, err := mutate.AppendLayers(empty.Image, static.NewLayer(packed, "application/vnd.cncf.helm.chart.content.v1.tar+gzip"))
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(ref, artifact); err != nil {
		t.Fatal(err)
	}
	return host
}
