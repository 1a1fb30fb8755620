// SPDX-License-Identifier: Apache-2.0

package controlplane_test

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/managed/managedtest"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/cloud"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/cloud/cloudtest"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/controlplane"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/engine"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/volumes"
	"github.com/terrarium-garden/terrarium/tests/golden"
)

func TestRender(t *testing.T) {
	t.Parallel()
	golden.Objects(t, "objects.yaml", controlplane.Render(controlplane.Values{
		Namespace: "shoot--dev--sprout", Image: "terrarium.garden/terrarium:v1", Replicas: 1, KubeconfigChecksum: "0123456789abcdef",
	}))
	golden.Objects(t, "apart.yaml", controlplane.Render(controlplane.Values{
		Namespace: "shoot--dev--sprout", Image: "terrarium.garden/terrarium:v1", Replicas: 1, KubeconfigChecksum: "0123456789abcdef",
		Place: "uid-of-the-cloud", CloudChecksum: "fedcba9876543210", Refused: []netip.Prefix{netip.MustParsePrefix("10.98.0.0/16")},
	}))
	golden.Objects(t, "rights.yaml", controlplane.Rights())
}

// TestAccess sees that nothing runs before it has a token, and that no access is left behind.
func TestAccess(t *testing.T) {
	t.Parallel()
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	const namespace = "shoot--dev--sprout"
	shoot := fake.NewClientBuilder().WithScheme(types).Build()
	claim := volumes.Claim(namespace, "a")
	claim.Status.Phase = corev1.ClaimBound
	seed := fake.NewClientBuilder().WithScheme(types).WithInterceptorFuncs((&managedtest.Manager{Cluster: shoot}).Funcs()).WithObjects(claim,
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "generic-token-kubeconfig"}},
	).Build()
	actor := &controlplane.Actor{Cloud: cloud.InSeed(seed), Access: engine.Access{Reader: seed, Seed: deploy.Engine{Client: seed, Owner: "test", Clock: clock.RealClock{}}}}
	object := &gardenextensionsv1alpha1.ControlPlane{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "sprout"}}
	cluster := &engine.Cluster{Shoot: &gardencorev1beta1.Shoot{}}
	deployed := func() bool {
		return seed.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "cloud-controller-manager"}, &appsv1.Deployment{}) == nil
	}
	synctest.Test(t, func(t *testing.T) {
		for _, program := range []string{"provider-local", "cloud-controller-manager"} {
			reason, waits := kit.WaitReason(actor.Reconcile(t.Context(), object, cluster))
			if !waits || !strings.Contains(reason, "shoot-access-"+program) || deployed() {
				t.Errorf("Reconcile(...) waits for %q, deployed %t: want the token of %s first", reason, deployed(), program)
			}
			secret := &corev1.Secret{}
			if err := seed.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "shoot-access-" + program}, secret); err != nil {
				t.Fatal(err)
			}
			secret.Data = map[string][]byte{"token": []byte("t")}
			secret.Annotations["serviceaccount.resources.gardener.cloud/token-renew-timestamp"] = clock.RealClock{}.Now().Add(time.Hour).Format(time.RFC3339)
			if err := seed.Update(t.Context(), secret); err != nil {
				t.Fatal(err)
			}
		}
		if err := actor.Reconcile(t.Context(), object, cluster); !deployed() {
			t.Errorf("with both tokens, nothing runs: %v", err)
		}
		if err := actor.Delete(t.Context(), object, cluster); err != nil || deployed() {
			t.Errorf("Delete(...) = %v, deployed %t", err, deployed())
		}
	})
	secrets, sets := &corev1.SecretList{}, &gardenresourcesv1alpha1.ManagedResourceList{}
	if err := errors.Join(seed.List(t.Context(), secrets), seed.List(t.Context(), sets)); err != nil {
		t.Fatal(err)
	}
	var left []string
	for i := range secrets.Items {
		left = append(left, "Secret "+secrets.Items[i].Name)
	}
	for i := range sets.Items {
		left = append(left, "ManagedResource "+sets.Items[i].Name)
	}
	if diff := cmp.Diff([]string{"Secret generic-token-kubeconfig"}, left); diff != "" {
		t.Errorf("what a deletion leaves (-want +got):\n%s", diff)
	}
	if err := shoot.Get(t.Context(), client.ObjectKey{Name: "extensions.gardener.cloud:provider-local:cloud-controller-manager"}, &rbacv1.ClusterRole{}); err != nil {
		t.Errorf("the rights are for the shoot to keep: %v", err)
	}
	if err := shoot.Get(t.Context(), client.ObjectKey{Name: "local"}, &storagev1.StorageClass{}); err != nil {
		t.Errorf("the machines have volumes, and the shoot has no class for them: %v", err)
	}
}

// TestCloud: the cloud controller is led to another cluster only if the machines are there. Led to a wrong one, it would delete all Nodes.
func TestCloud(t *testing.T) {
	t.Parallel()
	p := cloudtest.New(t, cloudtest.Kubeconfig)
	generic := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: cloudtest.Namespace, Name: "generic-token-kubeconfig"}}
	if err := p.Create(t.Context(), generic); err != nil {
		t.Fatal(err)
	}
	actor := &controlplane.Actor{Cloud: p.Clouds.Of, Access: engine.Access{Reader: p, Seed: deploy.Engine{Client: p, Owner: "test", Clock: clock.RealClock{}}}}
	object := &gardenextensionsv1alpha1.ControlPlane{ObjectMeta: metav1.ObjectMeta{Namespace: cloudtest.Namespace, Name: "sprout"}}
	cluster, err := engine.ReadCluster(t.Context(), p, cloudtest.Namespace)
	if err != nil {
		t.Fatal(err)
	}
	configured := object.DeepCopy()
	configured.Spec.ProviderConfig = &runtime.RawExtension{Raw: []byte(`{"loadBalancerController":{}}`)}
	if err := actor.Reconcile(t.Context(), configured, cluster); err == nil || !strings.Contains(err.Error(), "spec.provider.controlPlaneConfig") {
		t.Errorf("EXT-CONV-9: Reconcile(...) = %v with a setting that has no effect", err)
	}
	cluster.Shoot.Spec.Hibernation = &gardencorev1beta1.Hibernation{Enabled: new(true)}
	command := func() string {
		deployment := &appsv1.Deployment{}
		if err := p.Get(t.Context(), client.ObjectKey{Namespace: cloudtest.Namespace, Name: "cloud-controller-manager"}, deployment); err != nil {
			t.Fatal(err)
		}
		return strings.Join(deployment.Spec.Template.Spec.Containers[0].Command, " ")
	}
	if err := actor.Reconcile(t.Context(), object, cluster); err != nil {
		t.Fatal(err)
	}
	if got := command(); !strings.HasSuffix(got, " --cloud-kubeconfig=/etc/cloud/kubeconfig --cloud-uid=other --cloud-refused=10.98.0.0/16 --cloud-refused=10.97.0.0/16") {
		t.Errorf("the command is %s", got)
	}
	p.Record(t, p.Find(t))
	p.Provide(t, cloudtest.Kubeconfig+"# another\n")
	p.Other = cloudtest.Cluster(t, "third")
	if err := actor.Reconcile(t.Context(), object, cluster); err == nil || !strings.Contains(command(), "--cloud-uid=other ") {
		t.Errorf("Reconcile(...) = %v, the command is %s", err, command())
	}
}
