// SPDX-License-Identifier: Apache-2.0

package shoot_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/shoot"
)

const isInternal = "cloud.example.com/internal"

// inward is a gardenlet that knows the handler of an exposure class, and a shoot of that class.
func inward(t *testing.T) *bedroom {
	t.Helper()
	b := newBedroom(t, func(s *gardencorev1beta1.Shoot) { s.Spec.ExposureClassName = new("office") })
	b.give(t, b.GardenClient, &gardencorev1beta1.ExposureClass{ObjectMeta: metav1.ObjectMeta{Name: "office"}, Handler: "inside"})
	b.give(t, b.inside, machineNode())
	b.ExposureHandlers = []gardenconfigv1alpha1.ExposureClassHandler{
		{Name: "outside"},
		{Name: "inside", LoadBalancerService: gardenconfigv1alpha1.LoadBalancerServiceConfig{Annotations: map[string]string{isInternal: "true"}, Class: new("office")}},
	}
	return b
}

// front is the Service of the shoot's API server, nil if there is none.
func (l *landscape) front(t *testing.T) *corev1.Service {
	t.Helper()
	service := &corev1.Service{}
	err := l.SeedClient.Get(t.Context(), client.ObjectKey{Namespace: "shoot--dev--a", Name: "kube-apiserver"}, service)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return service
}

// TestExposureClass exposes the API server of a shoot as the handler of its exposure class says. A load balancer keeps its class.
func TestExposureClass(t *testing.T) {
	t.Parallel()
	b := inward(t)
	b.run(t)
	service := b.front(t)
	if class := service.Spec.LoadBalancerClass; class == nil || *class != "office" || service.Annotations[isInternal] != "true" {
		t.Errorf("the load balancer has class %v and annotations %v", class, service.Annotations)
	}
	if ports := service.Annotations["networking.resources.gardener.cloud/from-world-to-ports"]; ports == "" {
		t.Error("the annotations that open the API server to the world are gone")
	}

	b.ExposureHandlers[1].LoadBalancerService = gardenconfigv1alpha1.LoadBalancerServiceConfig{Annotations: map[string]string{isInternal: "yes"}, Class: new("other")}
	b.run(t)
	service = b.front(t)
	if class := service.Spec.LoadBalancerClass; class == nil || *class != "office" || service.Annotations[isInternal] != "yes" {
		t.Errorf("after the handler changed, the load balancer has class %v and annotations %v", class, service.Annotations)
	}
}

// TestExposureClassIsNeeded: without the handler no operation begins, because another load balancer may be open to more people. A deletion
// begins, and changes nothing of the load balancer.
func TestExposureClassIsNeeded(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		lose func(t *testing.T, b *bedroom)
		want string
	}{
		"Handler": {
			func(_ *testing.T, b *bedroom) { b.ExposureHandlers = b.ExposureHandlers[:1] },
			`the gardenlet of seed "eu-1" does not know the handler "inside" of exposure class "office"`,
		},
		"Class": {
			func(t *testing.T, b *bedroom) {
				t.Helper()
				if err := b.GardenClient.Delete(t.Context(), &gardencorev1beta1.ExposureClass{ObjectMeta: metav1.ObjectMeta{Name: "office"}}); err != nil {
					t.Fatal(err)
				}
			},
			`the garden has no exposure class "office"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := inward(t)
			b.run(t)
			before := b.front(t)
			tc.lose(t, b)
			if _, err := shoot.ExposureFor(t.Context(), b.Reconciler, b.shoot, "shoot--dev--a"); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("the operation began, or ended with %v, want %q", err, tc.want)
			}
			b.shoot.DeletionTimestamp = &metav1.Time{Time: now()}
			got, err := shoot.ExposureFor(t.Context(), b.Reconciler, b.shoot, "shoot--dev--a")
			if diff := cmp.Diff(facts.ExposureOf(before), got); diff != "" || err != nil {
				t.Errorf("for the deletion: %v, -load balancer +wanted\n%s", err, diff)
			}
			b.run(t)
		})
	}
}
