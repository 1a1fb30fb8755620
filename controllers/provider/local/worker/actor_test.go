// SPDX-License-Identifier: Apache-2.0

package worker_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/operation"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/engine"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/machinedeployment"
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
	}}
	userData := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "osc-result"}, Data: map[string][]byte{"cloud_config": []byte("data")}}
	if err := w.Create(t.Context(), userData); err != nil {
		t.Fatal(err)
	}
	return w
}

// sets returns the machine deployments by name.
func (w *world) sets(t *testing.T) map[string]machinedeployment.Deployment {
	t.Helper()
	list := &corev1.SecretList{}
	if err := w.List(t.Context(), list, client.MatchingLabels(machinedeployment.SecretLabels("sprout"))); err != nil {
		t.Fatal(err)
	}
	sets := map[string]machinedeployment.Deployment{}
	for i := range list.Items {
		set, _, err := machinedeployment.FromSecret(&list.Items[i])
		if err != nil {
			t.Fatal(err)
		}
		sets[set.Name] = set
	}
	return sets
}

// addMachine makes a machine of a set.
func (w *world) addMachine(t *testing.T, set machinedeployment.Deployment, name string, status corev1.PodStatus) *corev1.Pod {
	t.Helper()
	pod, err := set.Pod(namespace, name)
	if err != nil {
		t.Fatal(err)
	}
	pod.Status = status
	if err := w.Create(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	return pod
}

func ready() corev1.PodStatus {
	return corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}
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
	awaits(t, w.actor.Reconcile(t.Context(), object, newCluster("")), `Waiting for machines of "small": 0 of 2 are ready`)
	want := []gardenextensionsv1alpha1.MachineDeployment{{Name: namespace + "-small", Minimum: 2, Maximum: 4}}
	if diff := cmp.Diff(want, object.Status.MachineDeployments); diff != "" {
		t.Errorf("machine deployments are published before the machines are ready (-want +got):\n%s", diff)
	}
	set := w.sets(t)["small"]
	w.addMachine(t, set, "one", ready())
	w.addMachine(t, set, "two", corev1.PodStatus{})
	awaits(t, w.actor.Reconcile(t.Context(), object, newCluster("")), `Waiting for machines of "small": 1 of 2 are ready`)
	w.addMachine(t, set, "three", ready())
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
	w.addMachine(t, w.sets(t)["small"], "one", corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{
		Image: "gone:v1", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff"}},
	}}})
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
			if sets := w.sets(t); len(sets) != 0 {
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
	w.addMachine(t, w.sets(t)["small"], "one", ready())
	leaving := w.addMachine(t, w.sets(t)["large"], "two", ready())
	if err := w.actor.Reconcile(t.Context(), newWorker(first, second), newCluster("")); err != nil {
		t.Fatal(err)
	}
	awaits(t, w.actor.Reconcile(t.Context(), newWorker(first), newCluster("")), "Waiting for 1 machines to stop")
	if got := w.sets(t)["large"].Replicas; got != 0 {
		t.Errorf("the pool that left still wants %d machines", got)
	}
	if err := w.Delete(t.Context(), leaving); err != nil {
		t.Fatal(err)
	}
	if err := w.actor.Reconcile(t.Context(), newWorker(first), newCluster("")); err != nil {
		t.Fatal(err)
	}
	var names []string
	for name := range w.sets(t) {
		names = append(names, name)
	}
	if !slices.Equal(names, []string{"small"}) {
		t.Errorf("machine deployments are %q, want the one that is left", names)
	}
}

func TestDelete(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	object := newWorker(newPool())
	_ = w.actor.Reconcile(t.Context(), object, newCluster(""))
	machine := w.addMachine(t, w.sets(t)["small"], "one", ready())
	awaits(t, w.actor.Delete(t.Context(), object, nil), "Waiting for 1 machines to stop")
	if err := w.Delete(t.Context(), machine); err != nil {
		t.Fatal(err)
	}
	if err := w.actor.Delete(t.Context(), object, nil); err != nil {
		t.Fatal(err)
	}
	if sets := w.sets(t); len(sets) != 0 {
		t.Errorf("%d machine deployments are left", len(sets))
	}
	if err := w.actor.Delete(t.Context(), object, nil); err != nil {
		t.Errorf("Delete(...) = %v when there is nothing left", err)
	}
}
