// SPDX-License-Identifier: Apache-2.0

package shootexposureclass_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/shootexposureclass"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

type (
	shoot      = gardencorev1beta1.Shoot
	class      = gardencorev1beta1.ExposureClass
	selector   = gardencorev1beta1.SeedSelector
	toleration = gardencorev1beta1.Toleration
)

func labelled(labels map[string]string, providers ...string) *selector {
	return &selector{LabelSelector: metav1.LabelSelector{MatchLabels: labels}, ProviderTypes: providers}
}

func inner(s *gardencorev1beta1.ExposureClassScheduling) []kind.Object {
	return []kind.Object{&class{ObjectMeta: metav1.ObjectMeta{Name: "inner"}, Handler: "inner", Scheduling: s}}
}

func exposed(change ...func(*shoot)) *shoot {
	return admissiontest.Shoot(append(change, func(s *shoot) { s.Spec.ExposureClassName = new("inner") })...)
}

func TestRefused(t *testing.T) {
	t.Parallel()
	scheduling := &gardencorev1beta1.ExposureClassScheduling{SeedSelector: labelled(map[string]string{"net": "in"}), Tolerations: []toleration{{Key: "in"}}}
	admissiontest.Run(t, shootexposureclass.New, map[string]admissiontest.Case{
		"API-EXPO-1":            {Reason: "a class adds what it asks for", Objects: inner(scheduling), Request: admissiontest.Request{Object: exposed()}},
		"API-EXPO-1 missing":    {Reason: "a class must exist", Request: admissiontest.Request{Object: exposed()}, Refused: []string{`spec.exposureClassName: ExposureClass "inner" does not exist`}},
		"API-EXPO-1 no class":   {Reason: "without a class nothing is asked", Request: admissiontest.Request{Object: admissiontest.Shoot()}},
		"API-EXPO-1 update":     {Reason: "later it is not asked again", Request: admissiontest.Request{Object: exposed(), Old: exposed()}},
		"API-EXPO-1 label":      {Reason: "another value is a contradiction", Objects: inner(scheduling), Request: admissiontest.Request{Object: exposed(func(s *shoot) { s.Spec.SeedSelector = labelled(map[string]string{"net": "out"}) })}, Refused: []string{"spec.seedSelector.matchLabels[net]", `"in"`, `"out"`}},
		"API-EXPO-1 toleration": {Reason: "so is a toleration of the same key", Objects: inner(scheduling), Request: admissiontest.Request{Object: exposed(func(s *shoot) { s.Spec.Tolerations = []toleration{{Key: "in"}} })}, Refused: []string{"spec.tolerations", `tolerate "in"`}},
	})
}

func TestMerged(t *testing.T) {
	t.Parallel()
	expression := metav1.LabelSelectorRequirement{Key: "zone", Operator: metav1.LabelSelectorOpExists}
	given := labelled(map[string]string{"net": "in"}, "local", "cloud")
	given.MatchExpressions = []metav1.LabelSelectorRequirement{expression}
	scheduling := &gardencorev1beta1.ExposureClassScheduling{SeedSelector: given, Tolerations: []toleration{{Key: "in"}}}
	both := labelled(map[string]string{"net": "in", "own": "yes"}, "own", "local", "cloud")
	both.MatchExpressions = []metav1.LabelSelectorRequirement{expression}
	for name, tc := range map[string]struct {
		reason     string
		scheduling *gardencorev1beta1.ExposureClassScheduling
		change     func(*shoot)
		selector   *selector
		tolerates  []toleration
	}{
		"API-EXPO-1 all":     {"a shoot without a word takes the class's", scheduling, func(*shoot) {}, given, []toleration{{Key: "in"}}},
		"API-EXPO-1 nothing": {"a class may leave seeds alone", nil, func(*shoot) {}, nil, nil},
		"API-EXPO-1 united": {"what both say counts", scheduling, func(s *shoot) {
			s.Spec.SeedSelector = labelled(map[string]string{"net": "in", "own": "yes"}, "own", "local")
			s.Spec.Tolerations = []toleration{{Key: "own"}}
		}, both, []toleration{{Key: "own"}, {Key: "in"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := admissiontest.New(t, nil, inner(tc.scheduling)...)
			s := exposed(tc.change)
			if err := g.Ask(shootexposureclass.New(g.World), admissiontest.Request{Object: s}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.selector, s.Spec.SeedSelector); diff != "" {
				t.Errorf("%s: selector (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.tolerates, s.Spec.Tolerations); diff != "" {
				t.Errorf("%s: tolerations (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
