// SPDX-License-Identifier: Apache-2.0

package coredns_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/coredns"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/tests/golden"
)

func factsWith(mode gardencorev1beta1.CoreDNSAutoscalingMode) facts.Shoot {
	return facts.Shoot{Shoot: &gardencorev1beta1.Shoot{Spec: gardencorev1beta1.ShootSpec{
		Networking: &gardencorev1beta1.Networking{Services: new("10.101.0.0/16")},
		SystemComponents: &gardencorev1beta1.SystemComponents{CoreDNS: &gardencorev1beta1.CoreDNS{
			Rewriting:   &gardencorev1beta1.CoreDNSRewriting{CommonSuffixes: []string{".example.org", "example.com"}},
			Autoscaling: &gardencorev1beta1.CoreDNSAutoscaling{Mode: mode},
		}},
	}}}
}

func render(t *testing.T, f facts.Shoot) []client.Object {
	t.Helper()
	in := &component.Inputs{Replicas: 2, Images: map[string]string{"coredns": "registry.k8s.io/coredns/coredns:v1.14.2"}}
	objs, err := coredns.Component().Render(f, in)
	if err := errors.Join(err, in.Missing()); err != nil {
		t.Fatal(err)
	}
	return objs
}

func TestRender(t *testing.T) {
	t.Parallel()
	golden.Objects(t, "default.yaml", render(t, factsWith(gardencorev1beta1.CoreDNSAutoscalingModeHorizontal)))
}

// TestModes is about who says how many servers there are: an autoscaler, or care for the shoot, which the resource manager lets do so.
func TestModes(t *testing.T) {
	t.Parallel()
	// scaling says whether an autoscaler is rendered, and the annotation by which the number of servers is preserved.
	type scaling struct {
		Autoscaler bool
		Preserved  string
	}
	for name, tc := range map[string]struct {
		reason string
		facts  facts.Shoot
		want   scaling
	}{
		"Horizontal":   {reason: "an autoscaler", facts: factsWith(gardencorev1beta1.CoreDNSAutoscalingModeHorizontal), want: scaling{Autoscaler: true}},
		"Unset":        {reason: "it is the default", facts: facts.Shoot{Shoot: &gardencorev1beta1.Shoot{}}, want: scaling{Autoscaler: true}},
		"Proportional": {reason: "the number stays as it is", facts: factsWith(gardencorev1beta1.CoreDNSAutoscalingModeClusterProportional), want: scaling{Preserved: "true"}},
	} {
		var got scaling
		for _, obj := range render(t, tc.facts) {
			switch obj := obj.(type) {
			case *autoscalingv2.HorizontalPodAutoscaler:
				got.Autoscaler = true
			case *appsv1.Deployment:
				got.Preserved = obj.Annotations["resources.gardener.cloud/preserve-replicas"]
			}
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s\n%s: who scales (-want +got):\n%s", tc.reason, name, diff)
		}
	}
}

func TestServersFor(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		nodes  int
		cores  string
		want   int32
	}{
		"None":       {reason: "the least", want: 2},
		"Small":      {reason: "the least", nodes: 3, cores: "4", want: 2},
		"JustEnough": {reason: "two servers for 32 nodes", nodes: 32, cores: "1", want: 2},
		"OneMore":    {reason: "three for one node more", nodes: 33, cores: "1", want: 3},
		"Cores":      {reason: "five for 1280 cores", nodes: 10, cores: "128", want: 5},
		"MoreCores":  {reason: "six for more than that", nodes: 10, cores: "128100m", want: 6},
		"Boasting":   {reason: "a node may say anything of itself", nodes: 1, cores: "9E", want: 1000},
		"Negative":   {reason: "even this", nodes: 2, cores: "-9E", want: 2},
	} {
		nodes := make([]corev1.Node, tc.nodes)
		for i := range nodes {
			nodes[i].Status.Capacity = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(tc.cores)}
		}
		if got := coredns.ServersFor(nodes); got != tc.want {
			t.Errorf("%s: ServersFor(...) = %d, want %d: %s", name, got, tc.want, tc.reason)
		}
	}
}
