// SPDX-License-Identifier: Apache-2.0

package seedmutator_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/seedmutator"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

func TestAdmit(t *testing.T) {
	t.Parallel()
	managed := &gardenseedmanagementv1alpha1.ManagedSeed{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "a"}, Spec: gardenseedmanagementv1alpha1.ManagedSeedSpec{
		Shoot:     &gardenseedmanagementv1alpha1.Shoot{Name: "sprout"},
		Gardenlet: &gardenseedmanagementv1alpha1.GardenletConfig{Bootstrap: new(gardenseedmanagementv1alpha1.BootstrapToken), Config: admissiontest.Config()},
	}}
	below := admissiontest.Shoot(func(s *gardencorev1beta1.Shoot) { s.Namespace, s.Spec.SeedName = "garden", new("root") })
	waiting := admissiontest.Shoot(func(s *gardencorev1beta1.Shoot) { s.Namespace = "garden" })
	const own = "name.seed.gardener.cloud/a"
	for name, tc := range map[string]struct {
		reason  string
		objects []kind.Object
		want    []string
	}{
		"API-SEEDMUT-1 own":     {"a seed carries its name", nil, []string{own}},
		"API-SEEDMUT-1 managed": {"and that of the seed below it", []kind.Object{managed, below}, []string{own, "name.seed.gardener.cloud/root"}},
		"API-SEEDMUT-1 waiting": {"if its shoot is on one", []kind.Object{managed, waiting}, []string{own}},
		"API-SEEDMUT-1 missing": {"or is at all", []kind.Object{managed}, []string{own}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := admissiontest.New(t, nil, tc.objects...)
			s := admissiontest.Seed("a")
			if err := g.Ask(seedmutator.New(g.World), admissiontest.Request{Object: s}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, slices.Sorted(maps.Keys(s.Labels))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
