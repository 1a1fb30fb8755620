// SPDX-License-Identifier: Apache-2.0

package machinecontroller_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/component/machinecontroller"
	"github.com/terrarium-garden/terrarium/tests/golden"
)

func shootFacts(provider string) facts.Shoot {
	f := facts.Shoot{Namespace: "shoot--dev--a", Shoot: &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Name: "a"}}}
	f.Shoot.Spec.Provider = gardencorev1beta1.Provider{Type: provider, Workers: []gardencorev1beta1.Worker{{Name: "small", Minimum: 1, Maximum: 3}}}
	return f
}

func TestRender_EXT_WORKER_6(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		replicas int32
		sized    bool
	}{
		"default.yaml": {replicas: 1},
		"asleep.yaml":  {},
		"sized.yaml":   {replicas: 1, sized: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := shootFacts("cloud")
			f.VerticalAutoscaling = tc.sized
			in := &component.Inputs{
				Replicas: tc.replicas, Images: map[string]string{"machine-controller-manager": "registry/machine-controller-manager:v1"},
				Secrets: map[string]component.Secret{"ca": {Bundle: "ca-bundle-66666666"}},
			}
			objs, err := machinecontroller.Component().Render(f, in)
			if err != nil || in.Missing() != nil {
				t.Fatal(err, in.Missing())
			}
			golden.Objects(t, name, objs)
		})
	}
}

func TestRenderInside(t *testing.T) {
	t.Parallel()
	objs, err := machinecontroller.Inside().Render(shootFacts("cloud"), &component.Inputs{})
	if err != nil {
		t.Fatal(err)
	}
	golden.Objects(t, "inside.yaml", objs)
}

// TestWanted: machines of other providers need somebody who acts on them, as long as there may be some.
func TestWanted_EXT_WORKER_6(t *testing.T) {
	t.Parallel()
	want, got := map[string]bool{}, map[string]bool{}
	for reason, tc := range map[string]struct {
		provider string
		change   func(*gardencorev1beta1.Shoot)
		want     bool
	}{
		"a cloud":                             {provider: "cloud", want: true},
		"machines that the extension acts on": {provider: "local"},
		"no machines":                         {provider: "cloud", change: func(s *gardencorev1beta1.Shoot) { s.Spec.Provider.Workers = nil }},
		"machines that are to go":             {provider: "cloud", change: func(s *gardencorev1beta1.Shoot) { s.DeletionTimestamp = new(metav1.Now()) }, want: true},
	} {
		f := shootFacts(tc.provider)
		if tc.change != nil {
			tc.change(f.Shoot)
		}
		for _, c := range []component.Component[facts.Shoot]{machinecontroller.Component(), machinecontroller.Inside()} {
			want[reason+": "+c.Title], got[reason+": "+c.Title] = tc.want, c.IsWanted(f)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("IsWanted(...) (-want +got):\n%s", diff)
	}
}
