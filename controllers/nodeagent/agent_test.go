// SPDX-License-Identifier: Apache-2.0

package nodeagent_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/clock"
	testingclock "k8s.io/utils/clock/testing"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/nodeagent"
)

const delaySeconds = "600"

var errSick = errors.New("the kubelet is sick")

// scene is an agent with its machine and its cluster.
type scene struct {
	agent *nodeagent.Agent
	units *supervisor
	clock *testingclock.FakeClock
	sick  bool

	cluster *fake.Clientset
}

func newScene(t *testing.T, c configuration) *scene {
	t.Helper()
	m, units := machine(t)
	s := &scene{units: units, clock: testingclock.NewFakeClock(time.Unix(1000, 0))}
	cluster := fake.NewClientset(
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "machine-a", UID: "uid-a"}},
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{
			Namespace: metav1.NamespaceSystem, Name: "small", ResourceVersion: "1", Annotations: map[string]string{gardencorev1beta1.AnnotationShootCloudConfigMaxDelay: delaySeconds},
		}},
	)
	s.cluster = cluster
	s.agent = &nodeagent.Agent{
		Kubelet: cluster, Own: cluster, Node: "machine-a", Secret: "small", Machine: m, Clock: s.clock,
		Healthy: func(context.Context) error {
			if s.sick {
				s.clock.Step(2 * time.Minute)
				return errSick
			}
			return nil
		},
	}
	s.configure(t, c)
	return s
}

func (s *scene) configure(t *testing.T, c configuration) string {
	t.Helper()
	data, checksum, err := nodeagent.Encode(c)
	if err != nil {
		t.Fatal(err)
	}
	secrets := s.agent.Own.CoreV1().Secrets(metav1.NamespaceSystem)
	secret, err := secrets.Get(t.Context(), "small", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	secret.Data = map[string][]byte{gardencorev1beta1.DataKeyNodeAgentConfig: data}
	if _, err := secrets.Update(t.Context(), secret, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	return checksum
}

func (s *scene) maxDelay(t *testing.T, seconds string) {
	t.Helper()
	secrets := s.cluster.CoreV1().Secrets(metav1.NamespaceSystem)
	secret, err := secrets.Get(t.Context(), "small", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	secret.Annotations = map[string]string{gardencorev1beta1.AnnotationShootCloudConfigMaxDelay: seconds}
	if _, err := secrets.Update(t.Context(), secret, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func (s *scene) reported(t *testing.T) string {
	t.Helper()
	node, err := s.agent.Kubelet.CoreV1().Nodes().Get(t.Context(), "machine-a", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return node.Annotations[gardencorev1beta1.AnnotationChecksumCloudConfigData]
}

// state is what a node reports and what its machine has.
type state struct{ Reports, Has string }

func (s *scene) state(t *testing.T) state {
	t.Helper()
	return state{Reports: s.reported(t), Has: read(t, s.agent.Machine, "/var/lib/kubelet/config")}
}

func (s *scene) pass(t *testing.T) time.Duration {
	t.Helper()
	_, wait, err := s.agent.Pass(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return wait
}

// TestChangesWaitForTheirTurn: the first configuration of a node is applied at once, a change when it is its turn, and what is applied is told.
func TestChangesWaitForTheirTurn(t *testing.T) {
	t.Parallel()
	s := newScene(t, kubelet("1"))
	first := nodeagent.Checksum(mustEncode(t, kubelet("1")))
	s.pass(t)
	if diff := cmp.Diff(state{Reports: first, Has: "maxPods: 1"}, s.state(t)); diff != "" {
		t.Fatalf("after the first pass (-want +got):\n%s", diff)
	}
	second := s.configure(t, kubelet("2"))
	turn := nodeagent.Delay("machine-a", second, 10*time.Minute)
	if turn < 10*time.Second {
		t.Fatalf("the turn of this node is after %s, which is too soon for this test", turn)
	}
	s.pass(t)
	s.clock.Step(turn - time.Second)
	wait := s.pass(t)
	if diff := cmp.Diff(state{Reports: first, Has: "maxPods: 1"}, s.state(t)); diff != "" || wait != time.Second {
		t.Errorf("a second before its turn the agent waits for %s, want a second; the machine (-want +got):\n%s", wait, diff)
	}
	s.clock.Step(time.Second)
	s.pass(t)
	if diff := cmp.Diff(state{Reports: second, Has: "maxPods: 2"}, s.state(t)); diff != "" {
		t.Errorf("at its turn (-want +got):\n%s", diff)
	}
}

// TestAnUnfinishedChangeHasItsTurn restarts the agent, which has forgotten for how long it waited, in the middle of a change.
func TestAnUnfinishedChangeHasItsTurn(t *testing.T) {
	t.Parallel()
	s := newScene(t, kubelet("1"))
	s.pass(t)
	second := s.configure(t, kubelet("2"))
	s.units.fails = "kubelet.service"
	if diff := cmp.Diff(errUnit, s.agent.Machine.Apply(t.Context(), kubelet("2")), cmpopts.EquateErrors()); diff != "" {
		t.Fatalf("the unit does not start: error of Apply(...) (-want +got):\n%s", diff)
	}
	s.units.fails = ""
	s.pass(t)
	if got := s.reported(t); got != second {
		t.Errorf("the node reports %q, want %q at once", got, second)
	}
}

// TestTheOwnerShortensTheDelay: what waits for its turn does not wait for longer than the owner wants by now.
func TestTheOwnerShortensTheDelay(t *testing.T) {
	t.Parallel()
	s := newScene(t, kubelet("1"))
	s.pass(t)
	second := s.configure(t, kubelet("2"))
	s.pass(t)
	if s.reported(t) == second {
		t.Fatal("the change did not wait at all")
	}
	s.maxDelay(t, "0")
	s.pass(t)
	if got := s.reported(t); got != second {
		t.Errorf("without a delay the node reports %q, want %q", got, second)
	}
}

func mustEncode(t *testing.T, c configuration) []byte {
	t.Helper()
	data, _, err := nodeagent.Encode(c)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestAppliedIsToldWithoutATurn is about an agent that restarted itself between applying a configuration and telling about it.
func TestAppliedIsToldWithoutATurn(t *testing.T) {
	t.Parallel()
	s := newScene(t, kubelet("1"))
	s.pass(t)
	second := s.configure(t, kubelet("2"))
	apply(t, s.agent.Machine, kubelet("2"))
	s.pass(t)
	if got := s.reported(t); got != second {
		t.Errorf("the node reports %q, want %q at once", got, second)
	}
}

// TestSickKubeletsAreNotToldAsDone_GLET_CARE_13 applies a setting with which the kubelet does not run.
func TestSickKubeletsAreNotToldAsDone_GLET_CARE_13(t *testing.T) {
	t.Parallel()
	s := newScene(t, kubelet("1"))
	s.sick = true
	_, _, err := s.agent.Pass(t.Context())
	if diff := cmp.Diff(errSick, err, cmpopts.EquateErrors()); diff != "" {
		t.Errorf("the kubelet says why: error of Pass(...) (-want +got):\n%s", diff)
	}
	if got := s.reported(t); got != "" {
		t.Errorf("the node reports %q as applied, although its kubelet is sick", got)
	}
}

// TestMaxDelay: the range is that of the annotation in the reference.
func TestMaxDelay(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]time.Duration{
		"": 300 * time.Second, "0": 0, "60": time.Minute, "1800": 30 * time.Minute, "1801": 300 * time.Second, "-1": 300 * time.Second, "x": 300 * time.Second,
	} {
		if got := nodeagent.MaxDelay(map[string]string{gardencorev1beta1.AnnotationShootCloudConfigMaxDelay: value}); got != want {
			t.Errorf("MaxDelay(%q) = %s, want %s", value, got, want)
		}
	}
}

// TestDelayIsSpread has nodes in each quarter of the time, and asks twice.
func TestDelayIsSpread(t *testing.T) {
	t.Parallel()
	quarters := map[int]int{}
	for i := range 100 {
		name := "machine-" + string(rune('a'+i%26)) + string(rune('a'+i/26))
		delay := nodeagent.Delay(name, "x", 4*time.Minute)
		if delay != nodeagent.Delay(name, "x", 4*time.Minute) || delay < 0 || delay >= 4*time.Minute {
			t.Fatalf("Delay(%q) = %s, want always the same below four minutes", name, delay)
		}
		quarters[int(delay/time.Minute)]++
	}
	for i := range 4 {
		if quarters[i] < 10 {
			t.Errorf("%d of 100 nodes have their turn in minute %d, want at least 10", quarters[i], i)
		}
	}
}

// telling is a clock that tells of the timers that are set.
type telling struct {
	*testingclock.FakeClock

	timers chan time.Duration
}

func (c *telling) NewTimer(d time.Duration) clock.Timer {
	timer := c.FakeClock.NewTimer(d)
	c.timers <- d
	return timer
}

// TestRunWatchesAndRenews runs an agent: a change reaches its machine by the watch, and its lease belongs to the Node and is renewed.
func TestRunWatchesAndRenews(t *testing.T) {
	t.Parallel()
	s := newScene(t, kubelet("1"))
	timers := &telling{FakeClock: s.clock, timers: make(chan time.Duration, 100)}
	s.agent.Clock = timers
	watched := make(chan *watch.FakeWatcher, 10)
	s.cluster.PrependWatchReactor("secrets", func(action clienttesting.Action) (bool, watch.Interface, error) {
		if only := action.(clienttesting.WatchAction).GetWatchRestrictions().Fields.String(); only != "metadata.name=small" {
			t.Errorf("the agent watches secrets with %q, which it may not", only)
		}
		watcher := watch.NewFake()
		watched <- watcher
		return true, watcher, nil
	})
	nodes, err := s.cluster.CoreV1().Nodes().Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	leases, err := s.cluster.CoordinationV1().Leases(metav1.NamespaceSystem).Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.agent.Run(ctx) }()

	lease, _ := (<-leases.ResultChan()).Object.(*coordinationv1.Lease)
	if lease == nil {
		t.Fatal("the first change of a lease has none")
	}
	owner := []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: "machine-a", UID: "uid-a"}}
	if diff := cmp.Diff(owner, lease.OwnerReferences); diff != "" || *lease.Spec.LeaseDurationSeconds != 40 {
		t.Errorf("the lease lasts for %d seconds, want 40; owners (-want +got):\n%s", *lease.Spec.LeaseDurationSeconds, diff)
	}
	for pause := range timers.timers {
		if pause == 10*time.Second { // The pause of the lease, not that between two passes.
			break
		}
	}
	s.clock.Step(10 * time.Second)
	renewed, _ := (<-leases.ResultChan()).Object.(*coordinationv1.Lease)
	if renewed == nil || renewed.Spec.RenewTime.Sub(lease.Spec.RenewTime.Time) != 10*time.Second {
		t.Errorf("lease %+v, want it renewed after ten seconds", renewed)
	}

	watcher := <-watched
	s.maxDelay(t, "0")
	want := s.configure(t, kubelet("2"))
	watcher.Modify(&corev1.Secret{})
	for change := range nodes.ResultChan() {
		if node, _ := change.Object.(*corev1.Node); node != nil && node.Annotations[gardencorev1beta1.AnnotationChecksumCloudConfigData] == want {
			break
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Errorf("Run(...) = %v, want no error at the end", err)
	}
}
