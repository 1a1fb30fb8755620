// SPDX-License-Identifier: Apache-2.0

package shootnodelocaldnsenabledbydefault_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/shootnodelocaldnsenabledbydefault"
)

func TestAdmit(t *testing.T) {
	t.Parallel()
	type shoot = gardencorev1beta1.Shoot
	for name, tc := range map[string]struct {
		reason string
		change func(*shoot)
		want   bool
	}{
		"API-NLD-1 open": {"it is turned on", func(*shoot) {}, true},
		"API-NLD-1 off": {"unless it is not wanted", func(s *shoot) {
			s.Spec.SystemComponents = &gardencorev1beta1.SystemComponents{NodeLocalDNS: &gardencorev1beta1.NodeLocalDNS{}}
		}, false},
		"API-NLD-1 workerless": {"nor of use", func(s *shoot) { s.Spec.Provider.Workers = nil }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := admissiontest.New(t, nil)
			s := admissiontest.Shoot(tc.change)
			if err := g.Ask(shootnodelocaldnsenabledbydefault.New(g.World), admissiontest.Request{Object: s}); err != nil {
				t.Fatal(err)
			}
			c := s.Spec.SystemComponents
			got := c != nil && c.NodeLocalDNS != nil && c.NodeLocalDNS.Enabled
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nis the node-local DNS enabled? (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
