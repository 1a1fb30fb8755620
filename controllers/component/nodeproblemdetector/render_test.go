// SPDX-License-Identifier: Apache-2.0

package nodeproblemdetector_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/component/nodeproblemdetector"
	"github.com/terrarium-garden/terrarium/tests/golden"
)

func TestRender(t *testing.T) {
	t.Parallel()
	in := &component.Inputs{Images: map[string]string{"node-problem-detector": "registry/node-problem-detector:v1"}}
	objs, err := nodeproblemdetector.Component().Render(facts.Shoot{}, in)
	if err != nil || in.Missing() != nil {
		t.Fatal(err, in.Missing())
	}
	golden.Objects(t, "default.yaml", objs)
}

// TestWanted: only a machine with a kernel of its own has problems of its own.
func TestWanted(t *testing.T) {
	t.Parallel()
	pools := []gardencorev1beta1.Worker{{Name: "small"}}
	want, got := map[string]bool{}, map[string]bool{}
	for reason, tc := range map[string]struct {
		provider gardencorev1beta1.Provider
		want     bool
	}{
		"machines of a cloud":                        {gardencorev1beta1.Provider{Type: "cloud", Workers: pools}, true},
		"machines with the kernel of a node of seed": {gardencorev1beta1.Provider{Type: "local", Workers: pools}, false},
		"no machines":                                {gardencorev1beta1.Provider{Type: "cloud"}, false},
	} {
		f := facts.Shoot{Shoot: &gardencorev1beta1.Shoot{}}
		f.Shoot.Spec.Provider = tc.provider
		c := nodeproblemdetector.Component()
		want[reason], got[reason] = tc.want, c.IsWanted(f)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("IsWanted(...) (-want +got):\n%s", diff)
	}
}
