// SPDX-License-Identifier: Apache-2.0

package infrastructure_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/operation"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/cloud"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/cloud/cloudtest"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/dnsrecord"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/engine"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/infrastructure"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/volumes"
	"github.com/terrarium-garden/terrarium/tests/golden"
)

func TestRender(t *testing.T) {
	t.Parallel()
	golden.Objects(t, "objects.yaml", infrastructure.Render("shoot--dev--sprout"))
}

func accessTo(p *cloudtest.Place) engine.Access {
	return engine.Access{Reader: p, Seed: deploy.Engine{Client: p, Owner: "test", Clock: clock.RealClock{}}}
}

func clusterOf(t *testing.T, p *cloudtest.Place) *engine.Cluster {
	t.Helper()
	cluster, err := engine.ReadCluster(t.Context(), p, cloudtest.Namespace)
	if err != nil {
		t.Fatal(err)
	}
	return cluster
}

func made(t *testing.T, c client.Client) int {
	t.Helper()
	return cloudtest.Count(t, c, &corev1.ConfigMapList{}, &corev1.ServiceList{}, &networkingv1.NetworkPolicyList{})
}

// TestApart: in another cluster there is all that machines need, in the seed there is nothing, and after the deletion nowhere.
func TestApart(t *testing.T) {
	t.Parallel()
	p := cloudtest.New(t, cloudtest.Kubeconfig)
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "one"}, Spec: corev1.NodeSpec{PodCIDR: "10.96.0.0/24"}}
	if err := p.Other.Create(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	actor := &infrastructure.Actor{Access: accessTo(p), Cloud: p.Clouds.Of}
	records := &dnsrecord.Actor{Access: accessTo(p), Cloud: p.Clouds.Of}
	object, cluster := p.Infrastructure(t), clusterOf(t, p)
	record := &gardenextensionsv1alpha1.DNSRecord{ObjectMeta: metav1.ObjectMeta{Namespace: cloudtest.Namespace, Name: "api"}}
	record.Spec.Type, record.Spec.Name, record.Spec.RecordType, record.Spec.Values = "local", "api.sprout", "A", []string{"10.99.1.1"}
	if err := p.Create(t.Context(), record); err != nil {
		t.Fatal(err)
	}
	if _, waits := kit.WaitReason(records.Reconcile(t.Context(), record, cluster)); !waits {
		t.Error("the record does not wait for a namespace")
	}
	if _, waits := kit.WaitReason(actor.Reconcile(t.Context(), object, cluster)); !waits || made(t, p.Other) != 0 {
		t.Error("something is made before it is written down where")
	}
	if err := p.Other.Get(t.Context(), client.ObjectKey{Name: cloudtest.Namespace}, &corev1.Namespace{}); !apierrors.IsNotFound(err) {
		t.Errorf("the namespace is made before it is written down where: %v", err)
	}
	if place, known, err := cloud.Recorded(object); place != "other" || !known || err != nil {
		t.Errorf("recorded is %q, %t, %v", place, known, err)
	}
	for range 2 {
		if err := actor.Reconcile(t.Context(), object, cluster); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"10.96.0.0/24"}, object.Status.Networking.Nodes); diff != "" {
		t.Errorf("networks of the nodes (-want +got):\n%s", diff)
	}
	if place, known, err := cloud.Recorded(object); place != "other" || !known || err != nil {
		t.Errorf("recorded is %q, %t, %v", place, known, err)
	}
	if err := records.Reconcile(t.Context(), record, cluster); err != nil {
		t.Fatal(err)
	}
	hosts := &corev1.ConfigMap{}
	if err := p.Other.Get(t.Context(), client.ObjectKey{Namespace: cloudtest.Namespace, Name: "dns-records"}, hosts); err != nil || !strings.Contains(hosts.Data["hosts"], "10.99.1.1\tapi.sprout") {
		t.Errorf("the hosts file of the machines is %v, %v", hosts.Data, err)
	}
	if there, here := made(t, p.Other), made(t, p); there != 3 || here != 0 {
		t.Errorf("%d objects in the other cluster, %d in the seed: want a hosts file, a policy and a Service there", there, here)
	}
	if _, waits := kit.WaitReason(actor.Delete(t.Context(), object, cluster)); !waits {
		t.Error("nobody waits for the end of the namespace")
	}
	if err := actor.Delete(t.Context(), object, cluster); err != nil {
		t.Fatal(err)
	}
	if err := p.Other.Get(t.Context(), client.ObjectKey{Name: cloudtest.Namespace}, &corev1.Namespace{}); !apierrors.IsNotFound(err) {
		t.Errorf("the namespace of the machines: %v", err)
	}
	if err := records.Delete(t.Context(), record, cluster); err != nil {
		t.Errorf("a record without a namespace: %v", err)
	}
}

// TestVolumes: where there is a class for it, machines are not made before there is a place for volumes. It goes with the infrastructure.
func TestVolumes(t *testing.T) {
	t.Parallel()
	p := cloudtest.New(t, "")
	class := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{
		Name: "a", Annotations: map[string]string{"storageclass.kubernetes.io/is-default-class": "true"},
	}}
	claim := volumes.Claim(cloudtest.Namespace, "a")
	claim.CreationTimestamp = metav1.Now()
	if err := errors.Join(p.Create(t.Context(), class), p.Create(t.Context(), claim)); err != nil {
		t.Fatal(err)
	}
	actor := &infrastructure.Actor{Access: accessTo(p), Cloud: p.Clouds.Of}
	object, cluster := p.Infrastructure(t), clusterOf(t, p)
	if reason, waits := kit.WaitReason(actor.Reconcile(t.Context(), object, cluster)); !waits || object.Status.Networking != nil {
		t.Errorf("Reconcile(...) waits for %q, networks %v: want that it waits for the claim", reason, object.Status.Networking)
	}
	claim.Status.Phase = corev1.ClaimBound
	if err := p.Status().Update(t.Context(), claim); err != nil {
		t.Fatal(err)
	}
	if err := actor.Reconcile(t.Context(), object, cluster); err != nil || object.Status.Networking == nil {
		t.Errorf("Reconcile(...) = %v, networks %v", err, object.Status.Networking)
	}
	if err := actor.Delete(t.Context(), object, cluster); err != nil {
		t.Fatal(err)
	}
	if err := p.Get(t.Context(), client.ObjectKeyFromObject(claim), claim); !apierrors.IsNotFound(err) {
		t.Errorf("the claim after the deletion: %v", err)
	}
}

// TestForeign: a shoot whose namespace belongs to somebody else there makes nothing, and can be deleted.
func TestForeign(t *testing.T) {
	t.Parallel()
	p := cloudtest.New(t, cloudtest.Kubeconfig)
	foreign := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: cloudtest.Namespace}}
	if err := p.Other.Create(t.Context(), foreign); err != nil {
		t.Fatal(err)
	}
	actor := &infrastructure.Actor{Access: accessTo(p), Cloud: p.Clouds.Of}
	object, cluster := p.Infrastructure(t), clusterOf(t, p)
	if err := actor.Reconcile(t.Context(), object, cluster); err == nil || object.Status.ProviderStatus != nil {
		t.Errorf("Reconcile(...) = %v, recorded %v", err, object.Status.ProviderStatus)
	}
	if n := made(t, p.Other); n != 0 {
		t.Errorf("%d objects are made in a foreign namespace", n)
	}
	if err := actor.Delete(t.Context(), object, cluster); err != nil {
		t.Errorf("Delete(...) = %v", err)
	}
	if err := p.Other.Get(t.Context(), client.ObjectKey{Name: cloudtest.Namespace}, foreign); err != nil {
		t.Errorf("the foreign namespace: %v", err)
	}
}

// TestChecksFirst_EXT_STAT_5: a configuration that would have no effect is refused before the cloud is asked.
func TestChecksFirst_EXT_STAT_5(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ config, want string }{
		"None":    {},
		"Empty":   {config: `{"apiVersion":"local.provider.extensions.gardener.cloud/v1alpha1","kind":"InfrastructureConfig"}`},
		"Unknown": {config: `{"networks":{}}`, want: `unknown field "networks"`},
		"Doubled": {config: `{"kind":"A","kind":"B"}`, want: `key "kind" already set`},
		"NoJSON":  {config: `"text"`, want: "nothing to configure"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := errors.New("the cloud is asked")
			actor := &infrastructure.Actor{Cloud: func(context.Context, string) (cloud.Cloud, error) { return cloud.Cloud{}, asked }}
			object := &gardenextensionsv1alpha1.Infrastructure{}
			if tc.config != "" {
				object.Spec.ProviderConfig = &runtime.RawExtension{Raw: []byte(tc.config)}
			}
			err := actor.Reconcile(t.Context(), object, &engine.Cluster{})
			if tc.want == "" {
				if !errors.Is(err, asked) {
					t.Errorf("Reconcile(...) = %v, want nothing to be wrong with the configuration", err)
				}
				return
			}
			if err == nil || errors.Is(err, asked) || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("Reconcile(...) = %v, want %q before anything is asked", err, tc.want)
			}
			if diff := cmp.Diff([]gardencorev1beta1.ErrorCode{"ERR_CONFIGURATION_PROBLEM"}, operation.Codes(err)); diff != "" {
				t.Errorf("codes (-want +got):\n%s", diff)
			}
		})
	}
}
