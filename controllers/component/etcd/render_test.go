// SPDX-License-Identifier: Apache-2.0

package etcd_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/etcd"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/tests/golden"
)

func render(t *testing.T, seed gardencorev1beta1.SeedSpec, kept client.Object, changes ...func(*facts.Shoot)) []client.Object {
	t.Helper()
	return renderRole(t, "main", seed, kept, changes...)
}

func renderRole(t *testing.T, role string, seed gardencorev1beta1.SeedSpec, kept client.Object, changes ...func(*facts.Shoot)) []client.Object {
	t.Helper()
	server, peer := "etcd-"+role+"-server", "etcd-"+role+"-peer"
	in := &component.Inputs{
		Replicas: 1,
		Images:   map[string]string{"etcd": "registry.k8s.io/etcd:3.6.8-0"},
		Secrets: map[string]component.Secret{
			server: {Name: server + "-11111111"}, peer: {Name: peer + "-22222222"},
			"etcd-client": {Name: "etcd-client-55555555"}, "ca-etcd": {Bundle: "ca-etcd-bundle-33333333"}, "ca-etcd-peer": {Bundle: "ca-etcd-peer-bundle-44444444"},
		},
		Kept: kept,
	}
	f := facts.Shoot{Namespace: "shoot--dev--a", Seed: &gardencorev1beta1.Seed{Spec: seed}, Shoot: &gardencorev1beta1.Shoot{}}
	for _, change := range changes {
		change(&f)
	}
	objs, err := etcd.Component(role).Render(f, in)
	if err := errors.Join(err, in.Missing()); err != nil {
		t.Fatal(err)
	}
	return objs
}

func TestRender(t *testing.T) {
	t.Parallel()
	golden.Objects(t, "main.yaml", render(t, gardencorev1beta1.SeedSpec{}, nil))
}

// TestRenderEvents: the store for events is one of its own, with a volume and a Service of its own.
func TestRenderEvents_BAK_ETCD_1(t *testing.T) {
	t.Parallel()
	golden.Objects(t, "events.yaml", renderRole(t, "events", gardencorev1beta1.SeedSpec{}, nil))
}

// TestImportance_BAK_ETCD_5: the store of everything but events is measured in detail, and its pod is not moved for the sake of a node.
func TestImportance_BAK_ETCD_5(t *testing.T) {
	t.Parallel()
	for role, want := range map[string]bool{"main": true, "events": false} {
		set, _ := renderRole(t, role, gardencorev1beta1.SeedSpec{}, nil)[1].(*appsv1.StatefulSet)
		pod := set.Spec.Template
		if got := slices.Contains(pod.Spec.Containers[0].Args, "--metrics=extensive"); got != want {
			t.Errorf("etcd for %s: the arguments are %q", role, pod.Spec.Containers[0].Args)
		}
		if got := pod.Annotations["cluster-autoscaler.kubernetes.io/safe-to-evict"] == "false"; got != want {
			t.Errorf("etcd for %s: the annotations of its pod are %v", role, pod.Annotations)
		}
	}
}

// sized has demands, on a seed that sizes pods.
func sized(f *facts.Shoot) {
	f.VerticalAutoscaling = true
	f.Shoot.Spec.Maintenance = &gardencorev1beta1.Maintenance{TimeWindow: &gardencorev1beta1.MaintenanceTimeWindow{Begin: "220000+0000", End: "230000+0000"}}
	f.Shoot.Spec.Kubernetes.ETCD = &gardencorev1beta1.ETCD{Main: &gardencorev1beta1.ETCDConfig{Autoscaling: &gardencorev1beta1.ControlPlaneAutoscaling{
		MinAllowed: map[string]resource.Quantity{"cpu": resource.MustParse("500m"), "memory": resource.MustParse("2Gi")},
	}}}
}

func TestRenderSized_BAK_ETCD_9(t *testing.T) {
	t.Parallel()
	golden.Objects(t, "sized.yaml", render(t, gardencorev1beta1.SeedSpec{}, nil, sized))
}

// TestShrinks: what is relied upon never becomes smaller, and everything else only while its shoot is maintained, unless its owner forbids it.
func TestShrinks_GLET_RECON_7_BAK_ETCD_9(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		role     string
		purpose  gardencorev1beta1.ShootPurpose
		disabled bool
		want     string
	}{
		"Production":       {role: "main", purpose: "production", want: "never"},
		"Infrastructure":   {role: "main", purpose: "infrastructure", want: "never"},
		"Evaluation":       {role: "main", purpose: "evaluation", want: "in-maintenance-window-only"},
		"ProductionEvents": {role: "events", purpose: "production", want: "in-maintenance-window-only"},
		"Disabled":         {role: "main", purpose: "evaluation", disabled: true, want: "never"},
		"DisabledEvents":   {role: "events", purpose: "evaluation", disabled: true, want: "never"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := facts.Shoot{Namespace: "shoot--dev--a", Seed: &gardencorev1beta1.Seed{}, Shoot: &gardencorev1beta1.Shoot{}, VerticalAutoscaling: true}
			f.Shoot.Spec.Purpose = &tc.purpose
			if tc.disabled {
				f.Shoot.Annotations = map[string]string{"alpha.control-plane.scaling.shoot.gardener.cloud/scale-down-disabled": "true"}
			}
			objs, err := etcd.Component(tc.role).Render(f, &component.Inputs{})
			if err != nil {
				t.Fatal(err)
			}
			got := objs[len(objs)-1].GetAnnotations()["eviction-requirements.autoscaling.gardener.cloud/downscale-restriction"]
			if got != tc.want {
				t.Errorf("the etcd for %s of a shoot for %s shrinks %q, want %q", tc.role, tc.purpose, got, tc.want)
			}
		})
	}
}

func TestVolume(t *testing.T) {
	t.Parallel()
	minimum := func(size string) gardencorev1beta1.SeedSpec {
		return gardencorev1beta1.SeedSpec{Volume: &gardencorev1beta1.SeedVolume{MinimumSize: new(resource.MustParse(size))}}
	}
	cases := map[string]struct {
		reason string
		seed   gardencorev1beta1.SeedSpec
		kept   client.Object
		want   string
	}{
		"Small": {reason: "etcd needs more than the seed's smallest volume", seed: minimum("1Gi"), want: "10Gi"},
		"Large": {reason: "the seed makes no smaller volume", seed: minimum("20Gi"), want: "20Gi"},
		"Kept":  {reason: "a volume that exists keeps its size", seed: minimum("20Gi"), kept: render(t, minimum("15Gi"), nil)[1], want: "15Gi"},
		"Lost":  {reason: "a set without a volume has no size to keep", seed: minimum("20Gi"), kept: &appsv1.StatefulSet{}, want: "20Gi"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			claim := render(t, tc.seed, tc.kept)[1].(*appsv1.StatefulSet).Spec.VolumeClaimTemplates[0]
			if diff := cmp.Diff(tc.want, claim.Spec.Resources.Requests.Storage().String()); diff != "" {
				t.Errorf("%s\nsize of the volume (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
