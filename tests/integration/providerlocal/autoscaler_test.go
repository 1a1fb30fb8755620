// SPDX-License-Identifier: Apache-2.0

package providerlocal_test

import (
	"context"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	gardenmachinev1alpha1 "github.com/terrarium-garden/terrarium/apis/machine/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/clusterautoscaler"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/extension/crds"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/autoscaler"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/cloud"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/engine"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/worker"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

const scaledHome = "shoot--dev--scaled"

// scaledShoot has a pool that may grow from one machine to three.
func scaledShoot() *gardencorev1beta1.Shoot {
	s := &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Name: "scaled"}}
	s.Spec.Provider = gardencorev1beta1.Provider{Type: "local", Workers: []gardencorev1beta1.Worker{{Name: "small", Minimum: 1, Maximum: 3}}}
	return s
}

// orderMachines writes the machine deployment as a reconciliation of the Worker does. It does not wait for machines, which nobody makes.
func orderMachines(t *testing.T, seed client.Client) *gardenextensionsv1alpha1.Worker {
	t.Helper()
	object := &gardenextensionsv1alpha1.Worker{ObjectMeta: metav1.ObjectMeta{Namespace: scaledHome, Name: "scaled", UID: "worker"}}
	object.Spec.Pools = []gardenextensionsv1alpha1.WorkerPool{{
		Name: "small", MachineType: "local", Minimum: 1, Maximum: 3, MaxSurge: intstr.FromInt32(1), MaxUnavailable: intstr.FromInt32(0),
		NodeTemplate: &gardenextensionsv1alpha1.NodeTemplate{Capacity: corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("2"), corev1.ResourceMemory: resource.MustParse("4Gi"),
		}},
		UserDataSecretRef: corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "osc-result"}, Key: "cloud_config"},
	}}
	actor := &worker.Actor{
		Access: engine.Access{
			Reader: seed, Seed: deploy.Engine{Client: seed, Owner: engine.Name, Clock: clock.RealClock{}}, Images: engine.Images{Machine: "machine:v1", Pause: "pause:v1"},
		},
		Cloud: func(context.Context, string) (cloud.Cloud, error) {
			return cloud.Cloud{Client: seed, Namespace: scaledHome}, nil
		},
	}
	cluster := &engine.Cluster{Namespace: scaledHome, Shoot: scaledShoot(), CloudProfile: &gardencorev1beta1.CloudProfile{}}
	if err := actor.Reconcile(t.Context(), object, cluster); err == nil {
		t.Fatal("machines are there that nobody has made")
	}
	return object
}

// startScaledSeed is a seed with the machine deployment, and with the rights of the autoscaler as the gardenlet deploys them.
func startScaledSeed(t *testing.T) (garden *harness.Garden, scaler client.Client) {
	t.Helper()
	garden = harness.Start(t)
	definitions, err := crds.Objects()
	if err != nil {
		t.Fatal(err)
	}
	applier := deploy.Engine{Client: garden.Client, Owner: "test", Clock: clock.RealClock{}}
	objs := append(definitions, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: scaledHome}}, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: scaledHome, Name: "osc-result"}, Data: map[string][]byte{"cloud_config": []byte("data")},
	})
	if err := applier.Apply(t.Context(), objs...); err != nil {
		t.Fatal(err)
	}
	if err := applier.WaitReady(t.Context(), definitions...); err != nil {
		t.Fatal(err)
	}
	in := &component.Inputs{
		Replicas: 1, Images: map[string]string{"terrarium": "terrarium:v1", "cluster-autoscaler": "upstream:v1"},
		Secrets: map[string]component.Secret{"ca": {Bundle: "ca"}, "cluster-autoscaler": {Name: "cluster-autoscaler"}},
	}
	rendered, err := clusterautoscaler.Component().Render(facts.Shoot{Namespace: scaledHome, Shoot: scaledShoot()}, in)
	if err != nil {
		t.Fatal(err)
	}
	for _, obj := range rendered {
		switch obj.(type) {
		case *rbacv1.Role, *rbacv1.RoleBinding:
			if err := applier.Apply(t.Context(), obj); err != nil {
				t.Fatal(err)
			}
		}
	}
	return garden, garden.As(t, "system:serviceaccount:"+scaledHome+":cluster-autoscaler", "system:serviceaccounts", "system:authenticated")
}

// newScaler scales the pool for one pod that fits nowhere. The API server of a garden serves no pods and nodes, so the shoot is a fake;
// the machines are in a real server.
func newScaler(t *testing.T, garden *harness.Garden, seed client.Client, bounds autoscaler.Bounds) *autoscaler.Autoscaler {
	t.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "waiting"}}
	pod.Spec.Containers = []corev1.Container{{Name: "one", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}}}}
	pod.Status.Phase = corev1.PodPending
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}}
	busy := pod.DeepCopy()
	busy.Name = "busy"
	return &autoscaler.Autoscaler{
		Options: autoscaler.Options{
			Settings:  autoscaler.Settings{MaxNodeProvisionTime: time.Hour, ScaleDownUnneededTime: time.Hour, ScaleDownUtilizationThreshold: 0.5},
			Namespace: scaledHome, Groups: []autoscaler.Bounds{bounds}, Expanders: []string{autoscaler.LeastWaste}, ScanInterval: time.Second,
		},
		Shoot: fake.NewClientBuilder().WithScheme(garden.Scheme).WithObjects(pod, busy).Build(), Seed: seed,
		Recorder: events.NewFakeRecorder(10), Clock: clocktesting.NewFakeClock(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)), Log: logr.Discard(),
	}
}

func scaledTo(t *testing.T, garden *harness.Garden, want int32, reason string) {
	t.Helper()
	d := &gardenmachinev1alpha1.MachineDeployment{}
	if err := garden.Client.Get(t.Context(), client.ObjectKey{Namespace: scaledHome, Name: scaledHome + "-small"}, d); err != nil {
		t.Fatal(err)
	}
	if d.Spec.Replicas != want {
		t.Errorf("%s\nthe machine deployment wants %d machines, want %d", reason, d.Spec.Replicas, want)
	}
}

// TestScalerAndWorkerShareANumber: the autoscaler scales with the rights that it is given, and the next reconciliation of the Worker leaves
// the number as it is. It has no rights beside these.
func TestScalerAndWorkerShareANumber_EXT_WLIB_1(t *testing.T) {
	t.Parallel()
	garden, rights := startScaledSeed(t)
	object := orderMachines(t, garden.Client)
	scaledTo(t, garden, 1, "a new deployment begins with its minimum")
	published := object.Status.MachineDeployments[0]
	bounds := autoscaler.Bounds{Name: published.Name, Minimum: published.Minimum, Maximum: published.Maximum}
	if err := newScaler(t, garden, rights, bounds).Pass(t.Context()); err != nil {
		t.Fatal(err)
	}
	scaledTo(t, garden, 2, "the pods need two machines, of which one is ordered")
	orderMachines(t, garden.Client)
	scaledTo(t, garden, 2, "a reconciliation keeps the number")

	want, got := map[string]metav1.StatusReason{}, map[string]metav1.StatusReason{}
	for what, err := range map[string]error{
		"read Secrets of the control plane": rights.Get(t.Context(), client.ObjectKey{Namespace: scaledHome, Name: "osc-result"}, &corev1.Secret{}),
		"read machines of other shoots":     rights.List(t.Context(), &gardenmachinev1alpha1.MachineList{}, client.InNamespace("shoot--dev--other")),
		"delete machines around their set":  rights.Delete(t.Context(), &gardenmachinev1alpha1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: scaledHome, Name: "any"}}),
	} {
		want[what], got[what] = metav1.StatusReasonForbidden, apierrors.ReasonForError(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what the autoscaler may not, by reason (-want +got):\n%s", diff)
	}
}
