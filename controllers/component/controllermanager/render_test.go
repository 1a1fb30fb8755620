// SPDX-License-Identifier: Apache-2.0

package controllermanager_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/controllermanager"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/tests/golden"
)

func render(t *testing.T, workers []gardencorev1beta1.Worker, settings *gardencorev1beta1.KubeControllerManagerConfig) []client.Object {
	t.Helper()
	f := facts.Shoot{Namespace: "shoot--dev--a", Shoot: &gardencorev1beta1.Shoot{}}
	f.Shoot.Spec.Provider.Workers, f.Shoot.Spec.Kubernetes.KubeControllerManager = workers, settings
	f.Shoot.Spec.Networking = &gardencorev1beta1.Networking{Pods: new("10.100.0.0/16"), Services: new("10.101.0.0/16")}
	in := &component.Inputs{
		Replicas: 1, Images: map[string]string{"kube-controller-manager": "registry.k8s.io/kube-controller-manager:v1.36.3"},
		Secrets: map[string]component.Secret{
			"ca": {Bundle: "ca-bundle-66666666"}, "ca-client": {Name: "ca-client"}, "ca-kubelet": {Name: "ca-kubelet"}, "kube-controller-manager": {Name: "kube-controller-manager-11111111"},
			"service-account-key": {Name: "service-account-key-55555555"},
		},
	}
	objs, err := controllermanager.Component().Render(f, in)
	if err := errors.Join(err, in.Missing()); err != nil {
		t.Fatal(err)
	}
	return objs
}

func TestRender(t *testing.T) {
	t.Parallel()
	golden.Objects(t, "default.yaml", render(t, []gardencorev1beta1.Worker{{Name: "small"}}, nil))
}

func TestSettingsBecomeFlags(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		workers  []gardencorev1beta1.Worker
		settings gardencorev1beta1.KubeControllerManagerConfig
		want     []string
		not      string
	}{
		"Tuned": {
			workers: []gardencorev1beta1.Worker{{Name: "small"}},
			settings: gardencorev1beta1.KubeControllerManagerConfig{
				KubernetesConfig: gardencorev1beta1.KubernetesConfig{FeatureGates: map[string]bool{"A": true}},
				NodeCIDRMaskSize: new(int32(26)), NodeMonitorGracePeriod: &metav1.Duration{Duration: time.Minute},
				HorizontalPodAutoscaler: &gardencorev1beta1.HorizontalPodAutoscalerConfig{SyncPeriod: &metav1.Duration{Duration: 15 * time.Second}, Tolerance: new(0.2)},
			},
			want: []string{
				"--node-cidr-mask-size=26", "--node-monitor-grace-period=1m0s", "--horizontal-pod-autoscaler-sync-period=15s",
				"--horizontal-pod-autoscaler-tolerance=0.2", "--feature-gates=A=true",
			},
		},
		"Workerless": {want: []string{
			"--controllers=*,token-cleaner-controller,-node-ipam-controller,-node-lifecycle-controller,-persistentvolume-attach-detach-controller,-ttl-controller",
		}, not: "--allocate-node-cidrs=true"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := render(t, tc.workers, &tc.settings)[1].(*appsv1.Deployment).Spec.Template.Spec.Containers[0].Args
			got := slices.DeleteFunc(slices.Clone(args), func(arg string) bool { return !slices.Contains(tc.want, arg) })
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("flags, in this order (-want +got):\n%s\nall: %v", diff, args)
			}
			if slices.Contains(args, tc.not) {
				t.Errorf("flag %s must not be there", tc.not)
			}
		})
	}
}
