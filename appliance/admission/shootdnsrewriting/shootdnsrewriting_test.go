// SPDX-License-Identifier: Apache-2.0

package shootdnsrewriting_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/shootdnsrewriting"
)

func TestAdmit(t *testing.T) {
	t.Parallel()
	type shoot = gardencorev1beta1.Shoot
	own := func(s *shoot) {
		s.Spec.SystemComponents = &gardencorev1beta1.SystemComponents{CoreDNS: &gardencorev1beta1.CoreDNS{
			Rewriting: &gardencorev1beta1.CoreDNSRewriting{CommonSuffixes: []string{"own.example", "b.example"}},
		}}
	}
	two := &gardenconfigv1alpha1.ShootDNSRewritingConfiguration{CommonSuffixes: []string{"a.example", "b.example"}}
	for name, tc := range map[string]struct {
		reason string
		config *gardenconfigv1alpha1.ShootDNSRewritingConfiguration
		change func(*shoot)
		want   []string
	}{
		"API-DNSRW-1 open":         {"a shoot gets all", two, func(*shoot) {}, []string{"a.example", "b.example"}},
		"API-DNSRW-1 own":          {"after its own", two, own, []string{"own.example", "b.example", "a.example"}},
		"API-DNSRW-1 workerless":   {"without nodes there is no DNS", two, func(s *shoot) { s.Spec.Provider.Workers = nil }, nil},
		"API-DNSRW-1 unconfigured": {"without a configuration there is nothing to add", nil, func(*shoot) {}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := admissiontest.New(t, nil)
			s := admissiontest.Shoot(tc.change)
			if err := g.Ask(shootdnsrewriting.New(tc.config)(g.World), admissiontest.Request{Object: s}); err != nil {
				t.Fatal(err)
			}
			var got []string
			if c := s.Spec.SystemComponents; c != nil && c.CoreDNS != nil && c.CoreDNS.Rewriting != nil {
				got = c.CoreDNS.Rewriting.CommonSuffixes
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
