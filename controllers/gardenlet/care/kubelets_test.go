// SPDX-License-Identifier: Apache-2.0

package care_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/care"
)

// probing is a seed that wants to know of silent kubelets, or not.
func probing(enabled bool) *gardencorev1beta1.Seed {
	seed := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "eu-1"}}
	seed.Spec.Settings = &gardencorev1beta1.SeedSettings{
		DependencyWatchdog: &gardencorev1beta1.SeedSettingDependencyWatchdog{Prober: &gardencorev1beta1.SeedSettingDependencyWatchdogProber{Enabled: enabled}},
	}
	return seed
}

// kubeletLease is the lease of a node that was renewed some time ago.
func kubeletLease(name string, renewed time.Time) coordinationv1.Lease {
	return coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: "kube-node-lease", Name: name},
		Spec:       coordinationv1.LeaseSpec{LeaseDurationSeconds: new(int32(40)), RenewTime: new(metav1.NewMicroTime(renewed))},
	}
}

func TestJudgeKubelets_GLET_CARE_13(t *testing.T) {
	t.Parallel()
	now := time.Unix(100000, 0)
	good := verdict{Status: "True", Reason: "EveryNodeReady", Message: "Every node is ready"}
	silent := func(some, all int) verdict {
		return verdict{Status: "False", Reason: "TooManyExpiredNodeLeases", Message: fmt.Sprintf("%d of %d nodes are silent: their leases have expired", some, all)}
	}
	for reason, tc := range map[string]struct {
		seed   *gardencorev1beta1.Seed
		nodes  int
		silent int
		change func(k *care.Kubelets)
		want   verdict
	}{
		"all are heard of":              {seed: probing(true), nodes: 5, want: good},
		"one of six is silent":          {seed: probing(true), nodes: 6, silent: 1, want: good},
		"one of five is silent":         {seed: probing(true), nodes: 5, silent: 1, want: silent(1, 5)},
		"the only one is silent":        {seed: probing(true), nodes: 1, silent: 1, want: silent(1, 1)},
		"the operator wants no probes":  {seed: probing(false), nodes: 1, silent: 1, want: good},
		"the operator has said nothing": {seed: &gardencorev1beta1.Seed{}, nodes: 1, silent: 1, want: good},
		"one has no lease yet":          {seed: probing(true), nodes: 1, change: func(k *care.Kubelets) { k.Leases = nil }, want: good},
		"a lease has no time":           {seed: probing(true), nodes: 1, change: func(k *care.Kubelets) { k.Leases[0].Spec = coordinationv1.LeaseSpec{} }, want: silent(1, 1)},
		"leases of former nodes are left": {seed: probing(true), nodes: 1, change: func(k *care.Kubelets) {
			k.Leases = append(k.Leases, kubeletLease("gone", now.Add(-time.Hour)))
		}, want: good},
		"the check failed": {seed: probing(true), nodes: 1, change: func(k *care.Kubelets) { k.Err = errors.New("list leases: forbidden") }, want: verdict{
			Status: "Unknown", Reason: "ConditionCheckError", Message: "The kubelets could not be checked: list leases: forbidden",
		}},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			world := healthy(func(w *care.World) {
				w.Seed, w.Nodes, w.Kubelets.Now = tc.seed, nil, now
				for i := range tc.nodes {
					name, renewed := fmt.Sprintf("m-%d", i), now.Add(-40*time.Second)
					if i < tc.silent {
						renewed = now.Add(-41 * time.Second)
					}
					w.Nodes = append(w.Nodes, node("True", func(n *corev1.Node) { n.Name = name }))
					w.Kubelets.Leases = append(w.Kubelets.Leases, kubeletLease(name, renewed))
				}
				if tc.change != nil {
					tc.change(&w.Kubelets)
				}
			})
			if diff := cmp.Diff(tc.want, of(care.JudgeNodes(shoot(), world))); diff != "" {
				t.Errorf("JudgeNodes(...) (-want +got):\n%s", diff)
			}
		})
	}
}

// TestSilentKubelets_GLET_CARE_13 looks into a shoot whose only kubelet becomes silent, although its node is still ready.
func TestSilentKubelets_GLET_CARE_13(t *testing.T) {
	t.Parallel()
	w := newWard(t, shoot(), controlPlane()...)
	put(t, w.GardenClient, probing(true))
	lease := kubeletLease("m-1", w.clock.Now())
	put(t, w.inShoot, &lease)
	if got := w.look(t)[3]; got != "EveryNodeReady=True EveryNodeReady" {
		t.Errorf("a kubelet that is heard of: %s", got)
	}
	w.clock.Step(41 * time.Second)
	if got := w.look(t)[3]; got != "EveryNodeReady=False TooManyExpiredNodeLeases" {
		t.Errorf("a kubelet that is silent: %s", got)
	}
}
