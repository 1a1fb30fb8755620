// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apiserver/pkg/storage"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// seedLabels are rules with an index of the labels for seeds, and of one field.
var seedLabels = Rules[*gardencorev1beta1.Shoot]{
	Names: Names{Plural: "shoots"},
	Fields: func(s *gardencorev1beta1.Shoot) fields.Set {
		return fields.Set{"spec.purpose": string(*s.Spec.Purpose)}
	},
	Indexes:    []string{"spec.purpose"},
	LabelIndex: gardencorev1beta1.LabelPrefixSeedName,
}

func TestIndexesOfSelectors(t *testing.T) {
	t.Parallel()
	const byseed = "f:metadata.labels:name.seed.gardener.cloud/"
	for name, tc := range map[string]struct {
		label, field string
		want         []storage.MatchValue
	}{
		"nothing":             {"", "", nil},
		"another label":       {"shape=round", "", nil},
		"a seed":              {"name.seed.gardener.cloud/brook=true", "", []storage.MatchValue{{IndexName: byseed, Value: "brook"}}},
		"a seed among labels": {"name.seed.gardener.cloud/brook in (true),shape", "", []storage.MatchValue{{IndexName: byseed, Value: "brook"}}},
		"a seed and a field": {
			"name.seed.gardener.cloud/brook=true", "spec.purpose=testing",
			[]storage.MatchValue{{IndexName: "f:spec.purpose", Value: "testing"}, {IndexName: byseed, Value: "brook"}},
		},
		"a label that exists":       {"name.seed.gardener.cloud/brook", "", nil},
		"any seed but one":          {"name.seed.gardener.cloud/brook!=true", "", nil},
		"another value":             {"name.seed.gardener.cloud/brook=false", "", nil},
		"several values":            {"name.seed.gardener.cloud/brook in (true,yes)", "", nil},
		"a field that is not so":    {"", "spec.purpose!=testing", nil},
		"a field that nobody knows": {"", "spec.colour=blue", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			label, err := labels.Parse(tc.label)
			if err != nil {
				t.Fatal(err)
			}
			field, err := fields.ParseSelector(tc.field)
			if err != nil {
				t.Fatal(err)
			}
			p := predicate(seedLabels)(label, field)
			if diff := cmp.Diff(tc.want, p.MatcherIndex(t.Context())); diff != "" {
				t.Errorf("what the watch cache looks up (-want +got):\n%s", diff)
			}
			if p.Field.String() != field.String() || p.Field.Empty() != field.Empty() || p.Field.DeepCopySelector().String() != field.String() {
				t.Errorf("fields: got %q, want those that were asked for: %q", p.Field, field)
			}
		})
	}
}

func TestIndexValues(t *testing.T) {
	t.Parallel()
	s := &gardencorev1beta1.Shoot{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{
			"name.seed.gardener.cloud/brook": "true", "name.seed.gardener.cloud/pond": "true", "name.seed.gardener.cloud/lake": "false", "shape": "true",
		}},
		Spec: gardencorev1beta1.ShootSpec{Purpose: new(gardencorev1beta1.ShootPurposeTesting)},
	}
	for name, want := range map[string][]string{
		"f:spec.purpose": {"testing"}, "f:metadata.labels:name.seed.gardener.cloud/": {"brook", "pond"},
	} {
		got, err := (*indexers(seedLabels))[name](s)
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("index %q: error %v (-want +got):\n%s", name, err, diff)
		}
		if _, err := (*indexers(seedLabels))[name](&gardencorev1beta1.Seed{}); err == nil {
			t.Errorf("index %q takes another kind.", name)
		}
	}
}
