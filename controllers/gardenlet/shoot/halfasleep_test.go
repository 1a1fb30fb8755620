// SPDX-License-Identifier: Apache-2.0

package shoot_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/shoot"
)

// TestNamesGoFirst_GLET_HIB_6 puts a shoot to sleep whose name cannot be deleted at first: its API server has stopped by then. As long as
// the name is there, no later run asks the extension to stop its control plane, with which load balancers go: the provider may give their
// addresses to somebody else.
func TestNamesGoFirst_GLET_HIB_6(t *testing.T) {
	t.Parallel()
	e := newEvaluated(t)
	e.run(t)
	if err := e.inside.Delete(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "m-1"}}); err != nil {
		t.Fatal(err)
	}
	named := func() bool {
		return e.exists(t, e.SeedClient, "shoot--dev--a", "a-external", &gardenextensionsv1alpha1.DNSRecord{})
	}
	stopped := func() bool {
		server := &appsv1.Deployment{}
		return e.exists(t, e.SeedClient, "shoot--dev--a", "kube-apiserver", server) && *server.Spec.Replicas == 0
	}
	if !named() || stopped() {
		t.Fatal("the shoot is not awake, or has no name")
	}
	errBroken := errors.New("the provider of names does not answer")
	broken, asked := true, 0
	seed, _ := e.SeedClient.(client.WithWatch)
	e.SeedClient = interceptor.NewClient(seed, interceptor.Funcs{
		Delete: func(ctx context.Context, c client.WithWatch, obj client.Object, options ...client.DeleteOption) error {
			if _, is := obj.(*gardenextensionsv1alpha1.DNSRecord); is && broken {
				return errBroken
			}
			return c.Delete(ctx, obj, options...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, obj client.Object, patch client.Patch, options ...client.PatchOption) error {
			if _, is := obj.(*gardenextensionsv1alpha1.ControlPlane); is && stopped() {
				if asked++; named() {
					t.Error("the control plane is to be stopped while a name leads to the cluster")
				}
			}
			return c.Patch(ctx, obj, patch, options...)
		},
	})
	e.Shoots.Seed = e.SeedClient
	e.shoot.Spec.Hibernation = &gardencorev1beta1.Hibernation{Enabled: new(true)}
	fallAsleep := func() (err error) {
		synctest.Test(t, func(t *testing.T) { err = shoot.RunFlow(t.Context(), e.Reconciler, e.shoot, "shoot--dev--a") })
		return err
	}
	for try := range 3 {
		if err := fallAsleep(); !errors.Is(err, errBroken) || !stopped() || !named() {
			t.Fatalf("run %d: error %v, stopped: %t, a name: %t; want to be in the middle of falling asleep", try, err, stopped(), named())
		}
	}
	if asked > 0 {
		t.Errorf("the extension was asked %d times to stop the control plane", asked)
	}
	broken = false
	if err := fallAsleep(); err != nil {
		t.Fatal(err)
	}
	if named() || asked == 0 {
		t.Errorf("asleep: a name leads to the cluster: %t, the extension was asked to stop the control plane %d times", named(), asked)
	}
}
