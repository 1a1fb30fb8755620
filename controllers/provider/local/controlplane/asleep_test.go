// SPDX-License-Identifier: Apache-2.0

package controlplane_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/cloud/cloudtest"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/controlplane"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/engine"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/loadbalancer"
)

// TestLoadBalancersEnd: of a shoot that sleeps or is deleted, no load balancer is left, once nobody makes another one.
func TestLoadBalancersEnd(t *testing.T) {
	t.Parallel()
	type run func(*controlplane.Actor, *gardenextensionsv1alpha1.ControlPlane, *engine.Cluster) error
	asleep := func(a *controlplane.Actor, object *gardenextensionsv1alpha1.ControlPlane, cluster *engine.Cluster) error {
		cluster.Shoot.Spec.Hibernation = &gardencorev1beta1.Hibernation{Enabled: new(true)}
		return a.Reconcile(t.Context(), object, cluster)
	}
	deleted := func(a *controlplane.Actor, object *gardenextensionsv1alpha1.ControlPlane, cluster *engine.Cluster) error {
		return a.Delete(t.Context(), object, cluster)
	}
	for name, tc := range map[string]struct {
		kubeconfig string
		run        run
	}{
		"Asleep": {run: asleep}, "AsleepApart": {kubeconfig: cloudtest.Kubeconfig, run: asleep}, "Deleted": {run: deleted},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := cloudtest.New(t, tc.kubeconfig)
			place := p.Client
			if tc.kubeconfig != "" {
				place = p.Other
			}
			meta := func(name string, labels map[string]string) metav1.ObjectMeta {
				return metav1.ObjectMeta{Namespace: cloudtest.Namespace, Name: name, Labels: labels}
			}
			balancer := &corev1.Service{ObjectMeta: meta(loadbalancer.Name(client.ObjectKey{Name: "web"}), loadbalancer.Labels())}
			other := &corev1.Service{ObjectMeta: meta("kube-apiserver", nil)}
			program := &corev1.Pod{ObjectMeta: meta("cloud-controller-manager-x", map[string]string{"app": "kubernetes", "role": "cloud-controller-manager"})}
			if err := errors.Join(
				p.Create(t.Context(), &corev1.Secret{ObjectMeta: meta("generic-token-kubeconfig", nil)}),
				place.Create(t.Context(), balancer), place.Create(t.Context(), other), p.Create(t.Context(), program),
			); err != nil {
				t.Fatal(err)
			}
			cluster, err := engine.ReadCluster(t.Context(), p, cloudtest.Namespace)
			if err != nil {
				t.Fatal(err)
			}
			actor := &controlplane.Actor{Cloud: p.Clouds.Of, Access: engine.Access{Reader: p, Seed: deploy.Engine{Client: p, Owner: "test", Clock: clock.RealClock{}}}}
			object := &gardenextensionsv1alpha1.ControlPlane{ObjectMeta: meta("sprout", nil)}
			if reason, waits := kit.WaitReason(tc.run(actor, object, cluster)); !waits || !strings.Contains(reason, "until the cloud controller manager has ended") {
				t.Errorf("it waits for %q, want the end of the program that makes load balancers", reason)
			}
			if err := place.Get(t.Context(), client.ObjectKeyFromObject(balancer), balancer); err != nil {
				t.Errorf("the load balancer goes while the program runs that would make it again: %v", err)
			}
			if err := p.Delete(t.Context(), program); err != nil {
				t.Fatal(err)
			}
			if reason, waits := kit.WaitReason(tc.run(actor, object, cluster)); !waits || !strings.Contains(reason, "load balancers of the cluster are gone") {
				t.Errorf("it waits for %q, want the end of the load balancer", reason)
			}
			if err := tc.run(actor, object, cluster); err != nil {
				t.Errorf("in the end: %v", err)
			}
			left := &corev1.ServiceList{}
			if err := place.List(t.Context(), left); err != nil {
				t.Fatal(err)
			}
			var names []string
			for i := range left.Items {
				names = append(names, left.Items[i].Name)
			}
			if diff := cmp.Diff([]string{other.Name}, names); diff != "" {
				t.Errorf("Services that are left (-want +got):\n%s", diff)
			}
		})
	}
}
