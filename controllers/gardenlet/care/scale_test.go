// SPDX-License-Identifier: Apache-2.0

package care_test

import (
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// TestDNSServersFollowTheNodes adds nodes to shoots of both modes, and to one that is going.
func TestDNSServersFollowTheNodes(t *testing.T) {
	t.Parallel()
	mode := func(m gardencorev1beta1.CoreDNSAutoscalingMode) *gardencorev1beta1.SystemComponents {
		return &gardencorev1beta1.SystemComponents{CoreDNS: &gardencorev1beta1.CoreDNS{Autoscaling: &gardencorev1beta1.CoreDNSAutoscaling{Mode: m}}}
	}
	for name, tc := range map[string]struct {
		reason string
		change func(*gardencorev1beta1.Shoot, *ward)
		want   int32
	}{
		"Proportional": {reason: "three servers for 33 nodes", want: 3, change: func(*gardencorev1beta1.Shoot, *ward) {}},
		"Horizontal": {reason: "an autoscaler does that", want: 2, change: func(s *gardencorev1beta1.Shoot, _ *ward) {
			s.Spec.SystemComponents = mode(gardencorev1beta1.CoreDNSAutoscalingModeHorizontal)
		}},
		"Unset": {reason: "nobody asked", want: 2, change: func(s *gardencorev1beta1.Shoot, _ *ward) { s.Spec.SystemComponents = nil }},
		"Away":  {reason: "an API server that is ill is left alone", want: 2, change: func(_ *gardencorev1beta1.Shoot, w *ward) { w.status = 500 }},
		"Going": {reason: "a shoot in deletion is left alone", want: 2, change: func(s *gardencorev1beta1.Shoot, _ *ward) {
			s.DeletionTimestamp, s.Finalizers = new(metav1.NewTime(time.Unix(1, 0))), []string{"gardener"}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := shoot()
			s.Spec.SystemComponents = mode(gardencorev1beta1.CoreDNSAutoscalingModeClusterProportional)
			early := &ward{}
			tc.change(s, early)
			w := newWard(t, s, controlPlane()...)
			if early.status != 0 {
				w.status = early.status
			}
			servers := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "coredns"}, Spec: appsv1.DeploymentSpec{Replicas: new(int32(2))}}
			put(t, w.inShoot, servers)
			w.look(t) // One node is no reason.
			for i := range 32 {
				n := node(corev1.ConditionTrue)
				n.Name = fmt.Sprintf("more-%d", i)
				put(t, w.inShoot, &n)
			}
			for range 2 {
				w.look(t)
			}
			if err := w.inShoot.Get(t.Context(), client.ObjectKeyFromObject(servers), servers); err != nil || *servers.Spec.Replicas != tc.want {
				t.Errorf("%s: %d DNS servers, %v, want %d", tc.reason, *servers.Spec.Replicas, err, tc.want)
			}
		})
	}
}

func put(t *testing.T, c client.Client, obj client.Object) {
	t.Helper()
	if err := c.Create(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
}
