// SPDX-License-Identifier: Apache-2.0

package network_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/managed/managedtest"
	"github.com/terrarium-garden/terrarium/controllers/operation"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/engine"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/network"
	"github.com/terrarium-garden/terrarium/tests/golden"
)

func TestRender(t *testing.T) {
	t.Parallel()
	golden.Objects(t, "objects.yaml", network.Render("terrarium.garden/seedling:v1.36.3", "10.100.0.0/16"))
}

func newShoot(t *testing.T) client.Client {
	t.Helper()
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	return fake.NewClientBuilder().WithScheme(types).Build()
}

// newActor acts on a seed whose resource manager serves the shoot.
func newActor(t *testing.T, shoot client.Client) *network.Actor {
	t.Helper()
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	seed := fake.NewClientBuilder().WithScheme(types).WithInterceptorFuncs((&managedtest.Manager{Cluster: shoot}).Funcs()).Build()
	return &network.Actor{Access: engine.Access{
		Seed:   deploy.Engine{Client: seed, Owner: "test", Clock: clock.RealClock{}},
		Images: engine.Images{NetworkAgent: "agent:v1"},
	}}
}

func newNetwork() *gardenextensionsv1alpha1.Network {
	n := &gardenextensionsv1alpha1.Network{ObjectMeta: metav1.ObjectMeta{Namespace: "shoot--dev--sprout", Name: "sprout"}}
	n.Spec.Type, n.Spec.PodCIDR, n.Spec.ServiceCIDR = "local", "10.100.0.0/16", "10.101.0.0/16"
	return n
}

func newCluster() *engine.Cluster {
	return &engine.Cluster{Shoot: &gardencorev1beta1.Shoot{}, CloudProfile: &gardencorev1beta1.CloudProfile{}}
}

func deployed(t *testing.T, shoot client.Client) bool {
	t.Helper()
	err := shoot.Get(t.Context(), client.ObjectKey{Namespace: "kube-system", Name: "local-network"}, &appsv1.DaemonSet{})
	if client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	return err == nil
}

func TestLife(t *testing.T) {
	t.Parallel()
	shoot := newShoot(t)
	actor, object := newActor(t, shoot), newNetwork()
	if err := actor.Reconcile(t.Context(), object, newCluster()); err != nil {
		t.Fatal(err)
	}
	if !deployed(t, shoot) {
		t.Fatal("the agent is not in the shoot")
	}
	if diff := cmp.Diff([]gardenextensionsv1alpha1.IPFamily{gardenextensionsv1alpha1.IPFamilyIPv4}, object.Status.IPFamilies); diff != "" {
		t.Errorf("families in the status (-want +got):\n%s", diff)
	}
	if err := actor.Migrate(t.Context(), object, newCluster()); err != nil || !deployed(t, shoot) {
		t.Errorf("Migrate(...) = %v, deployed %t: nothing in the shoot may go with a migration", err, deployed(t, shoot))
	}
	if err := actor.Reconcile(t.Context(), object, newCluster()); err != nil {
		t.Fatal(err)
	}
	if err := actor.Delete(t.Context(), object, newCluster()); err != nil || deployed(t, shoot) {
		t.Errorf("Delete(...) = %v, deployed %t", err, deployed(t, shoot))
	}
}

func TestReconcileRefuses(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		change func(*gardenextensionsv1alpha1.Network, *gardencorev1beta1.Shoot)
		want   string
	}{
		"NoProxy": {
			reason: "Services would not be routed",
			change: func(_ *gardenextensionsv1alpha1.Network, s *gardencorev1beta1.Shoot) {
				s.Spec.Kubernetes.KubeProxy = &gardencorev1beta1.KubeProxyConfig{Enabled: new(false)}
			},
			want: "needs kube-proxy",
		},
		"IPv6": {
			reason: "only IPv4 is served",
			change: func(n *gardenextensionsv1alpha1.Network, _ *gardencorev1beta1.Shoot) {
				n.Spec.IPFamilies = []gardenextensionsv1alpha1.IPFamily{gardenextensionsv1alpha1.IPFamilyIPv6}
			},
			want: "serves IPv4 only, not IPv6",
		},
		"Configured": {
			reason: "there is nothing to configure",
			change: func(n *gardenextensionsv1alpha1.Network, _ *gardencorev1beta1.Shoot) {
				n.Spec.ProviderConfig = &runtime.RawExtension{Raw: []byte(`{"backend":"none"}`)}
			},
			want: "spec.networking.providerConfig",
		},
		"Broken": {
			reason: "an invalid network is named",
			change: func(n *gardenextensionsv1alpha1.Network, _ *gardencorev1beta1.Shoot) { n.Spec.PodCIDR = "10.100" },
			want:   `the pod network "10.100" is not an IPv4 network`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shoot, object, cluster := newShoot(t), newNetwork(), newCluster()
			tc.change(object, cluster.Shoot)
			err := newActor(t, shoot).Reconcile(t.Context(), object, cluster)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("%s\nReconcile(...) = %v, want an error with %q", tc.reason, err, tc.want)
			}
			if diff := cmp.Diff([]gardencorev1beta1.ErrorCode{gardencorev1beta1.ErrorCodeConfigurationProblem}, operation.Codes(err)); diff != "" {
				t.Errorf("%s\ncodes (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestForcedDeletion(t *testing.T) {
	t.Parallel()
	shoot, object, forced := newShoot(t), newNetwork(), newCluster()
	forced.Shoot.DeletionTimestamp = new(metav1.Now())
	forced.Shoot.Annotations = map[string]string{gardencorev1beta1.AnnotationConfirmationForceDeletion: "true"}
	actor := newActor(t, shoot)
	if err := actor.Reconcile(t.Context(), object, newCluster()); err != nil {
		t.Fatal(err)
	}
	if err := actor.Delete(t.Context(), object, forced); err != nil || !deployed(t, shoot) {
		t.Errorf("Delete(...) = %v: a forced deletion does not wait for a shoot that may not answer", err)
	}
}
