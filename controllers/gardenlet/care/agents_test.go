// SPDX-License-Identifier: Apache-2.0

package care_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/terrarium-garden/terrarium/controllers/gardenlet/care"
)

// TestJudgeAgents_GLET_CARE_13 has one node with an agent. Its configuration was changed an hour ago, and the agent was heard of a moment ago.
func TestJudgeAgents_GLET_CARE_13(t *testing.T) {
	t.Parallel()
	now := time.Unix(100000, 0)
	ago := func(d time.Duration) metav1.Time { return metav1.NewTime(now.Add(-d)) }
	type scene struct {
		applied, follows string
		changed          time.Duration
		heard, joined    time.Duration
		delay            string
		err              error
	}
	usual := scene{applied: "new", follows: "key", changed: time.Hour, heard: 10 * time.Second, joined: 24 * time.Hour}
	good := verdict{Status: "True", Reason: "EveryNodeReady", Message: "Every node is ready"}
	outdated := verdict{Status: "False", Reason: "OperatingSystemConfigOutdated", Message: `Node "m-1" of pool "small": it has not applied the configuration of its pool`}
	silent := verdict{Status: "False", Reason: "NodeAgentUnhealthy", Message: `Node "m-1" of pool "small": its agent is silent`}
	for name, tc := range map[string]struct {
		why    string
		change func(*scene)
		want   verdict
	}{
		"Good":      {why: "it has applied the configuration and is heard of", change: func(*scene) {}, want: good},
		"Outdated":  {why: "it had its turn", change: func(s *scene) { s.applied = "old" }, want: outdated},
		"Never":     {why: "it has never applied one", change: func(s *scene) { s.applied = "" }, want: outdated},
		"NotYet":    {why: "it may not have had its turn", change: func(s *scene) { s.applied, s.changed = "old", 6*time.Minute }, want: good},
		"Short":     {why: "the owner wants no delay", change: func(s *scene) { s.applied, s.changed, s.delay = "old", 3*time.Minute, "0" }, want: outdated},
		"Long":      {why: "the owner wants a long one", change: func(s *scene) { s.applied, s.changed, s.delay = "old", 30*time.Minute, "1800" }, want: good},
		"Silent":    {why: "its lease has ended", change: func(s *scene) { s.heard = 3 * time.Minute }, want: silent},
		"Unheard":   {why: "it has no lease", change: func(s *scene) { s.heard = 0 }, want: silent},
		"New":       {why: "it has just joined", change: func(s *scene) { s.applied, s.heard, s.joined = "", 0, time.Minute }, want: good},
		"Replaced":  {why: "it follows a configuration that is gone, so its machine goes", change: func(s *scene) { s.follows, s.heard = "former", 0 }, want: good},
		"NoAgent":   {why: "it is from before there were agents", change: func(s *scene) { s.follows, s.applied, s.heard = "", "", 0 }, want: good},
		"Unchecked": {why: "the check failed", change: func(s *scene) { s.err = errors.New("list secrets: forbidden") }, want: verdict{Status: "Unknown", Reason: "ConditionCheckError", Message: "The agents of the nodes could not be checked: list secrets: forbidden"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := usual
			tc.change(&s)
			written := ago(s.changed)
			secret := metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
				Name: "key", CreationTimestamp: ago(48 * time.Hour), Annotations: map[string]string{"checksum/data-script": "new"},
				ManagedFields: []metav1.ManagedFieldsEntry{{Time: &written}},
			}}
			if s.delay != "" {
				secret.Annotations["shoot.gardener.cloud/cloud-config-execution-max-delay-seconds"] = s.delay
			}
			agents := care.Agents{Kept: []metav1.PartialObjectMetadata{secret}, Now: now, Err: s.err, Leases: []coordinationv1.Lease{{ObjectMeta: metav1.ObjectMeta{Name: "other"}}}}
			if s.heard > 0 {
				renewed := metav1.NewMicroTime(now.Add(-s.heard))
				agents.Leases = append(agents.Leases, coordinationv1.Lease{
					ObjectMeta: metav1.ObjectMeta{Name: "gardener-node-agent-m-1"}, Spec: coordinationv1.LeaseSpec{RenewTime: &renewed},
				})
			}
			world := healthy(func(w *care.World) {
				w.Agents = agents
				w.Nodes = []corev1.Node{node("True", func(n *corev1.Node) {
					n.CreationTimestamp = ago(s.joined)
					n.Labels["worker.gardener.cloud/gardener-node-agent-secret-name"] = s.follows
					n.Annotations = map[string]string{"checksum/cloud-config-data": s.applied}
				})}
			})
			if diff := cmp.Diff(tc.want, of(care.JudgeNodes(shoot(), world))); diff != "" {
				t.Errorf("%s\nJudgeNodes(...) (-want +got):\n%s", tc.why, diff)
			}
		})
	}
}
