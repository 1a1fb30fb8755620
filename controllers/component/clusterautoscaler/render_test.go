// SPDX-License-Identifier: Apache-2.0

package clusterautoscaler_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/clusterautoscaler"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/tests/golden"
)

const namespace = "shoot--dev--a"

func shootFacts(provider string) facts.Shoot {
	f := facts.Shoot{Namespace: namespace, Shoot: &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Name: "a"}}}
	f.Shoot.Spec.Provider = gardencorev1beta1.Provider{Type: provider, Workers: []gardencorev1beta1.Worker{{Name: "small", Minimum: 1, Maximum: 3}}}
	return f
}

func inputs() *component.Inputs {
	worker := &gardenextensionsv1alpha1.Worker{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "a"}}
	worker.Status.MachineDeployments = []gardenextensionsv1alpha1.MachineDeployment{
		{Name: namespace + "-small-z1", Minimum: 1, Maximum: 2}, {Name: namespace + "-small-z2", Maximum: 1},
	}
	return &component.Inputs{
		Replicas: 1, Kept: worker, Images: map[string]string{"cluster-autoscaler": "registry/autoscaler:v1", "terrarium": "terrarium.garden/terrarium:v1"},
		Secrets: map[string]component.Secret{"ca": {Bundle: "ca-bundle-66666666"}, "cluster-autoscaler": {Name: "cluster-autoscaler-11111111"}},
	}
}

func TestRender_EXT_WORKER_7(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		provider string
		settings *gardencorev1beta1.ClusterAutoscaler
	}{
		"local.yaml": {provider: "local"},
		"local-settings.yaml": {provider: "local", settings: &gardencorev1beta1.ClusterAutoscaler{
			ScaleDownUnneededTime: &metav1.Duration{Duration: time.Minute}, ScaleDownUtilizationThreshold: new(0.25),
			Expander: new(gardencorev1beta1.ExpanderMode("priority,least-waste")), StartupTaints: []string{"a"}, StatusTaints: []string{"b"},
			MaxGracefulTerminationSeconds: new(int32(60)), EmitPerNodeGroupMetrics: new(true), Verbosity: new(int32(4)),
			MaxBinpackingTime: &metav1.Duration{Duration: time.Minute},
			Autoscaling:       &gardencorev1beta1.ControlPlaneAutoscaling{MinAllowed: map[string]resource.Quantity{"memory": resource.MustParse("100Mi")}},
		}},
		"upstream.yaml": {provider: "cloud"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, in := shootFacts(tc.provider), inputs()
			f.Shoot.Spec.Kubernetes.ClusterAutoscaler, f.VerticalAutoscaling = tc.settings, tc.settings != nil
			objs, err := clusterautoscaler.Component().Render(f, in)
			if err := errors.Join(err, in.Missing()); err != nil {
				t.Fatal(err)
			}
			golden.Objects(t, name, objs)
		})
	}
}

func TestRenderInside(t *testing.T) {
	t.Parallel()
	for name, provider := range map[string]string{"inside-local.yaml": "local", "inside-upstream.yaml": "cloud"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := shootFacts(provider)
			f.Shoot.Spec.Provider.Workers[0].Priority = new(int32(20))
			objs, err := clusterautoscaler.Inside().Render(f, &component.Inputs{})
			if err != nil {
				t.Fatal(err)
			}
			golden.Objects(t, name, objs)
		})
	}
}

// TestLeases: an autoscaler that could renew the leases of nodes could have dead ones taken for alive.
func TestLeases(t *testing.T) {
	t.Parallel()
	objs, err := clusterautoscaler.Inside().Render(shootFacts("cloud"), &component.Inputs{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	add := func(obj client.Object, rules []rbacv1.PolicyRule) {
		for _, rule := range rules {
			if slices.Contains(rule.Resources, "leases") {
				got = append(got, fmt.Sprintf("%s %v %v", obj.GetNamespace(), rule.Verbs, rule.ResourceNames))
			}
		}
	}
	for _, obj := range objs {
		switch o := obj.(type) {
		case *rbacv1.ClusterRole:
			add(o, o.Rules)
		case *rbacv1.Role:
			add(o, o.Rules)
		}
	}
	want := []string{"kube-system [create] []", "kube-system [get update] [cluster-autoscaler]"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rights to leases (-want +got):\n%s", diff)
	}
}

// TestNoImage: a gardenlet that does not know its own image says what to do.
func TestNoImage(t *testing.T) {
	t.Parallel()
	in := inputs()
	in.Images["terrarium"] = ""
	if _, err := clusterautoscaler.Component().Render(shootFacts("local"), in); err == nil || !strings.Contains(err.Error(), "--image") {
		t.Errorf("Render(...) = %v, want an error that names the flag of the gardenlet", err)
	}
}

// TestWanted: a shoot has an autoscaler if and only if it has something to decide.
func TestWanted_EXT_WORKER_7(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		change func(*gardencorev1beta1.Shoot)
		want   bool
	}{
		"Scaled":   {reason: "a pool may grow", change: func(*gardencorev1beta1.Shoot) {}, want: true},
		"Fixed":    {reason: "no pool may grow", change: func(s *gardencorev1beta1.Shoot) { s.Spec.Provider.Workers[0].Maximum = 1 }},
		"None":     {reason: "there are no pools", change: func(s *gardencorev1beta1.Shoot) { s.Spec.Provider.Workers = nil }},
		"Deletion": {reason: "the shoot goes", change: func(s *gardencorev1beta1.Shoot) { s.DeletionTimestamp = new(metav1.Now()) }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := shootFacts("local")
			tc.change(f.Shoot)
			want, got := map[string]bool{}, map[string]bool{}
			for _, c := range []component.Component[facts.Shoot]{clusterautoscaler.Component(), clusterautoscaler.Inside()} {
				want[c.Title], got[c.Title] = tc.want, c.IsWanted(f)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s\nIsWanted(...) by component (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
