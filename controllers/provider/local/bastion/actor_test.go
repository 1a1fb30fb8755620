// SPDX-License-Identifier: Apache-2.0

package bastion_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/component/sshuser"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/operation"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/bastion"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/cloud"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/cloud/cloudtest"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/engine"
	"github.com/terrarium-garden/terrarium/tests/golden"
)

const userKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGV0GCoCMBjsCFUFhMmzGmLMzCC5aGAdFCiGLaHO2KIC"

func object(t *testing.T) *gardenextensionsv1alpha1.Bastion {
	t.Helper()
	script, err := sshuser.Script([]byte(userKey))
	if err != nil {
		t.Fatal(err)
	}
	b := &gardenextensionsv1alpha1.Bastion{ObjectMeta: metav1.ObjectMeta{Namespace: "shoot--dev--sprout", Name: "door", UID: "uid-1"}}
	b.Spec.Type, b.Spec.UserData = "local", []byte(script+sshuser.Start)
	b.Spec.Ingress = []gardenextensionsv1alpha1.BastionIngressPolicy{{IPBlock: networkingv1.IPBlock{CIDR: "192.0.2.0/24", Except: []string{"192.0.2.9/32"}}}}
	return b
}

func cluster() *engine.Cluster {
	c := &engine.Cluster{Namespace: "shoot--dev--sprout", Shoot: &gardencorev1beta1.Shoot{}, Seed: &gardencorev1beta1.Seed{}}
	c.Seed.Spec.Networks.Pods = "10.0.0.0/16"
	return c
}

func newActor(t *testing.T) *bastion.Actor {
	t.Helper()
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	// The converters of the fake client do not know ports that are a number or a name.
	seed := fake.NewClientBuilder().WithScheme(types).WithTypeConverters(managedfields.NewDeducedTypeConverter()).WithStatusSubresource(&corev1.Pod{}).Build()
	return &bastion.Actor{Cloud: cloud.InSeed(seed), Access: engine.Access{
		Reader: seed, Seed: deploy.Engine{Client: seed, Owner: "test", Clock: clock.RealClock{}}, Images: engine.Images{Terrarium: "terrarium:v1"},
	}}
}

func TestRender_EXT_BUCKET_5(t *testing.T) {
	t.Parallel()
	v := bastion.Values{Bastion: object(t), Image: "terrarium:v1", HostKey: []byte("private"), Keys: []string{userKey}, Nodes: []string{"10.0.0.0/16"}}
	pod, err := v.Pod()
	if err != nil {
		t.Fatal(err)
	}
	golden.Objects(t, "objects.yaml", []client.Object{v.Secret(), v.Policy(), pod})
}

func host(t *testing.T, a *bastion.Actor) *corev1.Pod {
	t.Helper()
	pod := &corev1.Pod{}
	if err := a.Reader.Get(t.Context(), client.ObjectKey{Namespace: "shoot--dev--sprout", Name: "bastion-door"}, pod); err != nil {
		t.Fatal(err)
	}
	return pod
}

func waits(t *testing.T, err error) {
	t.Helper()
	if _, waiting := kit.WaitReason(err); !waiting {
		t.Fatalf("error %v, want a wait", err)
	}
}

func run(t *testing.T, a *bastion.Actor, address string) {
	t.Helper()
	pod := host(t, a)
	pod.Status.PodIP, pod.Status.Conditions = address, []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	if err := a.Seed.Client.Status().Update(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
}

func TestLife_EXT_BUCKET_5(t *testing.T) {
	t.Parallel()
	a, b := newActor(t), object(t)
	waits(t, a.Reconcile(t.Context(), b, cluster()))
	if b.Status.Ingress != nil {
		t.Error("there is an address before there is a host")
	}
	run(t, a, "10.0.0.7")
	if err := a.Reconcile(t.Context(), b, cluster()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&corev1.LoadBalancerIngress{IP: "10.0.0.7"}, b.Status.Ingress); diff != "" {
		t.Errorf("address (-want +got):\n%s", diff)
	}
	first := string(b.Status.ProviderStatus.Raw)
	if !strings.Contains(first, `{"hostKeys":["ssh-ed25519 `) {
		t.Errorf("provider status %s", first)
	}

	// A network that is not let in any more is cut off with the pod; the key of the host stays.
	b.Spec.Ingress[0].IPBlock = networkingv1.IPBlock{CIDR: "198.51.100.0/24"}
	waits(t, a.Reconcile(t.Context(), b, cluster()))
	waits(t, a.Reconcile(t.Context(), b, cluster()))
	if args := strings.Join(host(t, a).Spec.Containers[0].Command, " "); strings.Contains(args, "192.0.2.0") || !strings.Contains(args, "198.51.100.0/24") {
		t.Errorf("the host runs with former rules: %s", args)
	}
	run(t, a, "10.0.0.8")
	if err := a.Reconcile(t.Context(), b, cluster()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, string(b.Status.ProviderStatus.Raw)); diff != "" || b.Status.Ingress.IP != "10.0.0.8" {
		t.Errorf("after the change at %s (-before +after):\n%s", b.Status.Ingress.IP, diff)
	}

	if err := a.Delete(t.Context(), b, cluster()); err != nil {
		t.Fatal(err)
	}
	for _, list := range []client.ObjectList{&corev1.PodList{}, &corev1.SecretList{}, &networkingv1.NetworkPolicyList{}} {
		if err := a.Reader.List(t.Context(), list); err != nil {
			t.Fatal(err)
		}
	}
	secrets := &corev1.SecretList{}
	if err := a.Reader.List(t.Context(), secrets); err != nil || len(secrets.Items) > 0 {
		t.Errorf("%d Secrets are left: %v", len(secrets.Items), err)
	}
}

// TestDeleteWaits_EXT_BUCKET_5: who was logged in stays so until the pod has ended, so the bastion is not gone before, unless forced.
func TestDeleteWaits_EXT_BUCKET_5(t *testing.T) {
	t.Parallel()
	a, b := newActor(t), object(t)
	waits(t, a.Reconcile(t.Context(), b, cluster()))
	pod := host(t, a)
	pod.Finalizers = []string{"test/held"}
	if err := a.Seed.Client.Update(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	waits(t, a.Delete(t.Context(), b, cluster()))
	policies := &networkingv1.NetworkPolicyList{}
	if err := a.Reader.List(t.Context(), policies); err != nil || len(policies.Items) != 1 {
		t.Errorf("the pod still runs, but it has %d policies: %v", len(policies.Items), err)
	}
	b.Annotations = map[string]string{"confirmation.gardener.cloud/force-deletion": "true"}
	if err := a.Delete(t.Context(), b, nil); err != nil {
		t.Errorf("a forced deletion waits: %v", err)
	}
}

// TestChecksFirst_EXT_STAT_5 gives objects that nothing can be made from.
func TestChecksFirst_EXT_STAT_5(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		change func(*gardenextensionsv1alpha1.Bastion)
		want   string
	}{
		"NoKey":   {reason: "nobody could log in", change: func(b *gardenextensionsv1alpha1.Bastion) { b.Spec.UserData = []byte("#!/bin/sh\ntrue\n") }, want: "no line of the script"},
		"Options": {reason: "the host would not keep to them", change: func(b *gardenextensionsv1alpha1.Bastion) { b.Spec.UserData = []byte("restrict " + userKey) }, want: "options of a key"},
		"NoWay":   {reason: "nobody could reach it", change: func(b *gardenextensionsv1alpha1.Bastion) { b.Spec.Ingress = nil }, want: "spec.ingress"},
		"BadCIDR": {reason: "it says which", change: func(b *gardenextensionsv1alpha1.Bastion) { b.Spec.Ingress[0].IPBlock.Except = []string{"x"} }, want: `"x" is not a network`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, b := newActor(t), object(t)
			tc.change(b)
			err := a.Reconcile(t.Context(), b, cluster())
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("%s\nReconcile(...) = %v, want %q", tc.reason, err, tc.want)
			}
			if diff := cmp.Diff([]gardencorev1beta1.ErrorCode{"ERR_CONFIGURATION_PROBLEM"}, operation.Codes(err)); diff != "" {
				t.Errorf("%s\ncodes (-want +got):\n%s", tc.reason, diff)
			}
			pods, secrets := &corev1.PodList{}, &corev1.SecretList{}
			if err := a.Reader.List(t.Context(), pods); err != nil || len(pods.Items) > 0 {
				t.Errorf("%s\n%d pods were made: %v", tc.reason, len(pods.Items), err)
			}
			if err := a.Reader.List(t.Context(), secrets); err != nil || len(secrets.Items) > 0 {
				t.Errorf("%s\n%d Secrets were made: %v", tc.reason, len(secrets.Items), err)
			}
		})
	}
}

// TestApart: the host is beside the machines, without an owner that does not exist there, and in the seed there is nothing.
func TestApart(t *testing.T) {
	t.Parallel()
	p := cloudtest.New(t, cloudtest.Kubeconfig)
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "one"}, Spec: corev1.NodeSpec{PodCIDR: "10.96.0.0/24"}}
	if err := errors.Join(p.Other.Create(t.Context(), node), p.Find(t).Claim(t.Context())); err != nil {
		t.Fatal(err)
	}
	actor := &bastion.Actor{Cloud: p.Clouds.Of, Access: engine.Access{Reader: p, Seed: deploy.Engine{Client: p, Owner: "test", Clock: clock.RealClock{}}}}
	door := object(t)
	if _, waits := kit.WaitReason(actor.Reconcile(t.Context(), door, cluster())); !waits {
		t.Error("nobody waits for the host")
	}
	pod := &corev1.Pod{}
	if err := p.Other.Get(t.Context(), client.ObjectKey{Namespace: cloudtest.Namespace, Name: "bastion-door"}, pod); err != nil {
		t.Fatal(err)
	}
	if len(pod.OwnerReferences) != 0 || pod.Spec.PriorityClassName != "" || !strings.Contains(strings.Join(pod.Spec.Containers[0].Command, " "), `"10.96.0.0/24"`) {
		t.Errorf("the host has owners %v, priority class %q and the command %q", pod.OwnerReferences, pod.Spec.PriorityClassName, pod.Spec.Containers[0].Command)
	}
	kinds := func() []client.ObjectList {
		return []client.ObjectList{&corev1.PodList{}, &networkingv1.NetworkPolicyList{}, &corev1.SecretList{}}
	}
	// The provider secret is in the seed.
	if there, here := cloudtest.Count(t, p.Other, kinds()...), cloudtest.Count(t, p, kinds()...); there != 3 || here != 1 {
		t.Errorf("%d objects in the other cluster, %d in the seed", there, here)
	}
	if err := actor.Delete(t.Context(), door, cluster()); err != nil {
		t.Fatal(err)
	}
	if left := cloudtest.Count(t, p.Other, kinds()...); left != 0 {
		t.Errorf("%d objects are left", left)
	}
}
