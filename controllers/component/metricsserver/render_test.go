// SPDX-License-Identifier: Apache-2.0

package metricsserver_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/component/metricsserver"
	"github.com/terrarium-garden/terrarium/tests/golden"
)

func render(t *testing.T, f facts.Shoot, kubelets string) []client.Object {
	t.Helper()
	in := &component.Inputs{
		Replicas: 1, Images: map[string]string{"metrics-server": "registry.k8s.io/metrics-server/metrics-server:v0.9.0"},
		Secrets: map[string]component.Secret{
			"ca-metrics-server": {Trusted: []byte("authority of metrics-server\n")}, "ca-kubelet": {Trusted: []byte(kubelets)},
			"metrics-server": {Certificate: []byte("certificate\n"), Key: []byte("key\n")},
		},
	}
	objs, err := metricsserver.Component().Render(f, in)
	if err := errors.Join(err, in.Missing()); err != nil {
		t.Fatal(err)
	}
	return objs
}

func values() facts.Shoot {
	return facts.Shoot{Shoot: &gardencorev1beta1.Shoot{}, KubeletsSigned: true}
}

func TestRender(t *testing.T) {
	t.Parallel()
	golden.Objects(t, "default.yaml", render(t, values(), "authority of kubelets\n"))
}

// workload is the Deployment, and the names of the Secrets that its pods use.
func workload(t *testing.T, objs []client.Object) (*appsv1.Deployment, []string) {
	t.Helper()
	var found *appsv1.Deployment
	var used []string
	for _, obj := range objs {
		switch obj := obj.(type) {
		case *appsv1.Deployment:
			found = obj
		case *corev1.Secret:
			if obj.Immutable == nil || !*obj.Immutable || obj.Labels["resources.gardener.cloud/garbage-collectable-reference"] != "true" {
				t.Errorf("Secret %q is not immutable, or not garbage-collected", obj.Name)
			}
			used = append(used, obj.Name)
		}
	}
	if found == nil {
		t.Fatal("there is no Deployment")
	}
	slices.Sort(used)
	return found, used
}

// referred are the names of Secrets in the annotations for the garbage collector.
func referred(annotations map[string]string) []string {
	var names []string
	for key, name := range annotations {
		if len(key) == len("reference.resources.gardener.cloud/secret-01234567") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// TestContentChangesNames: another bundle is another Secret, so that a pod starts anew with it, and the one before stays until no pod
// uses it. Workload and pods name what they use.
func TestContentChangesNames_GRM_GC_5(t *testing.T) {
	t.Parallel()
	first, before := workload(t, render(t, values(), "first\n"))
	second, after := workload(t, render(t, values(), "second\n"))
	if len(before) != 2 || len(after) != 2 || before[0] != after[0] || before[1] == after[1] {
		t.Errorf("Secrets before %q, after %q: want another one for the bundle, and the same for the certificate", before, after)
	}
	for _, c := range []struct {
		of   *appsv1.Deployment
		want []string
	}{{first, before}, {second, after}} {
		if diff := cmp.Diff(c.want, referred(c.of.Annotations)); diff != "" {
			t.Errorf("references of the Deployment (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(c.want, referred(c.of.Spec.Template.Annotations)); diff != "" {
			t.Errorf("references of its pods (-want +got):\n%s", diff)
		}
	}
}

func TestWanted(t *testing.T) {
	t.Parallel()
	c, f := metricsserver.Component(), values()
	if c.IsWanted(f) {
		t.Error("it is wanted in a shoot without nodes")
	}
	f.Shoot.Spec.Provider.Workers = []gardencorev1beta1.Worker{{Name: "small"}}
	if !c.IsWanted(f) {
		t.Error("it is not wanted in a shoot with nodes")
	}
	f.KubeletsSigned = false
	if c.IsWanted(f) {
		t.Error("it is wanted although it could not verify the kubelets")
	}
}
