// SPDX-License-Identifier: Apache-2.0

package machines_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
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

func TestDrains(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, "data")
	w.join(t)
	w.budget = apierrors.NewTooManyRequests("the budget is used up", 1)
	w.remove(t)
	result, err := w.run(t)
	if err != nil || result.RequeueAfter == 0 {
		t.Fatalf("Reconcile(...) = %+v, %v", result, err)
	}
	if diff := cmp.Diff([]string{"app"}, w.evicted); diff != "" {
		t.Errorf("evicted pods (-want +got):\n%s", diff)
	}
	m := w.machine(t)
	if m == nil || m.Status.CurrentStatus.Phase != "Terminating" || !strings.Contains(m.Status.LastOperation.Description, "default/app (a PodDisruptionBudget does not allow its eviction)") {
		t.Errorf("the machine is %+v", m)
	}
	node := &corev1.Node{}
	if err := w.shoot.Get(t.Context(), client.ObjectKey{Name: podName}, node); err != nil || !node.Spec.Unschedulable {
		t.Errorf("the node takes new pods: %v", err)
	}
	if _, found := w.pod(t); !found {
		t.Fatal("the machine is stopped before its pods are gone")
	}
	w.budget = nil
	if ending, err := w.run(t); err != nil || ending.RequeueAfter >= result.RequeueAfter {
		t.Errorf("Reconcile(...) = %+v, %v: pods that only end are waited for as long as those that may not, %s", ending, err, result.RequeueAfter)
	}
	w.gone(t)
}

// TestOnePodFails: a pod whose eviction fails for a reason that is not its budget does not keep the others on the node.
func TestOnePodFails(t *testing.T) {
	t.Parallel()
	all := []string{"app", "next", "other", "third"}
	update := func(t *testing.T, w *world) {
		t.Helper()
		w.changeMachine(t, wants("second"))
		w.changeMachine(t, chosen)
	}
	keep := func(t *testing.T, w *world) {
		t.Helper()
		w.changeNode(t, annotatedNode(preserve, "when-failed"))
		w.ready(t, corev1.ConditionFalse)
		w.mustRun(t)
		w.clock.Step(11 * time.Minute)
	}
	broken := apierrors.NewInternalError(errors.New("broken"))
	cases := map[string]struct {
		reason string
		begin  func(*testing.T, *world)
		answer error
		want   []string
		after  time.Duration
		// fails says that the pass tells the error, and not the Machine.
		fails bool
	}{
		"Budgets": {reason: "a deletion, and a pod that has two budgets", answer: &apierrors.StatusError{ErrStatus: metav1.Status{Code: 500, Message: "more than one"}}, want: all, after: 5 * time.Second},
		"Denied":  {reason: "a deletion, and a webhook", answer: apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "app", errors.New("no")), want: all, after: 5 * time.Second},
		"Update":  {reason: "an update in place", begin: update, answer: broken, want: all, after: 2 * time.Second},
		"Kept":    {reason: "a machine that has failed and is kept", begin: keep, answer: broken, want: all, fails: true},
		"Silence": {reason: "a shoot that does not answer is not asked for each pod", answer: errors.New("refused"), want: []string{"app"}, after: 5 * time.Second},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, inPlace("AutoInPlaceUpdate"), "data")
			w.join(t)
			w.changeNode(t, applied("first"))
			w.mustRun(t)
			for _, name := range all[1:] {
				pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: corev1.PodSpec{NodeName: podName}}
				if err := w.shoot.Create(t.Context(), pod); err != nil {
					t.Fatal(err)
				}
			}
			w.answers = map[string]error{"app": tc.answer}
			if tc.begin == nil {
				w.remove(t)
			} else {
				tc.begin(t, w)
			}
			result, err := w.run(t)
			if (err != nil) != tc.fails || result.RequeueAfter != tc.after {
				t.Errorf("%s\nReconcile(...) = %+v, %v; want the next pass after %s", tc.reason, result, err, tc.after)
			}
			if diff := cmp.Diff(tc.want, w.evicted); diff != "" {
				t.Errorf("%s\nevicted pods (-want +got):\n%s", tc.reason, diff)
			}
			said := w.machine(t).Status.LastOperation.Description
			if tc.fails {
				said = fmt.Sprint(err)
			}
			if !strings.Contains(said, "default/app") || !strings.Contains(said, tc.answer.Error()) {
				t.Errorf("%s\nit says %q, want the pod and its error %q", tc.reason, said, tc.answer)
			}
		})
	}
}

// TestDrainShortensGrace: on a machine that the autoscaler removes, no pod has longer to end than the shoot says, and none has longer than it
// asks for.
func TestDrainShortensGrace(t *testing.T) {
	t.Parallel()
	const own = -1
	for name, tc := range map[string]struct {
		reason string
		most   string
		asks   *int64
		want   int64
	}{
		"Long":    {reason: "it asks for more", most: "600", asks: new(int64(3600)), want: 600},
		"Short":   {reason: "it asks for less", most: "600", asks: new(int64(30)), want: own},
		"Zero":    {reason: "no pod is deleted by force", most: "0", asks: new(int64(30)), want: 1},
		"Default": {reason: "it asks for nothing, which is 30 seconds", most: "20", want: 20},
		"Other":   {reason: "the machine goes for another reason", asks: new(int64(3600)), want: own},
		"Words":   {reason: "what cannot be read does not count", most: "soon", asks: new(int64(3600)), want: own},
		"Before":  {reason: "nothing ends before it began", most: "-5", asks: new(int64(3600)), want: own},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(m *gardenmachinev1alpha1.Machine) {
				if tc.most != "" {
					m.Annotations = map[string]string{gardenmachinev1alpha1.AnnotationMaxGracefulTermination: tc.most}
				}
			}, "data")
			w.join(t)
			pod := &corev1.Pod{}
			if err := w.shoot.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "app"}, pod); err != nil {
				t.Fatal(err)
			}
			pod.Spec.TerminationGracePeriodSeconds = tc.asks
			if err := w.shoot.Update(t.Context(), pod); err != nil {
				t.Fatal(err)
			}
			w.remove(t)
			w.mustRun(t)
			if diff := cmp.Diff([]int64{tc.want}, w.graces); diff != "" {
				t.Errorf("%s\nseconds to end (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestDrainComesToAnEnd: what tolerates that a node takes no new pods comes back when it is evicted, which ends with the machine.
func TestDrainComesToAnEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, "data")
	w.join(t)
	w.remove(t)
	began := w.machine(t).DeletionTimestamp.Time
	everywhere := corev1.PodSpec{NodeName: podName, Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}}}
	for name, spec := range map[string]corev1.PodSpec{"tunnel": everywhere, "late": {NodeName: podName}} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, CreationTimestamp: metav1.NewTime(began.Add(time.Second))}, Spec: spec}
		if err := w.shoot.Create(t.Context(), pod); err != nil {
			t.Fatal(err)
		}
	}
	old := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "old-tunnel", CreationTimestamp: metav1.NewTime(began.Add(-time.Second))}, Spec: everywhere}
	if err := w.shoot.Create(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	w.mustRun(t)
	slices.Sort(w.evicted)
	if diff := cmp.Diff([]string{"app", "late", "old-tunnel"}, w.evicted); diff != "" {
		t.Errorf("evicted pods (-want +got):\n%s", diff)
	}
	w.gone(t)
}

// TestDrainEnds lists what lets a machine go although its pods stay.
func TestDrainEnds(t *testing.T) {
	t.Parallel()
	minute := &metav1.Duration{Duration: time.Minute}
	cases := map[string]struct {
		reason string
		change func(*gardenmachinev1alpha1.Machine)
		after  time.Duration
		down   error
		stays  bool
	}{
		"Patience": {reason: "a budget is honored", after: time.Hour, stays: true},
		"Timeout":  {reason: "until the drain timeout", after: 3 * time.Hour},
		"OwnTimeout": {
			reason: "which the pool may set", change: func(m *gardenmachinev1alpha1.Machine) { m.Spec.DrainTimeout = minute }, after: 2 * time.Minute,
		},
		"Retries": {
			reason: "as it may set the number of attempts", change: func(m *gardenmachinev1alpha1.Machine) { m.Spec.MaxEvictRetries = new(int32(3)) }, after: 2 * time.Minute,
		},
		"Forced": {
			reason: "a machine with the label goes at once",
			change: func(m *gardenmachinev1alpha1.Machine) { m.Labels = map[string]string{"force-deletion": "True"} },
		},
		"NoShoot": {reason: "a shoot that is gone has no pods", down: kit.ErrNoShootAccess},
		"Down":    {reason: "one that does not answer may have some", down: errors.New("no answer"), stays: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, tc.change, "data")
			w.join(t)
			w.budget, w.down = apierrors.NewTooManyRequests("the budget is used up", 1), tc.down
			w.remove(t)
			w.clock.SetTime(w.machine(t).DeletionTimestamp.Add(tc.after))
			if !tc.stays {
				w.gone(t)
				return
			}
			w.mustRun(t)
			if _, found := w.pod(t); !found {
				t.Errorf("%s\nthe machine is stopped", tc.reason)
			}
		})
	}
}

// TestSilentNode: nobody ends the pods of a node that does not report, so they are not waited for.
func TestSilentNode(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, "data")
	w.join(t)
	w.budget = apierrors.NewTooManyRequests("the budget is used up", 1)
	node := &corev1.Node{}
	if err := w.shoot.Get(t.Context(), client.ObjectKey{Name: podName}, node); err != nil {
		t.Fatal(err)
	}
	node.Status.Conditions[0].Status = corev1.ConditionUnknown
	if err := w.shoot.Status().Update(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	w.remove(t)
	w.clock.SetTime(now().Add(6 * time.Minute))
	w.gone(t)
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
