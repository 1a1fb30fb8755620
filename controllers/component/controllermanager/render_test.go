// SPDX-License-Identifier: Apache-2.0

package controllermanager_test

import (
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/controllermanager"
	"github.com/terrarium-garden/terrarium/controllers/component/golden"
)

func values() controllermanager.Values {
	return controllermanager.Values{
		Namespace: "shoot--dev--a", Image: "registry.k8s.io/kube-controller-manager:v1.36.3", Replicas: 1, Workers: true,
		Access:         component.Access{Server: "https://10.97.0.9", CABundleSecret: "ca-bundle-66666666", ClientSecret: "kube-controller-manager-11111111"},
		CAClientSecret: "ca-client", ServiceAccountKeySecret: "service-account-key-55555555",
		PodNetworks: []string{"10.100.0.0/16"}, ServiceNetworks: []string{"10.101.0.0/16"},
	}
}

func TestRender(t *testing.T) {
	t.Parallel()
	objs, err := controllermanager.Render(values())
	if err != nil {
		t.Fatal(err)
	}
	golden.Objects(t, "default.yaml", objs)
}

func TestSettingsBecomeFlags(t *testing.T) {
	t.Parallel()
	workerless := values()
	workerless.Workers = false
	tuned := values()
	tuned.Settings = &gardencorev1beta1.KubeControllerManagerConfig{
		KubernetesConfig: gardencorev1beta1.KubernetesConfig{FeatureGates: map[string]bool{"A": true}},
		NodeCIDRMaskSize: new(int32(26)), NodeMonitorGracePeriod: &metav1.Duration{Duration: time.Minute},
		HorizontalPodAutoscaler: &gardencorev1beta1.HorizontalPodAutoscalerConfig{SyncPeriod: &metav1.Duration{Duration: 15 * time.Second}, Tolerance: new(0.2)},
	}
	cases := map[string]struct {
		values controllermanager.Values
		want   []string
		not    string
	}{
		"Tuned": {values: tuned, want: []string{
			"--node-cidr-mask-size=26", "--node-monitor-grace-period=1m0s", "--horizontal-pod-autoscaler-sync-period=15s",
			"--horizontal-pod-autoscaler-tolerance=0.2", "--feature-gates=A=true",
		}},
		"Workerless": {values: workerless, want: []string{
			"--controllers=*,token-cleaner-controller,-node-ipam-controller,-node-lifecycle-controller,-persistentvolume-attach-detach-controller,-ttl-controller",
		}, not: "--allocate-node-cidrs=true"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			objs, err := controllermanager.Render(tc.values)
			if err != nil {
				t.Fatal(err)
			}
			args := objs[1].(*appsv1.Deployment).Spec.Template.Spec.Containers[0].Args
			for _, want := range tc.want {
				if !slices.Contains(args, want) {
					t.Errorf("flag %s is missing in %v", want, args)
				}
			}
			if slices.Contains(args, tc.not) {
				t.Errorf("flag %s must not be there", tc.not)
			}
		})
	}
}
