// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperatorv1alpha1 "github.com/terrarium-garden/terrarium/apis/operator/v1alpha1"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// change patches the Garden, which also works when another client has written it meanwhile.
func change(t *testing.T, g *harness.Garden, do func(*gardenObject)) error {
	t.Helper()
	own := described(t, g, "the Garden", func(*gardenObject) error { return nil })
	patch := client.MergeFrom(own.DeepCopy())
	do(own)

	return g.Client.Patch(t.Context(), own, patch)
}

// bounds are those that the Garden shows.
type bounds struct {
	Kubeconfigs *metav1.Duration
	Resources   *gardenoperatorv1alpha1.ResourceAdmissionConfiguration
}

// TestGardenBounds sets further bounds in the Garden: they act in the running server and after a restart, and can be taken back.
func TestGardenBounds(t *testing.T) {
	t.Parallel()
	g := harness.Start(t)
	described(t, g, "the server is well", well)
	lifetime := func(d time.Duration) func(*gardenObject) {
		return func(own *gardenObject) {
			own.Spec.VirtualCluster.Gardener.APIServer.ShootAdminKubeconfigMaxExpiration = &metav1.Duration{Duration: d}
		}
	}
	err := change(t, g, lifetime(48*time.Hour))
	if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "shoots.maxKubeconfigLifetime") {
		t.Errorf("Kubeconfigs do not last longer than the configuration says: got %v", err)
	}
	if err := change(t, g, lifetime(2*time.Hour)); err != nil {
		t.Fatal(err)
	}

	none := int64(0)
	limit := func(c *gardenoperatorv1alpha1.ResourceAdmissionConfiguration) func(*gardenObject) {
		return func(own *gardenObject) {
			own.Spec.VirtualCluster.Gardener.AdmissionController.ResourceAdmissionConfiguration = c
		}
	}
	// A limit for everything, which everybody but the server itself is above.
	all := &gardenoperatorv1alpha1.ResourceAdmissionConfiguration{Limits: []gardenoperatorv1alpha1.ResourceLimit{{Resources: []string{"*"}, Count: &none}}}
	if err := change(t, g, limit(all)); err != nil {
		t.Fatal(err)
	}
	refuses(t, g, "first")
	g.Stop(t)
	again := harness.Start(t, harness.WithDataDir(g.DataDir))
	described(t, again, "the bounds are kept", func(own *gardenObject) error {
		of := own.Spec.VirtualCluster.Gardener
		got := bounds{Kubeconfigs: of.APIServer.ShootAdminKubeconfigMaxExpiration, Resources: of.AdmissionController.ResourceAdmissionConfiguration}
		diff := cmp.Diff(bounds{Kubeconfigs: &metav1.Duration{Duration: 2 * time.Hour}, Resources: all}, got)

		return is(diff == "", "bounds (-want +got):\n%s", diff)
	})
	refuses(t, again, "second")
	if err := change(t, again, limit(nil)); err != nil {
		t.Fatalf("The Garden itself has no limits, so that they can be taken back: %v", err)
	}
	harness.Eventually(t, "the limits are taken back", func(ctx context.Context) error {
		return again.Client.Create(ctx, &gardencorev1beta1.Project{ObjectMeta: metav1.ObjectMeta{Name: "third"}})
	})
	if err := change(t, again, lifetime(24*time.Hour)); err != nil {
		t.Fatal(err)
	}
	described(t, again, "what is no further bound is not shown as one", func(own *gardenObject) error {
		longest := own.Spec.VirtualCluster.Gardener.APIServer.ShootAdminKubeconfigMaxExpiration

		return is(longest == nil, "longest %v", longest)
	})
}

// refuses waits until projects are refused because of a limit.
func refuses(t *testing.T, g *harness.Garden, name string) {
	t.Helper()
	for _, name := range []string{name + "-a", name + "-b"} {
		harness.Eventually(t, "there are too many projects", func(ctx context.Context) error {
			err := g.Client.Create(ctx, &gardencorev1beta1.Project{ObjectMeta: metav1.ObjectMeta{Name: name}})
			if err == nil {
				return errors.Join(errors.New("it was created"), g.Client.Delete(ctx, &gardencorev1beta1.Project{ObjectMeta: metav1.ObjectMeta{Name: name}}))
			}

			return is(strings.Contains(err.Error(), "at most 0 are allowed"), "got %v", err)
		})
	}
}
