// SPDX-License-Identifier: Apache-2.0

package machines_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenmachinev1alpha1 "github.com/terrarium-garden/terrarium/apis/machine/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/cloud"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/machine"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/machinepod"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/machines"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/volumes"
)

const (
	namespace = "shoot--dev--sprout"
	name      = namespace + "-worker-1-abcde"
	podName   = "machine-worker-1-abcde"
	elsewhere = "machines-of-sprout"
)

// world is a seed with one Machine, a cloud that has no pods that run, and a shoot whose evictions the test decides on.
type world struct {
	client.Client

	cloud, shoot client.Client
	clock        *clocktesting.FakeClock
	reconciler   *machines.Reconciler
	// evicted are the pods whose eviction was asked for, and refused if the budget is used up.
	evicted []string
	// graces are the seconds to end that evictions ask for; -1 stands for none.
	graces []int64
	budget error
	// answers are what the shoot says to the eviction of single pods.
	answers map[string]error
	down    error
}

func newWorld(t *testing.T, change func(*gardenmachinev1alpha1.Machine), userData string) *world {
	t.Helper()
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := machinepod.Spec{Image: "machine:v1"}.Raw()
	if err != nil {
		t.Fatal(err)
	}
	meta := metav1.ObjectMeta{Namespace: namespace, Name: "class"}
	class := &gardenmachinev1alpha1.MachineClass{ObjectMeta: meta, ProviderSpec: raw, SecretRef: &corev1.SecretReference{Namespace: namespace, Name: "class"}}
	secret := &corev1.Secret{ObjectMeta: meta, Data: map[string][]byte{"userData": []byte(userData)}}
	m := &gardenmachinev1alpha1.Machine{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, CreationTimestamp: metav1.NewTime(now())},
		Spec:       gardenmachinev1alpha1.MachineSpec{Class: gardenmachinev1alpha1.ClassSpec{Kind: "MachineClass", Name: "class"}},
	}
	if change != nil {
		change(m)
	}
	w := &world{
		Client: fake.NewClientBuilder().WithScheme(types).WithObjects(class, secret, m).WithStatusSubresource(m).Build(),
		cloud:  fake.NewClientBuilder().WithScheme(types).WithStatusSubresource(&corev1.Pod{}).Build(),
		clock:  clocktesting.NewFakeClock(now()),
	}
	w.shoot = fake.NewClientBuilder().WithScheme(types).
		WithIndex(&corev1.Pod{}, "spec.nodeName", func(o client.Object) []string {
			pod, _ := o.(*corev1.Pod)
			return []string{pod.Spec.NodeName}
		}).
		WithInterceptorFuncs(interceptor.Funcs{SubResourceCreate: w.evict}).Build()
	count := 0
	w.reconciler = &machines.Reconciler{
		Base: kit.Base{Client: w, Reader: w, Clock: w.clock},
		Cloud: func(context.Context, string) (cloud.Cloud, error) {
			return cloud.Cloud{Client: w.cloud, Namespace: elsewhere}, nil
		},
		Shoot: func(context.Context, string) (*kit.Shoot, error) { return &kit.Shoot{Client: w.shoot}, w.down },
		Random: func(n int) string {
			count++
			return fmt.Sprintf("%0*d", n, count)
		},
	}
	return w
}

//nolint:revive // the interceptor says which arguments there are
func (w *world) evict(ctx context.Context, c client.Client, _ string, o, eviction client.Object, _ ...client.SubResourceCreateOption) error {
	w.evicted = append(w.evicted, o.GetName())
	if e, ok := eviction.(*policyv1.Eviction); ok {
		w.graces = append(w.graces, ptr.Deref(e.DeleteOptions.GracePeriodSeconds, -1))
	}
	if err := w.answers[o.GetName()]; err != nil {
		return err
	}
	if w.budget != nil {
		return w.budget
	}
	return c.Delete(ctx, o)
}

func (w *world) run(t *testing.T) (reconcile.Result, error) {
	t.Helper()
	return w.reconciler.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Namespace: namespace, Name: name}})
}

func (w *world) mustRun(t *testing.T) {
	t.Helper()
	if _, err := w.run(t); err != nil {
		t.Fatal(err)
	}
}

// machine is nil if it is gone.
func (w *world) machine(t *testing.T) *gardenmachinev1alpha1.Machine {
	t.Helper()
	m := &gardenmachinev1alpha1.Machine{}
	err := w.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, m)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// pod reports whether the machine has a pod.
func (w *world) pod(t *testing.T) (*corev1.Pod, bool) {
	t.Helper()
	pod := &corev1.Pod{}
	err := w.cloud.Get(t.Context(), client.ObjectKey{Namespace: elsewhere, Name: podName}, pod)
	if client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	return pod, err == nil
}

// join makes the machine a ready node with a pod of a workload, one of a DaemonSet and one that has ended.
func (w *world) join(t *testing.T) {
	t.Helper()
	w.mustRun(t)
	pod, _ := w.pod(t)
	pod.Status.Phase = corev1.PodRunning
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	if err := w.cloud.Status().Update(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: podName}}
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(now())}}
	on := func(name, owner string, phase corev1.PodPhase) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: corev1.PodSpec{NodeName: podName}, Status: corev1.PodStatus{Phase: phase}}
		if owner != "" {
			p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: owner, Name: "x", UID: "x", Controller: new(true)}}
		}
		return p
	}
	for _, o := range []client.Object{node, on("app", "ReplicaSet", corev1.PodRunning), on("agent", "DaemonSet", corev1.PodRunning), on("job", "Job", corev1.PodSucceeded)} {
		if err := w.shoot.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	w.mustRun(t)
	if phase := w.machine(t).Status.CurrentStatus.Phase; phase != gardenmachinev1alpha1.MachineRunning {
		t.Fatalf("the machine is %s", phase)
	}
}

// remove asks for the deletion of the Machine.
func (w *world) remove(t *testing.T) {
	t.Helper()
	if err := w.Delete(t.Context(), w.machine(t)); err != nil {
		t.Fatal(err)
	}
}

// gone runs until the Machine is gone, and fails the test if something of it is left.
func (w *world) gone(t *testing.T) {
	t.Helper()
	for range 3 {
		w.mustRun(t)
	}
	_, pod := w.pod(t)
	secrets := &corev1.SecretList{}
	if err := w.cloud.List(t.Context(), secrets); err != nil {
		t.Fatal(err)
	}
	if m := w.machine(t); m != nil || pod || len(secrets.Items) != 0 {
		t.Errorf("left are the machine %v, a pod: %t, %d secrets", m, pod, len(secrets.Items))
	}
}

func TestCreates(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, "token: <<BOOTSTRAP_TOKEN>>")
	w.mustRun(t)
	w.mustRun(t)
	if _, found := w.pod(t); !found {
		t.Fatal("there is no pod")
	}
	secret := &corev1.Secret{}
	if err := w.cloud.Get(t.Context(), client.ObjectKey{Namespace: elsewhere, Name: podName}, secret); err != nil || string(secret.Data["cloud_config"]) != "token: 000001.0000000000000002" {
		t.Errorf("the user data are %q, %v", secret.Data["cloud_config"], err)
	}
	token := &corev1.Secret{}
	if err := w.shoot.Get(t.Context(), client.ObjectKey{Namespace: "kube-system", Name: "bootstrap-token-000001"}, token); err != nil || string(token.Data["expiration"]) != "2026-11-20T12:30:00Z" {
		t.Errorf("the token ends at %s, %v: it has to live longer than a machine may take to join", token.Data["expiration"], err)
	}
	m := w.machine(t)
	got := []string{m.Spec.ProviderID, m.Labels["node"], string(m.Status.CurrentStatus.Phase)}
	if diff := cmp.Diff([]string{"local:///" + elsewhere + "/" + podName, podName, "Pending"}, got); diff != "" {
		t.Errorf("the machine (-want +got):\n%s", diff)
	}
}

// TestVolumes: a machine is made with the volumes of its shoot if there are any, keeps that all its life, and its node says so.
func TestVolumes(t *testing.T) {
	t.Parallel()
	for phase, want := range map[corev1.PersistentVolumeClaimPhase]bool{"": false, corev1.ClaimPending: false, corev1.ClaimBound: true} {
		t.Run(string(phase), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil, "data")
			claim := volumes.Claim(elsewhere, "a")
			if claim.Status.Phase = phase; phase != "" {
				if err := w.cloud.Create(t.Context(), claim); err != nil {
					t.Fatal(err)
				}
			}
			w.mustRun(t)
			claim.Status.Phase = corev1.ClaimBound
			if err := w.cloud.Status().Update(t.Context(), claim); client.IgnoreNotFound(err) != nil {
				t.Fatal(err)
			}
			w.mustRun(t)
			pod, _ := w.pod(t)
			said := strings.Contains(pod.Annotations[machinepod.AnnotationNode], machine.VolumesLabel)
			if got := machinepod.HasVolumes(pod); got != want || said != want {
				t.Errorf("with a claim that is %q, the machine has volumes: %t, its node says so: %t", phase, got, said)
			}
		})
	}
}

func TestCreationFails(t *testing.T) {
	t.Parallel()
	down := errors.New("the shoot does not answer")
	cases := map[string]struct {
		reason string
		change func(*gardenmachinev1alpha1.Machine)
		down   error
		phase  gardenmachinev1alpha1.MachinePhase
		want   string
	}{
		"ShootDown": {reason: "a machine without a token could never join", down: down, phase: "CrashLoopBackOff", want: "does not answer"},
		"NoShoot":   {reason: "a shoot that is not there yet is waited for", down: kit.ErrNoShootAccess, phase: "Pending", want: "no access"},
		"NoClass": {
			reason: "a class that is missing is named", change: func(m *gardenmachinev1alpha1.Machine) { m.Spec.Class.Name = "lost" },
			phase: "CrashLoopBackOff", want: `machine class "lost"`,
		},
		"OtherKind": {
			reason: "a class of another kind is not understood", change: func(m *gardenmachinev1alpha1.Machine) { m.Spec.Class.Kind = "AWSMachineClass" },
			phase: "CrashLoopBackOff", want: "AWSMachineClass",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, tc.change, "<<BOOTSTRAP_TOKEN>>")
			w.down = tc.down
			result, err := w.run(t)
			if err == nil && result.RequeueAfter == 0 {
				t.Errorf("%s\nnobody tries again", tc.reason)
			}
			status := w.machine(t).Status
			if _, found := w.pod(t); found || status.CurrentStatus.Phase != tc.phase || !strings.Contains(status.LastOperation.Description, tc.want) {
				t.Errorf("%s\npod: %t, status %+v, want %s and %q", tc.reason, found, status, tc.phase, tc.want)
			}
		})
	}
}

// TestForeignSecret: a class cannot make somebody else's Secret the user data of a machine.
func TestForeignSecret(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, "data")
	class := &gardenmachinev1alpha1.MachineClass{}
	if err := w.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "class"}, class); err != nil {
		t.Fatal(err)
	}
	class.SecretRef.Namespace = "garden"
	if err := w.Update(t.Context(), class); err != nil {
		t.Fatal(err)
	}
	if _, err := w.run(t); err == nil || !strings.Contains(err.Error(), "secretRef") {
		t.Errorf("Reconcile(...) = %v, want an error about secretRef", err)
	}
}

// TestUpdatesNode: what the pool says about its nodes reaches the pod, which tells it to the node.
func TestUpdatesNode(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, "data")
	w.join(t)
	m := w.machine(t)
	m.Spec.NodeTemplate.Labels = map[string]string{"color": "green"}
	if err := w.Update(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	w.mustRun(t)
	if pod, _ := w.pod(t); pod.Annotations[machinepod.AnnotationNode] != `{"labels":{"color":"green"}}` {
		t.Errorf("the pod says %s", pod.Annotations[machinepod.AnnotationNode])
	}
	m = w.machine(t)
	m.Spec.NodeTemplate.Labels = map[string]string{"shape": "round"}
	if err := w.Update(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	w.mustRun(t)
	if pod, _ := w.pod(t); pod.Annotations[machinepod.AnnotationFormer] != `{"labels":{"color":"green"}}` {
		t.Errorf("the pod said before: %s", pod.Annotations[machinepod.AnnotationFormer])
	}
}

// TestForeignNamespace: a machine whose namespace in another cluster belongs to somebody else is not made, and can be deleted.
func TestForeignNamespace(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, "data")
	w.reconciler.Cloud = func(context.Context, string) (cloud.Cloud, error) { return cloud.Cloud{}, cloud.ErrForeign }
	if _, err := w.run(t); !errors.Is(err, cloud.ErrForeign) || w.machine(t).Status.CurrentStatus.Phase != "" {
		t.Errorf("Reconcile(...) = %v, and the machine is %+v", err, w.machine(t).Status)
	}
	w.remove(t)
	w.gone(t)
}

// TestUnreachableCloud: as long as nobody knows whether a machine is there, it is neither lost nor gone.
func TestUnreachableCloud(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, "data")
	w.join(t)
	down := errors.New("no answer")
	w.reconciler.Cloud = func(context.Context, string) (cloud.Cloud, error) { return cloud.Cloud{}, down }
	w.clock.SetTime(now().Add(time.Hour))
	if _, err := w.run(t); !errors.Is(err, down) || w.machine(t).Status.CurrentStatus.Phase != gardenmachinev1alpha1.MachineRunning {
		t.Errorf("Reconcile(...) = %v, and the machine is %s", err, w.machine(t).Status.CurrentStatus.Phase)
	}
	w.remove(t)
	if _, err := w.run(t); !errors.Is(err, down) || w.machine(t) == nil {
		t.Errorf("Reconcile(...) = %v, and the machine is forgotten", err)
	}
}

// TestPolls: nobody watches the pods of another cluster.
func TestPolls(t *testing.T) {
	t.Parallel()
	for place, want := range map[string]time.Duration{"": time.Minute, "other": 10 * time.Second} {
		w := newWorld(t, nil, "data")
		w.join(t)
		w.reconciler.Cloud = func(context.Context, string) (cloud.Cloud, error) {
			return cloud.Cloud{Client: w.cloud, Namespace: elsewhere, Place: place}, nil
		}
		if result, err := w.run(t); err != nil || result.RequeueAfter != want {
			t.Errorf("in the cluster %q, a running machine is looked at after %s, want %s: %v", place, result.RequeueAfter, want, err)
		}
	}
}

// TestTalkativeCluster: what a hostile cluster, or shoot, says about a machine is cut off before it is written into the seed.
func TestTalkativeCluster(t *testing.T) {
	t.Parallel()
	const limit = 5000
	w := newWorld(t, nil, "data")
	w.join(t)
	endless := strings.Repeat("x", 1<<14)
	node := &corev1.Node{}
	if err := w.shoot.Get(t.Context(), client.ObjectKey{Name: podName}, node); err != nil {
		t.Fatal(err)
	}
	for range 99 {
		node.Status.Conditions = append(node.Status.Conditions, corev1.NodeCondition{Type: "Note", Reason: endless, Message: endless})
		node.Status.Addresses = append(node.Status.Addresses, corev1.NodeAddress{Type: "Hostname", Address: endless})
	}
	if err := w.shoot.Status().Update(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	pod, _ := w.pod(t)
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: endless}}
	if err := w.cloud.Status().Update(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	w.mustRun(t)
	status := w.machine(t).Status
	if text := status.LastOperation.Description; !strings.Contains(text, "xxx") || len(text) > limit {
		t.Errorf("the description has %d characters: %.60s", len(text), text)
	}
	if len(status.Conditions) != 32 || len(status.Addresses) != 16 {
		t.Fatalf("the machine has %d conditions and %d addresses", len(status.Conditions), len(status.Addresses))
	}
	if c, a := status.Conditions[9], status.Addresses[9]; len(c.Message) > limit || len(c.Reason) > limit || len(a.Address) > limit {
		t.Errorf("a condition has %d and %d characters, an address %d", len(c.Message), len(c.Reason), len(a.Address))
	}
	written := w.machine(t).ResourceVersion
	w.mustRun(t)
	if again := w.machine(t).ResourceVersion; again != written {
		t.Error("the same answer is written once more")
	}
}
