// SPDX-License-Identifier: Apache-2.0

package autoscaler_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	gardenmachinev1alpha1 "github.com/terrarium-garden/terrarium/apis/machine/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/autoscaler"
)

const namespace = "shoot--dev--sprout"

// world is a shoot and its machines in the seed. The test makes machines, nodes and pods itself.
type world struct {
	client.WithWatch

	clock    *clocktesting.FakeClock
	recorder *events.FakeRecorder
	scaler   *autoscaler.Autoscaler
}

func newWorld(t *testing.T, groups ...autoscaler.Bounds) *world {
	t.Helper()
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	w := &world{
		WithWatch: fake.NewClientBuilder().WithScheme(types).Build(),
		clock:     clocktesting.NewFakeClock(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)),
		recorder:  events.NewFakeRecorder(100),
	}
	w.scaler = &autoscaler.Autoscaler{
		Options: autoscaler.Options{
			Settings: autoscaler.Settings{
				ScaleDownUnneededTime: 10 * time.Minute, ScaleDownUnreadyTime: 20 * time.Minute,
				ScaleDownUtilizationThreshold: 0.5, ScaleDownGPUUtilizationThreshold: 0.5, MaxNodeProvisionTime: 15 * time.Minute,
			},
			Namespace: namespace, Groups: groups, Expanders: []string{autoscaler.LeastWaste}, ScanInterval: 10 * time.Second,
			InitialBackoff: 5 * time.Minute, MaxBackoff: 30 * time.Minute, BackoffReset: 3 * time.Hour,
			MaxScaleDownParallelism: 10, MaxDrainParallelism: 1,
		},
		Shoot: w, Seed: w, Recorder: w.recorder, Clock: w.clock, Log: logr.Discard(), Random: func(int) int { return 0 },
	}
	for _, g := range groups {
		w.make(t, deployment(g.Name, g.Minimum), class(g.Name, "4"))
	}
	return w
}

func (w *world) make(t *testing.T, objs ...client.Object) {
	t.Helper()
	for _, obj := range objs {
		obj.SetCreationTimestamp(metav1.NewTime(w.clock.Now()))
		if err := w.Create(t.Context(), obj); err != nil {
			t.Fatalf("create %T %q: %v", obj, obj.GetName(), err)
		}
	}
}

func (w *world) pass(t *testing.T) {
	t.Helper()
	if err := w.scaler.Pass(t.Context()); err != nil {
		t.Fatalf("Pass() = %v", err)
	}
}

// wants fails the test unless a deployment wants that number of machines.
func (w *world) wants(t *testing.T, group string, want int32, reason string) {
	t.Helper()
	d := &gardenmachinev1alpha1.MachineDeployment{}
	if err := w.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: group}, d); err != nil {
		t.Fatal(err)
	}
	if d.Spec.Replicas != want {
		t.Errorf("%s\nmachine deployment %q wants %d machines, want %d", reason, group, d.Spec.Replicas, want)
	}
}

// machines are the numbers of machines that the deployments want.
func (w *world) machines(t *testing.T) map[string]int32 {
	t.Helper()
	list := &gardenmachinev1alpha1.MachineDeploymentList{}
	if err := w.List(t.Context(), list, client.InNamespace(namespace)); err != nil {
		t.Fatal(err)
	}
	found := map[string]int32{}
	for i := range list.Items {
		found[list.Items[i].Name] = list.Items[i].Spec.Replicas
	}
	return found
}

// said fails the test unless one of the events so far has all the words. It takes them.
func (w *world) said(t *testing.T, words ...string) {
	t.Helper()
	var all []string
	for range len(w.recorder.Events) {
		all = append(all, <-w.recorder.Events)
	}
	for _, event := range all {
		missing := false
		for _, word := range words {
			missing = missing || !strings.Contains(event, word)
		}
		if !missing {
			return
		}
	}
	t.Errorf("no event has %q; there are:\n%s", words, strings.Join(all, "\n"))
}

// joins makes a machine of the group "small", with its node of 4 processors.
func (w *world) joins(t *testing.T, name string) {
	t.Helper()
	w.make(t, machine("small", name), node(name, "4"))
}

func deployment(name string, replicas int32) *gardenmachinev1alpha1.MachineDeployment {
	d := &gardenmachinev1alpha1.MachineDeployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	d.Spec.Replicas = replicas
	d.Spec.Template.Spec.Class = gardenmachinev1alpha1.ClassSpec{Kind: "MachineClass", Name: name + "-class"}
	d.Spec.Template.Spec.NodeTemplate.Labels = map[string]string{"pool": name}
	return d
}

func class(group, cpu string) *gardenmachinev1alpha1.MachineClass {
	return &gardenmachinev1alpha1.MachineClass{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: group + "-class"},
		NodeTemplate: &gardenmachinev1alpha1.NodeTemplate{
			Capacity: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse("8Gi")}, Zone: "a", Region: "here",
		},
	}
}

func machine(group, name string) *gardenmachinev1alpha1.Machine {
	m := &gardenmachinev1alpha1.Machine{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Name: name, Labels: map[string]string{"name": group, gardenmachinev1alpha1.LabelNode: name},
	}}
	m.Spec.Class = gardenmachinev1alpha1.ClassSpec{Kind: "MachineClass", Name: group + "-class"}
	return m
}

func node(name, cpu string) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name, corev1.LabelTopologyZone: "a"}}}
	n.Status.Allocatable = corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse("8Gi"), corev1.ResourcePods: resource.MustParse("110"),
	}
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	return n
}

// pod is one of a ReplicaSet, on a node or, without one, given up by the scheduler.
func pod(name, cpu, on string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: name, UID: types.UID(name), Labels: map[string]string{"app": "hello"},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "hello", UID: "hello", Controller: new(true)}},
	}}
	p.Spec.NodeName = on
	p.Spec.Containers = []corev1.Container{{Name: "one", Resources: corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse("100Mi")},
	}}}
	p.Status.Phase = corev1.PodRunning
	if on == "" {
		p.Status.Phase = corev1.PodPending
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}}
	}
	return p
}

func pods(count int, cpu string) []client.Object {
	var all []client.Object
	for i := range count {
		all = append(all, pod(fmt.Sprintf("pod-%d", i), cpu, ""))
	}
	return all
}

func daemonSet(cpu string) *appsv1.DaemonSet {
	d := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "agent", UID: "agent"}}
	d.Spec.Template.Spec = pod("agent", cpu, "").Spec
	return d
}
