// SPDX-License-Identifier: Apache-2.0

package shoot_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/shoot"
	"github.com/terrarium-garden/terrarium/tests/golden"
)

func withWorkers(s *gardencorev1beta1.Shoot) {
	s.Spec.Provider = gardencorev1beta1.Provider{Type: "local", Workers: []gardencorev1beta1.Worker{{Name: "small", Minimum: 1, Maximum: 1}}}
}

func leaving(s *gardencorev1beta1.Shoot) {
	s.DeletionTimestamp = &metav1.Time{Time: now()}
}

func TestReconcileGraph_GLET_RECON_1(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		shoot *gardencorev1beta1.Shoot
		hosts facts.Hosts
		power facts.Power
	}{
		"reconcile.dot": {shoot: running(withWorkers), hosts: facts.Hosts{Internal: "api.a.dev.internal.terrarium.local"}},
		"hibernate.dot": {
			shoot: running(withWorkers, asleep), hosts: facts.Hosts{Internal: "api.a.dev.internal.terrarium.local"}, power: facts.FallingAsleep,
		},
		"asleep.dot":               {shoot: running(withWorkers, asleep), hosts: facts.Hosts{Internal: "api.a.dev.internal.terrarium.local"}, power: facts.Asleep},
		"hibernate-workerless.dot": {shoot: running(asleep), power: facts.FallingAsleep},
		"reconcile-workerless.dot": {shoot: running()},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, err := shoot.ReconcileGraph(t.Context(), tc.shoot, tc.hosts, tc.power)
			if err != nil {
				t.Fatal(err)
			}
			golden.Text(t, name, g.DOT())
		})
	}
}

func TestDeleteGraph_GLET_DEL_2(t *testing.T) {
	t.Parallel()
	everything := shoot.Found{Namespace: true, APIServer: true, Available: true, Infrastructure: true, ControlPlane: true, Network: true, Worker: true}
	sleeping := everything
	sleeping.Asleep, sleeping.Available = true, false
	half := shoot.Found{Namespace: true, APIServer: true, Infrastructure: true}
	cases := map[string]struct {
		shoot *gardencorev1beta1.Shoot
		found shoot.Found
	}{
		"delete.dot":                   {shoot: running(withWorkers, leaving), found: everything},
		"delete-asleep.dot":            {shoot: running(withWorkers, asleep, leaving), found: sleeping},
		"delete-workerless.dot":        {shoot: running(leaving), found: shoot.Found{Namespace: true, APIServer: true, Available: true}},
		"delete-never-served.dot":      {shoot: running(withWorkers, leaving), found: half},
		"delete-namespace-is-gone.dot": {shoot: running(withWorkers, leaving)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, err := shoot.DeleteGraph(tc.shoot, tc.found)
			if err != nil {
				t.Fatal(err)
			}
			golden.Text(t, name, g.DOT())
		})
	}
}
