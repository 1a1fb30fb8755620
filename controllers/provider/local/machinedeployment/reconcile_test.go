// SPDX-License-Identifier: Apache-2.0

package machinedeployment_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/machinedeployment"
	"github.com/terrarium-garden/terrarium/tests/golden"
)

const namespace = "shoot--dev--sprout"

func set() machinedeployment.Deployment {
	return machinedeployment.Deployment{
		Name: "worker", Image: "terrarium.garden/machine:v1.36.3", PauseImage: "terrarium.garden/pause:v1", ImageArchives: "/var/lib/seedling/images",
		Hash: "0a500", Replicas: 2, MaxSurge: 1,
		Node: machinedeployment.NodeTemplate{Labels: map[string]string{"worker.gardener.cloud/pool": "worker"}, Region: "local", Zone: "local"},
	}
}

func TestPod(t *testing.T) {
	t.Parallel()
	full, err := set().Pod(namespace, "machine-worker-0a500-abcde")
	if err != nil {
		t.Fatal(err)
	}
	bare := set()
	bare.ImageArchives, bare.PauseImage = "", ""
	small, err := bare.Pod(namespace, "machine-worker-0a500-fghij")
	if err != nil {
		t.Fatal(err)
	}
	golden.Objects(t, "pods.yaml", []client.Object{full, small})
}

// seed has no pods that run, only an API for them; what a set is made into can be seen there.
type seed struct {
	client.Client

	shoot      client.Client
	reconciler *machinedeployment.Reconciler
	key        client.ObjectKey
}

func newSeed(t *testing.T, userData string, shootError error) *seed {
	t.Helper()
	s := &seed{Client: fake.NewClientBuilder().Build(), shoot: fake.NewClientBuilder().Build()}
	count := 0
	s.reconciler = &machinedeployment.Reconciler{
		Base:  kit.Base{Client: s, Reader: s, Clock: clocktesting.NewFakeClock(now())},
		Shoot: func(context.Context, string) (*kit.Shoot, error) { return &kit.Shoot{Client: s.shoot}, shootError },
		Random: func(n int) string {
			count++
			return fmt.Sprintf("%0*d", n, count)
		},
	}
	s.write(t, set(), userData)
	return s
}

// Create gives objects their time, as a server does.
func (s *seed) Create(ctx context.Context, object client.Object, options ...client.CreateOption) error {
	object.SetCreationTimestamp(metav1.NewTime(now()))
	return s.Client.Create(ctx, object, options...)
}

// write puts the set into its Secret.
func (s *seed) write(t *testing.T, d machinedeployment.Deployment, userData string) {
	t.Helper()
	secret, err := d.Secret(namespace, "sprout", []byte(userData))
	if err != nil {
		t.Fatal(err)
	}
	s.key = client.ObjectKeyFromObject(secret)
	if err := s.Delete(t.Context(), secret.DeepCopy()); client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	if err := s.Create(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
}

func (s *seed) run(t *testing.T) (reconcile.Result, error) {
	t.Helper()
	return s.reconciler.Reconcile(t.Context(), reconcile.Request{NamespacedName: s.key})
}

func (s *seed) mustRun(t *testing.T) {
	t.Helper()
	if _, err := s.run(t); err != nil {
		t.Fatal(err)
	}
}

func (s *seed) pods(t *testing.T) []corev1.Pod {
	t.Helper()
	list := &corev1.PodList{}
	if err := s.List(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	return list.Items
}

func podNames(pods []corev1.Pod) []string {
	var names []string
	for _, p := range pods {
		names = append(names, p.Name)
	}
	slices.Sort(names)
	return names
}

// userData maps the names of the user data Secrets to what is in them.
func (s *seed) userData(t *testing.T) map[string]string {
	t.Helper()
	list := &corev1.SecretList{}
	if err := s.List(t.Context(), list, client.HasLabels{machinedeployment.LabelDeployment}); err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, secret := range list.Items {
		texts[secret.Name] = string(secret.Data["cloud_config"])
	}
	return texts
}

func TestReconcileCreates(t *testing.T) {
	t.Parallel()
	s := newSeed(t, "token: <<BOOTSTRAP_TOKEN>>", nil)
	s.mustRun(t)
	const first, second = "machine-worker-0a500-00001", "machine-worker-0a500-00004"
	if diff := cmp.Diff([]string{first, second}, podNames(s.pods(t))); diff != "" {
		t.Errorf("machines (-want +got):\n%s", diff)
	}
	want := map[string]string{first: "token: 000002.0000000000000003", second: "token: 000005.0000000000000006"}
	if diff := cmp.Diff(want, s.userData(t)); diff != "" {
		t.Errorf("each machine has a token of its own (-want +got):\n%s", diff)
	}
	token := &corev1.Secret{}
	if err := s.shoot.Get(t.Context(), client.ObjectKey{Namespace: "kube-system", Name: "bootstrap-token-000002"}, token); err != nil {
		t.Fatal(err)
	}
	if token.Type != corev1.SecretTypeBootstrapToken || string(token.Data["expiration"]) != "2026-11-20T12:30:00Z" || string(token.Data["token-secret"]) != "0000000000000003" {
		t.Errorf("token of the first machine is %q, expires %q, secret %q", token.Type, token.Data["expiration"], token.Data["token-secret"])
	}
	s.mustRun(t)
	if got := len(s.pods(t)); got != 2 {
		t.Errorf("another pass made it %d machines, want 2", got)
	}
}

func TestReconcileWithoutToken(t *testing.T) {
	t.Parallel()
	s := newSeed(t, "no place for one", errors.New("the shoot is not asked"))
	s.mustRun(t)
	if got := len(s.pods(t)); got != 2 {
		t.Errorf("%d machines, want 2: user data without a place for a token needs no shoot", got)
	}
}

// TestReconcileShootDown: a machine without a token would wait for one for ever, so none is made.
func TestReconcileShootDown(t *testing.T) {
	t.Parallel()
	down := errors.New("the shoot does not answer")
	s := newSeed(t, "<<BOOTSTRAP_TOKEN>>", down)
	if _, err := s.run(t); !errors.Is(err, down) {
		t.Errorf("Reconcile(...) = %v, want %v", err, down)
	}
	if pods, texts := s.pods(t), s.userData(t); len(pods) != 0 || len(texts) != 0 {
		t.Errorf("%d machines and %d user data were made, want none", len(pods), len(texts))
	}
}

func TestReconcileOrphans(t *testing.T) {
	t.Parallel()
	s := newSeed(t, "x", nil)
	s.mustRun(t)
	gone := s.pods(t)[0]
	if err := s.Delete(t.Context(), &gone); err != nil {
		t.Fatal(err)
	}
	s.mustRun(t)
	if pods := podNames(s.pods(t)); len(pods) != 2 || slices.Contains(pods, gone.Name) {
		t.Errorf("machines are %q: the one that is gone is replaced by one of another name", pods)
	}
	texts := s.userData(t)
	for _, pod := range s.pods(t) {
		if _, found := texts[pod.Name]; !found {
			t.Errorf("machine %q has no user data", pod.Name)
		}
	}
	if len(texts) != 2 {
		t.Errorf("%d user data for 2 machines: that of the machine that is gone goes as well", len(texts))
	}
}

func TestReconcileScalesToNothing(t *testing.T) {
	t.Parallel()
	s := newSeed(t, "x", nil)
	s.mustRun(t)
	d := set()
	d.Replicas = 0
	s.write(t, d, "x")
	s.mustRun(t)
	s.mustRun(t)
	if pods, texts := s.pods(t), s.userData(t); len(pods) != 0 || len(texts) != 0 {
		t.Errorf("%d machines and %d user data are left, want none", len(pods), len(texts))
	}
}

// TestReconcileAnnotates: labels of a pool reach machines that exist, without new machines.
func TestReconcileAnnotates(t *testing.T) {
	t.Parallel()
	s := newSeed(t, "x", nil)
	s.mustRun(t)
	before := podNames(s.pods(t))
	d := set()
	d.Node.Labels = map[string]string{"colour": "green"}
	s.write(t, d, "x")
	s.mustRun(t)
	if diff := cmp.Diff(before, podNames(s.pods(t))); diff != "" {
		t.Errorf("machines changed (-before +after):\n%s", diff)
	}
	for _, pod := range s.pods(t) {
		if got := pod.Annotations[machinedeployment.AnnotationNode]; !strings.Contains(got, `"colour":"green"`) {
			t.Errorf("annotation of machine %q is %s", pod.Name, got)
		}
	}
}

func TestReconcileRechecks(t *testing.T) {
	t.Parallel()
	s := newSeed(t, "x", nil)
	s.mustRun(t)
	result, err := s.run(t)
	if err != nil || result.RequeueAfter == 0 {
		t.Errorf("Reconcile(...) = %+v, %v: unready machines are checked again, because no event says when patience ends", result, err)
	}
	for _, pod := range s.pods(t) {
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(now())}}
		if err := s.Status().Update(t.Context(), &pod); err != nil {
			t.Fatal(err)
		}
	}
	if result, err := s.run(t); err != nil || result.RequeueAfter != 0 {
		t.Errorf("Reconcile(...) = %+v, %v: a complete set waits for events", result, err)
	}
}
