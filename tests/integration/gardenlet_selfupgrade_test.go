// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	gardencorev1 "github.com/terrarium-garden/terrarium/apis/core/v1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// TestSelfUpgrade_GLET_GL_1_GLET_GL_2 leaves a Gardenlet in the seed. With the rights of its seed, the gardenlet makes it in the garden, and tells there
// that a process of a test cannot be upgraded.
func TestSelfUpgrade_GLET_GL_1_GLET_GL_2(t *testing.T) {
	t.Parallel()
	n := newNursery(t)
	wanted := &gardenseedmanagementv1alpha1.Gardenlet{
		TypeMeta:   metav1.TypeMeta{APIVersion: "seedmanagement.gardener.cloud/v1alpha1", Kind: "Gardenlet"},
		ObjectMeta: named("garden", "one"),
	}
	wanted.Spec.Deployment.Helm.OCIRepository = gardencorev1.OCIRepository{Ref: new("registry.example.org/gardenlet:v2")}
	wanted.Spec.Config = n.configOf("one")
	manifest, err := yaml.Marshal(wanted)
	if err != nil {
		t.Fatal(err)
	}
	left := &corev1.ConfigMap{ObjectMeta: named("garden", "gardenlet-selfupgrade-config"), Data: map[string]string{"gardenlet.yaml": string(manifest)}}
	n.seed.create(left)
	n.invite(n.token(time.Hour))
	n.run(n.config("one"))

	harness.Await(t, n.garden.Client, wanted, "GLET-GL-1: the gardenlet tells what it cannot do", func(g *gardenseedmanagementv1alpha1.Gardenlet) error {
		c, err := condition(g.Status.Conditions, "GardenletReconciled")
		if err != nil {
			return err
		}
		return has(c.Status == "False" && c.Reason == "ReconcileError" && strings.Contains(c.Message, "does not run as Deployment") &&
			g.Status.ObservedGeneration == g.Generation, "%+v", c)
	})
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
