// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

var errThere = errors.New("it is still there")

// TestWatchesWithin has the garbage collector delete an object of the garden, and looks for what the server watches at its own port: each of these watches
// sends and holds all objects of its kind once more. The server has a process of its own, as metrics are counted for a whole process.
func TestWatchesWithin(t *testing.T) {
	t.Parallel()
	_, kubeconfig := startChild(t, t.TempDir())
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	kinds, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(config, client.Options{Scheme: kinds})
	if err != nil {
		t.Fatal(err)
	}
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}

	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "owner"}}
	if err := c.Create(t.Context(), owner); err != nil {
		t.Fatal(err)
	}
	owned := &gardencorev1beta1.Quota{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: "owned",
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID}},
		},
		Spec: gardencorev1beta1.QuotaSpec{
			Scope:   corev1.ObjectReference{APIVersion: "core.gardener.cloud/v1beta1", Kind: "Project"},
			Metrics: corev1.ResourceList{"cpu": resource.MustParse("1")},
		},
	}
	if err := c.Create(t.Context(), owned); err != nil {
		t.Fatal(err)
	}
	if err := c.Delete(t.Context(), owner); err != nil {
		t.Fatal(err)
	}
	harness.Eventually(t, "the quota of a deleted owner is deleted", func(ctx context.Context) error {
		err := c.Get(ctx, client.ObjectKeyFromObject(owned), &gardencorev1beta1.Quota{})
		if apierrors.IsNotFound(err) {
			return nil
		}

		return errors.Join(errThere, err)
	})

	metrics, err := kube.RESTClient().Get().AbsPath("/metrics").Do(t.Context()).Raw()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"apiservices", "customresourcedefinitions", // They have servers of their own in the chain.
		"configmaps",            // Only one of them is watched there.
		"controllerdeployments", // Controllers use another version of them than the one in which they are stored.
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, watched(string(metrics))); diff != "" {
		t.Errorf("what the server watches at its own port (-want +got):\n%s", diff)
	}
}

// watched returns the resources that are watched at the port.
func watched(metrics string) []string {
	var all []string
	for _, found := range regexp.MustCompile(`(?m)^apiserver_longrunning_requests\{.*resource="([a-z]+)".* [1-9][0-9]*$`).FindAllStringSubmatch(metrics, -1) {
		all = append(all, found[1])
	}
	slices.Sort(all)

	return slices.Compact(all)
}
