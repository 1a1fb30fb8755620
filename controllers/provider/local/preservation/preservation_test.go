// SPDX-License-Identifier: Apache-2.0

package preservation_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardenmachinev1alpha1 "github.com/terrarium-garden/terrarium/apis/machine/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/preservation"
)

const (
	onMachine = "node.machine.sapcloud.io/preserve"
	onNode    = "node.machine.sapcloud.io/last-applied-node-preserve-value"
	failed    = gardenmachinev1alpha1.MachineFailed
	running   = gardenmachinev1alpha1.MachineRunning
)

func now() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }

func in(d time.Duration) *metav1.Time { return new(metav1.NewTime(now().Add(d))) }

func TestPreservation(t *testing.T) {
	t.Parallel()
	type annotations = map[string]string
	for name, tc := range map[string]struct {
		reason string
		phase  gardenmachinev1alpha1.MachinePhase
		said   annotations
		until  *metav1.Time
		gone   bool

		kept, open bool
		end        *metav1.Time
	}{
		"Nothing":       {reason: "nobody has said anything about a machine that runs", phase: running},
		"Candidate":     {reason: "or about one that has failed: the set decides", phase: failed, open: true},
		"Unknown":       {reason: "what nobody knows is not said", phase: failed, said: annotations{onMachine: "please"}, open: true},
		"Now":           {reason: "a machine that runs is kept from now on", phase: running, said: annotations{onMachine: "now"}, kept: true, end: in(2 * time.Hour)},
		"NowFailed":     {reason: "and goes on to be kept when it fails", phase: failed, said: annotations{onMachine: "now"}, until: in(time.Hour), kept: true, end: in(time.Hour)},
		"NotYet":        {reason: "it is kept only if it fails", phase: running, said: annotations{onMachine: "when-failed"}},
		"WhenFailed":    {reason: "it has failed", phase: failed, said: annotations{onMachine: "when-failed"}, kept: true, end: in(2 * time.Hour)},
		"Recovered":     {reason: "it runs again", phase: running, said: annotations{onMachine: "when-failed"}, until: in(time.Hour)},
		"Auto":          {reason: "its set keeps it", phase: failed, said: annotations{onMachine: "auto-preserved"}, kept: true, end: in(2 * time.Hour)},
		"AutoOnNode":    {reason: "an owner cannot speak for the set", phase: failed, said: annotations{onNode: "auto-preserved"}, open: true},
		"Refused":       {reason: "it is not to be kept", phase: failed, said: annotations{onMachine: "false"}},
		"Stopped":       {reason: "and not any longer", phase: failed, said: annotations{onMachine: "false"}, until: in(time.Hour)},
		"NodeFirst":     {reason: "the node counts more than the machine", phase: failed, said: annotations{onMachine: "auto-preserved", onNode: "false"}},
		"NodeAlone":     {reason: "or speaks for it", phase: failed, said: annotations{onNode: "when-failed"}, kept: true, end: in(2 * time.Hour)},
		"Over":          {reason: "its time is over, and it gets no further one", phase: failed, said: annotations{onMachine: "auto-preserved"}, until: in(0), end: in(0)},
		"OverWithout":   {reason: "not even when the annotation goes", phase: failed, until: in(-time.Second), end: in(-time.Second)},
		"OverRunning":   {reason: "a machine that runs is not kept any more either", phase: running, said: annotations{onMachine: "now"}, until: in(0), end: in(0)},
		"TakenBack":     {reason: "the owner has taken the annotation off in time, so the set decides", phase: failed, until: in(time.Hour), open: true},
		"Gone":          {reason: "there is nothing left to look at", phase: failed, said: annotations{onMachine: "when-failed"}, gone: true, kept: true, end: in(0)},
		"GoneWhileKept": {reason: "and if that happens later", phase: failed, said: annotations{onMachine: "when-failed"}, until: in(time.Hour), gone: true, kept: true, end: in(0)},
		"GoneBefore":    {reason: "the time does not change with every look", phase: failed, until: in(-time.Hour), gone: true, end: in(-time.Hour)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := &gardenmachinev1alpha1.Machine{ObjectMeta: metav1.ObjectMeta{Annotations: tc.said}}
			m.Spec.PreserveTimeout = &metav1.Duration{Duration: 2 * time.Hour}
			m.Status.CurrentStatus.Phase, m.Status.CurrentStatus.PreserveExpiryTime = tc.phase, tc.until
			if got := preservation.Kept(m, now()); got != tc.kept {
				t.Errorf("%s: Kept(...) = %t, want %t", tc.reason, got, tc.kept)
			}
			if got := preservation.Open(m, now()); got != tc.open {
				t.Errorf("%s: Open(...) = %t, want %t", tc.reason, got, tc.open)
			}
			if diff := cmp.Diff(tc.end, preservation.End(m, tc.gone, now())); diff != "" {
				t.Errorf("%s: End(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestDefaultTimeout(t *testing.T) {
	t.Parallel()
	m := &gardenmachinev1alpha1.Machine{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{onMachine: "now"}}}
	if got, want := preservation.End(m, false, now()), in(4*24*time.Hour); !got.Equal(want) {
		t.Errorf("a machine whose pool says nothing is kept until %v, want %v", got, want)
	}
}
