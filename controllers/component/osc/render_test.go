// SPDX-License-Identifier: Apache-2.0

package osc_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/component/golden"
	"github.com/terrarium-garden/terrarium/controllers/component/osc"
)

func values() osc.Values {
	shoot := &gardencorev1beta1.Shoot{}
	shoot.Spec.Kubernetes.Version = "1.36.3"
	shoot.Spec.Networking = &gardencorev1beta1.Networking{Services: new("10.101.0.0/16")}
	return osc.Values{
		Facts: facts.Shoot{Shoot: shoot, Namespace: "shoot--dev--a"}, Server: "https://api.a.dev.internal.terrarium.local",
		CA: []byte("cluster authority\n"), ClientCA: []byte("client authority\n"),
		Pool: &gardencorev1beta1.Worker{Name: "small", Machine: gardencorev1beta1.Machine{
			Type: "local", Image: &gardencorev1beta1.ShootMachineImage{Name: "local", Version: new("1.0.0")},
		}},
	}
}

func TestRender(t *testing.T) {
	t.Parallel()
	o, err := osc.Render(values())
	if err != nil {
		t.Fatal(err)
	}
	golden.Objects(t, "default.yaml", []client.Object{o})
}

func nameOf(v osc.Values) (string, error) { return osc.Name(v.Facts, v.Pool) }

func TestNameChangesWithWhatNeedsNewMachines_EXT_OSC_2(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		change func(*osc.Values)
		other  bool
	}{
		"Patch":   {reason: "a patch of Kubernetes keeps the machines", change: func(v *osc.Values) { v.Facts.Shoot.Spec.Kubernetes.Version = "1.36.4" }},
		"Minor":   {reason: "a minor of Kubernetes needs new machines", change: func(v *osc.Values) { v.Facts.Shoot.Spec.Kubernetes.Version = "1.37.0" }, other: true},
		"Type":    {reason: "another machine type", change: func(v *osc.Values) { v.Pool.Machine.Type = "large" }, other: true},
		"Image":   {reason: "another version of the image", change: func(v *osc.Values) { v.Pool.Machine.Image.Version = new("1.0.1") }, other: true},
		"Maximum": {reason: "more machines of the same kind", change: func(v *osc.Values) { v.Pool.Maximum = 9 }},
	}
	base, err := nameOf(values())
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := values()
			tc.change(&v)
			got, err := nameOf(v)
			if err != nil || (got != base) != tc.other {
				t.Errorf("%s\nName(...) = %q, %v; before %q", tc.reason, got, err, base)
			}
		})
	}
}

func TestKubeletSettings(t *testing.T) {
	t.Parallel()
	shoot := &gardencorev1beta1.KubeletConfig{
		MaxPods: new(int32(50)), KubeReserved: &gardencorev1beta1.KubeletConfigReserved{Memory: new(resource.MustParse("2Gi"))},
		EvictionHard:            &gardencorev1beta1.KubeletConfigEviction{MemoryAvailable: new("200Mi")},
		EvictionSoft:            &gardencorev1beta1.KubeletConfigEviction{MemoryAvailable: new("300Mi"), NodeFSAvailable: new("10%")},
		EvictionSoftGracePeriod: &gardencorev1beta1.KubeletConfigEvictionSoftGracePeriod{},
	}
	pool := &gardencorev1beta1.KubeletConfig{MaxPods: new(int32(20))}
	cases := map[string]struct {
		reason    string
		pool      *gardencorev1beta1.KubeletConfig
		want, not []string
	}{
		"Shoot": {
			reason: "the shoot's settings count for a pool without its own",
			want:   []string{"maxPods: 50\n", "memory: 2Gi\n", "cpu: 80m\n", "memory.available: 200Mi\n"},
			not:    []string{"memory.available: 300Mi"},
		},
		"Pool": {reason: "a pool's own settings take the place of the shoot's", pool: pool, want: []string{"maxPods: 20\n", "memory: 1Gi\n"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := values()
			v.Facts.Shoot.Spec.Kubernetes.Kubelet = shoot
			v.Pool.Kubernetes = &gardencorev1beta1.WorkerKubernetes{Kubelet: tc.pool}
			o, err := osc.Render(v)
			if err != nil {
				t.Fatal(err)
			}
			text := o.Spec.Files[0].Content.Inline.Data
			for _, want := range tc.want {
				if !strings.Contains(text, want) {
					t.Errorf("%s\n%q is missing in\n%s", tc.reason, want, text)
				}
			}
			for _, not := range tc.not {
				if strings.Contains(text, not) {
					t.Errorf("%s\n%q must not be in\n%s", tc.reason, not, text)
				}
			}
		})
	}
}
