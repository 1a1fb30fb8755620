// SPDX-License-Identifier: Apache-2.0

package deploy_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

func apiServer(replicas *int32) *appsv1.Deployment {
	return &appsv1.Deployment{
		ObjectMeta: inNamespace("kube-apiserver"),
		Spec:       appsv1.DeploymentSpec{Replicas: replicas, Selector: &metav1.LabelSelector{}, MinReadySeconds: 1},
	}
}

func TestReplicasAreLeftToAnAutoscaler(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	expect := func(reason string, want *int32) {
		t.Helper()
		got := &appsv1.Deployment{}
		if err := c.Client.Get(t.Context(), types.NamespacedName{Namespace: "shoot--dev--a", Name: "kube-apiserver"}, got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got.Spec.Replicas); diff != "" {
			t.Errorf("%s: replicas (-want +got):\n%s", reason, diff)
		}
	}
	apply := func(replicas *int32) {
		t.Helper()
		if err := c.Apply(t.Context(), apiServer(replicas)); err != nil {
			t.Fatalf("Apply(...) returned %v", err)
		}
	}
	apply(new(int32(3)))
	expect("a number that is wanted is set", new(int32(3)))
	apply(nil)
	expect("one that nobody wants any more stays as it is", new(int32(3)))
	scale := &autoscalingv1.Scale{ObjectMeta: inNamespace("kube-apiserver"), Spec: autoscalingv1.ScaleSpec{Replicas: 5}}
	if err := c.Client.SubResource("scale").Update(t.Context(), apiServer(nil), client.WithSubResourceBody(scale)); err != nil {
		t.Fatal(err)
	}
	apply(nil)
	expect("an autoscaler has scaled", new(int32(5)))
	apply(new(int32(0)))
	expect("a number that is wanted again is set", new(int32(0)))
}

func TestApplyIsOneRequestWhereReplicasAreNotReleased(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	for _, replicas := range []*int32{nil, new(int32(1)), new(int32(1)), nil, nil} {
		if err := c.Apply(t.Context(), apiServer(replicas)); err != nil {
			t.Fatal(err)
		}
	}
	apply := "apply Deployment kube-apiserver"
	if diff := cmp.Diff([]string{apply, apply, apply, apply, apply, apply}, c.writes); diff != "" {
		t.Errorf("five applies of which one releases the replicas (-want +got):\n%s", diff)
	}
}

func TestReplicasAreNotTakenBackFromAnAutoscaler(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	if err := c.Apply(t.Context(), apiServer(new(int32(3)))); err != nil {
		t.Fatal(err)
	}
	var versions []string
	c.Client = interceptor.NewClient(c.Client.(client.WithWatch), interceptor.Funcs{
		Apply: func(ctx context.Context, w client.WithWatch, obj runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
			versions = append(versions, fmt.Sprint(obj.(interface{ GetResourceVersion() string }).GetResourceVersion() != ""))
			return w.Apply(ctx, obj, opts...)
		},
	})
	if err := c.Apply(t.Context(), apiServer(nil)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"true", "false"}, versions); diff != "" {
		t.Errorf("a number that is kept is tied to the version in which it was read (-want +got):\n%s", diff)
	}
}
