// SPDX-License-Identifier: Apache-2.0

package worker_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	gardenmachinev1alpha1 "github.com/terrarium-garden/terrarium/apis/machine/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/operation"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/cloud"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/engine"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/machinepod"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/worker"
)

// world is a seed that keeps objects, and whose machines the test makes itself.
type world struct {
	client.Client

	clock *clocktesting.FakeClock
	actor *worker.Actor
}

func newWorld(t *testing.T) *world {
	t.Helper()
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	w := &world{
		Client: fake.NewClientBuilder().WithScheme(types).Build(),
		clock:  clocktesting.NewFakeClock(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)),
	}
	w.actor = &worker.Actor{Access: engine.Access{
		Reader: w, Seed: deploy.Engine{Client: w, Owner: "test", Clock: w.clock}, Images: images(),
	}, Cloud: func(_ context.Context, namespace string) (cloud.Cloud, error) {
		return cloud.Cloud{Client: w, Namespace: namespace}, nil
	}}
	userData := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "osc-result"}, Data: map[string][]byte{"cloud_config": []byte("data")}}
	if err := w.Create(t.Context(), userData); err != nil {
		t.Fatal(err)
	}
	return w
}

// deployments maps the names of the machine deployments, without the namespace, to the numbers of machines that they want. One that is
// being deleted wants none.
func (w *world) deployments(t *testing.T) map[string]int32 {
	t.Helper()
	list := &gardenmachinev1alpha1.MachineDeploymentList{}
	if err := w.List(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	result := map[string]int32{}
	for _, d := range list.Items {
		result[strings.TrimPrefix(d.Name, namespace+"-")] = d.Spec.Replicas
	}
	return result
}

// deployment is the machine deployment of a pool.
func (w *world) deployment(t *testing.T, pool string) *gardenmachinev1alpha1.MachineDeployment {
	t.Helper()
	d := &gardenmachinev1alpha1.MachineDeployment{}
	if err := w.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: namespace + "-" + pool}, d); err != nil {
		t.Fatal(err)
	}
	return d
}

// addMachine makes a machine of a pool.
func (w *world) addMachine(t *testing.T, pool, name string, status gardenmachinev1alpha1.MachineStatus) *gardenmachinev1alpha1.Machine {
	t.Helper()
	template := w.deployment(t, pool).Spec.Template
	m := &gardenmachinev1alpha1.Machine{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: namespace + "-" + name, Labels: template.Labels}, Spec: template.Spec, Status: status,
	}
	if err := w.Create(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	return m
}

func running() gardenmachinev1alpha1.MachineStatus {
	return gardenmachinev1alpha1.MachineStatus{CurrentStatus: gardenmachinev1alpha1.CurrentStatus{Phase: gardenmachinev1alpha1.MachineRunning}}
}

// awaits fails the test unless err is a wait for what.
func awaits(t *testing.T, err error, what string) {
	t.Helper()
	if reason, waiting := kit.WaitReason(err); !waiting || reason != what {
		t.Fatalf("got %v, want to wait: %s", err, what)
	}
}

func TestReconcile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	object := newWorker(newPool())
	awaits(t, w.actor.Reconcile(t.Context(), object, newCluster("")), `Waiting for machines of "shoot--dev--sprout-small": 0 of 2 are running`)
	want := []gardenextensionsv1alpha1.MachineDeployment{{Name: namespace + "-small", Minimum: 2, Maximum: 4}}
	if diff := cmp.Diff(want, object.Status.MachineDeployments); diff != "" {
		t.Errorf("machine deployments are published before the machines are ready (-want +got):\n%s", diff)
	}
	w.addMachine(t, "small", "one", running())
	w.addMachine(t, "small", "two", gardenmachinev1alpha1.MachineStatus{LastOperation: gardenmachinev1alpha1.LastOperation{Description: "no network yet"}})
	awaits(t, w.actor.Reconcile(t.Context(), object, newCluster("")), `Waiting for machines of "shoot--dev--sprout-small": 1 of 2 are running; machine "shoot--dev--sprout-two": no network yet`)
	w.addMachine(t, "small", "three", running())
	if err := w.actor.Reconcile(t.Context(), object, newCluster("")); err != nil {
		t.Fatalf("Reconcile(...) = %v with all machines ready", err)
	}
}

// TestUpdateTime: the gardenlet waits for a time later than its request, also if nothing else changed.
func TestUpdateTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	object := newWorker(newPool())
	object.Annotations = map[string]string{gardencorev1beta1.AnnotationTimestamp: w.clock.Now().Format(time.RFC3339Nano)}
	run := func() time.Time {
		_ = w.actor.Reconcile(t.Context(), object, newCluster(""))
		return object.Status.MachineDeploymentsLastUpdateTime.Time
	}
	w.clock.Step(time.Second)
	first := run()
	w.clock.Step(time.Minute)
	if again := run(); !again.Equal(first) {
		t.Errorf("the time moved from %v to %v without a request", first, again)
	}
	object.Annotations[gardencorev1beta1.AnnotationTimestamp] = w.clock.Now().Format(time.RFC3339Nano)
	w.clock.Step(time.Second)
	if second := run(); !second.Equal(w.clock.Now()) {
		t.Errorf("the time is %v after a request, want %v", second, w.clock.Now())
	}
}

func TestReconcileTrouble(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	object := newWorker(newPool())
	_ = w.actor.Reconcile(t.Context(), object, newCluster(""))
	w.addMachine(t, "small", "one", gardenmachinev1alpha1.MachineStatus{LastOperation: gardenmachinev1alpha1.LastOperation{
		State: gardenmachinev1alpha1.MachineStateFailed, Description: `image "gone:v1" cannot be pulled`,
	}})
	err := w.actor.Reconcile(t.Context(), object, newCluster(""))
	if _, waiting := kit.WaitReason(err); err == nil || waiting || !strings.Contains(err.Error(), `"gone:v1"`) {
		t.Errorf("Reconcile(...) = %v, want an error that names the image", err)
	}
}

func TestReconcileRefuses(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		change func(*gardenextensionsv1alpha1.WorkerPool)
		config string
		want   string
		codes  []gardencorev1beta1.ErrorCode
	}{
		"NoSecret": {reason: "user data that is missing is named with its pool", change: func(p *gardenextensionsv1alpha1.WorkerPool) { p.UserDataSecretRef.Name = "none" }, want: `read user data of pool "small"`},
		"NoKey":    {reason: "so is a missing key", change: func(p *gardenextensionsv1alpha1.WorkerPool) { p.UserDataSecretRef.Key = "none" }, want: `has no key "none"`},
		"NoImage": {
			reason: "an image that the cloud profile does not know is the user's to fix",
			change: func(p *gardenextensionsv1alpha1.WorkerPool) { p.MachineImage.Version = "9" }, config: imageMap,
			want: `in version "9"`, codes: []gardencorev1beta1.ErrorCode{gardencorev1beta1.ErrorCodeConfigurationProblem},
		},
		"Configured": {
			reason: "a pool has nothing to configure",
			change: func(p *gardenextensionsv1alpha1.WorkerPool) {
				p.ProviderConfig = &runtime.RawExtension{Raw: []byte(`{"kind":"WorkerConfig","volume":{}}`)}
			},
			want: "spec.provider.workers[0].providerConfig", codes: []gardencorev1beta1.ErrorCode{gardencorev1beta1.ErrorCodeConfigurationProblem},
		},
		"NoKubelet": {
			reason: "a version of Kubernetes that no container image has is told before a machine is replaced",
			change: func(p *gardenextensionsv1alpha1.WorkerPool) { p.KubernetesVersion = new("1.36.5") }, config: imagesOf(twoKubelets),
			want: "not 1.36.5, so no machine is replaced", codes: []gardencorev1beta1.ErrorCode{gardencorev1beta1.ErrorCodeConfigurationProblem},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			pool := newPool()
			tc.change(&pool)
			err := w.actor.Reconcile(t.Context(), newWorker(pool), newCluster(tc.config))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("%s\nReconcile(...) = %v, want an error with %q", tc.reason, err, tc.want)
			}
			if diff := cmp.Diff(tc.codes, operation.Codes(err)); diff != "" {
				t.Errorf("%s\ncodes (-want +got):\n%s", tc.reason, diff)
			}
			if sets := w.deployments(t); len(sets) != 0 {
				t.Errorf("%s\n%d machine deployments were made", tc.reason, len(sets))
			}
		})
	}
}

// TestPoolRemoved: the machines of a pool that left the Worker go, and those of the others stay.
func TestPoolRemoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first, second := newPool(), newPool()
	first.Minimum, second.Minimum, second.Name = 1, 1, "large"
	_ = w.actor.Reconcile(t.Context(), newWorker(first, second), newCluster(""))
	w.addMachine(t, "small", "one", running())
	leaving := w.addMachine(t, "large", "two", running())
	if err := w.actor.Reconcile(t.Context(), newWorker(first, second), newCluster("")); err != nil {
		t.Fatal(err)
	}
	awaits(t, w.actor.Reconcile(t.Context(), newWorker(first), newCluster("")), "Waiting for 1 machines to stop")
	if got := w.deployments(t); len(got) != 1 {
		t.Errorf("machine deployments are %v, want the one that is left", got)
	}
	if err := w.Get(t.Context(), client.ObjectKeyFromObject(leaving), leaving); err != nil || leaving.Labels[gardenmachinev1alpha1.LabelForceDeletion] != "" {
		t.Errorf("a machine of a pool that left is not drained: %v, %v", leaving.Labels, err)
	}
	if err := w.Delete(t.Context(), leaving); err != nil {
		t.Fatal(err)
	}
	if err := w.actor.Reconcile(t.Context(), newWorker(first), newCluster("")); err != nil {
		t.Fatal(err)
	}
	classes := &gardenmachinev1alpha1.MachineClassList{}
	if err := w.List(t.Context(), classes); err != nil || len(classes.Items) != 1 || !strings.HasPrefix(classes.Items[0].Name, namespace+"-small-") {
		t.Errorf("machine classes are %v, %v, want that of the pool that is left", classes.Items, err)
	}
}

func TestDelete(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	object := newWorker(newPool())
	_ = w.actor.Reconcile(t.Context(), object, newCluster(""))
	machine := w.addMachine(t, "small", "one", running())
	orphan := machinepod.Pod(machinepod.Values{Namespace: namespace, Name: "machine-small-lost"})
	if err := w.Create(t.Context(), orphan); err != nil {
		t.Fatal(err)
	}
	awaits(t, w.actor.Delete(t.Context(), object, nil), "Waiting for 1 machines to stop")
	if err := w.Get(t.Context(), client.ObjectKeyFromObject(machine), machine); err != nil || machine.Labels[gardenmachinev1alpha1.LabelForceDeletion] != "True" {
		t.Errorf("the machine would be drained: %v, %v", machine.Labels, err)
	}
	if err := w.Delete(t.Context(), machine); err != nil {
		t.Fatal(err)
	}
	if err := w.actor.Delete(t.Context(), object, nil); err != nil {
		t.Fatal(err)
	}
	if sets := w.deployments(t); len(sets) != 0 {
		t.Errorf("%d machine deployments are left", len(sets))
	}
	for _, list := range []client.ObjectList{&gardenmachinev1alpha1.MachineClassList{}, &corev1.PodList{}} {
		if err := w.List(t.Context(), list); err != nil || meta.LenList(list) != 0 {
			t.Errorf("%T has %d objects, error %v", list, meta.LenList(list), err)
		}
	}
	if err := w.actor.Delete(t.Context(), object, nil); err != nil {
		t.Errorf("Delete(...) = %v when there is nothing left", err)
	}
}

// TestDeleteTellsOfRefusals: another cluster is asked whether it lets machines be deleted, with two requests for any number of them.
func TestDeleteTellsOfRefusals(t *testing.T) {
	t.Parallel()
	pods := schema.GroupResource{Resource: "pods"}
	for reason, tc := range map[string]struct {
		answer error
		told   bool
	}{
		"it does":             {nil, false},
		"it is busy":          {apierrors.NewTooManyRequests("later", 1), false},
		"it does not":         {apierrors.NewForbidden(pods, "machine", nil), true},
		"it knows nobody":     {apierrors.NewUnauthorized("who is it"), true},
		"the machine is gone": {apierrors.NewNotFound(pods, "machine"), false},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			object := newWorker(newPool())
			_ = w.actor.Reconcile(t.Context(), object, newCluster(""))
			w.addMachine(t, "small", "one", running())
			for _, name := range []string{"machine-a", "machine-b", "machine-c"} {
				pod := machinepod.Pod(machinepod.Values{Namespace: namespace, Name: name})
				secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: machinepod.Labels()}}
				if err := errors.Join(w.Create(t.Context(), pod), w.Create(t.Context(), secret)); err != nil {
					t.Fatal(err)
				}
			}
			asked := 0
			below, _ := w.Client.(client.WithWatch)
			other := interceptor.NewClient(below, interceptor.Funcs{
				Delete: func(context.Context, client.WithWatch, client.Object, ...client.DeleteOption) error {
					asked++
					return tc.answer
				},
			})
			w.actor.Cloud = func(_ context.Context, namespace string) (cloud.Cloud, error) {
				return cloud.Cloud{Client: other, Namespace: namespace, Place: "elsewhere"}, nil
			}
			err := w.actor.Delete(t.Context(), object, nil)
			if _, waits := kit.WaitReason(err); waits == tc.told || tc.told && !errors.Is(err, tc.answer) {
				t.Errorf("Delete(...) = %v, want the answer to be told: %t", err, tc.told)
			}
			if !tc.told && asked != 2 {
				t.Errorf("%d requests, want one for a pod and one for a Secret", asked)
			}
		})
	}
}

// TestHibernationForces: machines of a shoot that goes to sleep are not drained, and all of them are waited for.
func TestHibernationForces_EXT_WLIB_2(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	object := newWorker(newPool())
	_ = w.actor.Reconcile(t.Context(), object, newCluster(""))
	machine := w.addMachine(t, "small", "one", running())
	machine.Finalizers = []string{gardenmachinev1alpha1.FinalizerMachineControllerManager}
	if err := w.Update(t.Context(), machine); err != nil {
		t.Fatal(err)
	}
	asleep := newCluster("")
	asleep.Shoot.Spec.Hibernation = &gardencorev1beta1.Hibernation{Enabled: new(true)}
	awaits(t, w.actor.Reconcile(t.Context(), object, asleep), `Waiting for machines of "shoot--dev--sprout-small": 1 of 0 are running`)
	if err := w.Get(t.Context(), client.ObjectKeyFromObject(machine), machine); err != nil || machine.Labels[gardenmachinev1alpha1.LabelForceDeletion] != "True" {
		t.Errorf("the machine would be drained: %v, %v", machine.Labels, err)
	}
	if err := w.Delete(t.Context(), machine); err != nil {
		t.Fatal(err)
	}
	awaits(t, w.actor.Reconcile(t.Context(), object, asleep), `Waiting for machines of "shoot--dev--sprout-small": 1 are stopping`)
}
