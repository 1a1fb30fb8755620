// SPDX-License-Identifier: Apache-2.0

package shootvpaenabledbydefault_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/shootvpaenabledbydefault"
)

func TestAdmit(t *testing.T) {
	t.Parallel()
	type shoot = gardencorev1beta1.Shoot
	for name, tc := range map[string]struct {
		reason string
		change func(*shoot)
		update bool
		want   bool
	}{
		"API-VPA-1 open":       {"it is turned on", func(*shoot) {}, false, true},
		"API-VPA-1 off":        {"unless it is not wanted", func(s *shoot) { s.Spec.Kubernetes.VerticalPodAutoscaler = &gardencorev1beta1.VerticalPodAutoscaler{} }, false, false},
		"API-VPA-1 workerless": {"nor of use", func(s *shoot) { s.Spec.Provider.Workers = nil }, false, false},
		"API-VPA-1 update":     {"or the shoot is there already", func(*shoot) {}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := admissiontest.New(t, nil)
			s := admissiontest.Shoot(tc.change)
			r := admissiontest.Request{Object: s}
			if tc.update {
				r.Old = admissiontest.Shoot(tc.change)
			}
			if err := g.Ask(shootvpaenabledbydefault.New(g.World), r); err != nil {
				t.Fatal(err)
			}
			v := s.Spec.Kubernetes.VerticalPodAutoscaler
			if diff := cmp.Diff(tc.want, v != nil && v.Enabled); diff != "" {
				t.Errorf("%s\nis the autoscaler enabled? (-want +got):\n%s", tc.reason, diff)
			}
			if tc.want && v.UpdaterInterval == nil {
				t.Error("API-DEF-11: the defaults are missing")
			}
		})
	}
}
