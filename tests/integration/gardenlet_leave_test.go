// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/appliance/cli"
	"github.com/terrarium-garden/terrarium/appliance/gardenlet/join"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// TestLeaveProcess removes a gardenlet that runs as a process, which has only its credentials in the cluster.
func TestLeaveProcess(t *testing.T) {
	t.Parallel()
	n := newNursery(t)
	fresh := n.inventory()
	leave := join.LeaveOptions{SeedKubeconfig: n.seed.Kubeconfig, Timeout: harness.Patience}
	if err := join.Leave(t.Context(), leave, n.joinSurroundings(&telling{})); !errors.Is(err, join.ErrNoGardenlet) {
		t.Errorf("Leave(...) before the join: got error %v, want %v", err, join.ErrNoGardenlet)
	}
	n.joinOnce(n.joinOptions(n.token(time.Hour).String()))

	second := n.joinOptions(n.token(time.Hour).String())
	second.Name = "two"
	ctx, cancel := context.WithTimeout(t.Context(), harness.Patience)
	defer cancel()
	err := join.Run(ctx, second, n.joinSurroundings(&telling{}), n.seed.Kubeconfig)
	if !errors.Is(err, join.ErrOtherSeed) || !strings.Contains(err.Error(), `"one"`) {
		t.Errorf("The cluster does not become two seeds.\nRun(...): got error %v, want %v that names the seed", err, join.ErrOtherSeed)
	}

	n.checkLeaveOfRunningProcess(leave)
	joined := n.inventory()
	var asked join.Departure
	refusal := errors.New("no")
	leave.Confirm = func(_ context.Context, d join.Departure) error {
		asked = d
		return refusal
	}
	if err := join.Leave(t.Context(), leave, n.joinSurroundings(&telling{})); !errors.Is(err, refusal) {
		t.Errorf("Leave(...): got error %v, want the answer %v", err, refusal)
	}
	if diff := cmp.Diff(joined, n.inventory()); diff != "" {
		t.Errorf("Nothing changes before the answer (-want +got):\n%s", diff)
	}
	want := join.Departure{Cluster: n.seed.Server, Seed: "one", Process: true, Objects: []string{
		"Secret garden/gardenlet-kubeconfig-bootstrap", "Secret garden/gardenlet-kubeconfig", "Lease garden/gardenlet-leader-election",
	}}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Errorf("What is removed is told before (-want +got):\n%s", diff)
	}
	leave.Confirm = nil
	if err := join.Leave(t.Context(), leave, n.joinSurroundings(&telling{})); err != nil {
		t.Fatalf("Leave(...): %v", err)
	}
	for _, left := range n.inventory() {
		if strings.Contains(left, "garden/gardenlet-") && !slices.Contains(fresh, left) {
			t.Errorf("%s is left in the cluster", left)
		}
	}
	if err := join.Leave(t.Context(), leave, n.joinSurroundings(&telling{})); !errors.Is(err, join.ErrNoGardenlet) {
		t.Errorf("Leave(...) again: got error %v, want %v", err, join.ErrNoGardenlet)
	}
}

// checkLeaveOfRunningProcess has the lease say that the gardenlet runs.
func (n *nursery) checkLeaveOfRunningProcess(o join.LeaveOptions) {
	n.t.Helper()
	lease := &coordinationv1.Lease{}
	if err := n.seed.Client.Get(n.t.Context(), client.ObjectKey{Namespace: "garden", Name: "gardenlet-leader-election"}, lease); err != nil {
		n.t.Fatal(err)
	}
	hold := func(by string, at time.Time) {
		lease.Spec.HolderIdentity, lease.Spec.RenewTime, lease.Spec.LeaseDurationSeconds = &by, &metav1.MicroTime{Time: at}, new(int32(600))
		if err := n.seed.Client.Update(n.t.Context(), lease); err != nil {
			n.t.Fatal(err)
		}
	}
	hold("machine-1", time.Now())
	if err := join.Leave(n.t.Context(), o, n.joinSurroundings(&telling{})); !errors.Is(err, join.ErrRuns) || !strings.Contains(err.Error(), "machine-1") {
		n.t.Errorf("It would go on without its credentials.\nLeave(...): got error %v, want %v that names the process", err, join.ErrRuns)
	}
	hold("machine-1", time.Now().Add(-time.Hour))
}

// TestLeaveAsks leaves as a user does.
func TestLeaveAsks(t *testing.T) {
	t.Parallel()
	n := newNursery(t)
	configMap := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "gardenlet-configmap"},
		Data: map[string]string{"config.yaml": `seedConfig: {metadata: {name: two}}
gardenClientConnection:
  bootstrapKubeconfig: {namespace: garden, name: gardenlet-kubeconfig-bootstrap}
  kubeconfigSecret: {namespace: garden, name: gardenlet-kubeconfig}
`},
	}
	n.seed.create(configMap)
	leaveWith := func(in io.Reader, args ...string) (status int, out, errs string) {
		var o, e bytes.Buffer
		status = cli.Main(t.Context(), cli.Environment{
			In: in, Out: &o, Err: &e, Getenv: func(string) string { return "" }, Clock: clock.RealClock{},
		}, append([]string{"gardenlet", "leave", "--seed-kubeconfig", n.seed.Kubeconfig}, args...))
		return status, o.String(), e.String()
	}
	leave := func(answer string, args ...string) (status int, out, errs string) {
		return leaveWith(strings.NewReader(answer), args...)
	}
	target := fmt.Sprintf("The cluster %s is seed %q.", n.seed.Server, "two")
	for _, tc := range []struct {
		reason, answer string
		args           []string
		status         int
		out, errs      string
	}{
		{"a script that does not know of the question changes nothing", "", nil, 1, "", "nothing was removed"},
		{"only the whole word is a yes", "y\n", nil, 1, "", "--yes"},
		{"a dry run lists what is removed", "yes\n", []string{"--dry-run"}, 0, "ConfigMap garden/gardenlet-configmap", ""},
	} {
		status, out, errs := leave(tc.answer, tc.args...)
		if status != tc.status || !strings.Contains(out, tc.out) || !strings.Contains(errs, tc.errs) || !strings.Contains(errs, target) {
			t.Errorf("%s\ngardenlet leave %v: status %d\n%s%s\nwant status %d, %q, %q and %q", tc.reason, tc.args, status, out, errs, tc.status, tc.out, tc.errs, target)
		}
		if err := n.seed.Client.Get(t.Context(), client.ObjectKeyFromObject(configMap), configMap); err != nil {
			t.Fatalf("%s\nthe gardenlet stays: %v", tc.reason, err)
		}
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = null.Close() })
	if status, out, errs := leaveWith(null); status != 1 || !strings.Contains(errs, "there is no terminal to ask on") {
		t.Errorf("what is no terminal is not waited for\ngardenlet leave: status %d\n%s%s", status, out, errs)
	}
	if status, out, errs := leave("yes\n"); status != 0 || !strings.Contains(errs, `Seed "two" stays in the garden`) {
		t.Errorf("gardenlet leave: status %d\n%s%s", status, out, errs)
	}
	n.seed.create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "gardenlet-configmap"}, Data: configMap.Data})
	if status, out, errs := leave("", "--yes"); status != 0 || strings.Contains(errs, "Type yes") {
		t.Errorf("gardenlet leave --yes: status %d\n%s%s", status, out, errs)
	}
	n.seed.absent(configMap, "the gardenlet is removed")
}
