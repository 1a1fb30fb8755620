// SPDX-License-Identifier: Apache-2.0

package kubeproxy_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/component/kubeproxy"
	"github.com/terrarium-garden/terrarium/tests/golden"
)

func factsWith(settings *gardencorev1beta1.KubeProxyConfig) facts.Shoot {
	f := facts.Shoot{Shoot: &gardencorev1beta1.Shoot{}}
	f.Shoot.Spec.Kubernetes.KubeProxy = settings
	f.Shoot.Spec.Provider.Workers = []gardencorev1beta1.Worker{{Name: "small"}}
	f.Shoot.Spec.Networking = &gardencorev1beta1.Networking{Pods: new("10.100.0.0/16")}
	return f
}

func render(t *testing.T, settings *gardencorev1beta1.KubeProxyConfig) []client.Object {
	t.Helper()
	in := &component.Inputs{
		Images:    map[string]string{"kube-proxy": "registry.k8s.io/kube-proxy:v1.36.3"},
		Addresses: component.Addresses{"kube-apiserver-service": {LoadBalancer: "10.99.1.1"}},
	}
	objs, err := kubeproxy.Component().Render(factsWith(settings), in)
	if err := errors.Join(err, in.Missing()); err != nil {
		t.Fatal(err)
	}
	return objs
}

func TestRender(t *testing.T) {
	t.Parallel()
	golden.Objects(t, "ipvs.yaml", render(t, &gardencorev1beta1.KubeProxyConfig{Mode: new(gardencorev1beta1.ProxyModeIPVS)}))
	golden.Objects(t, "nftables.yaml", render(t, &gardencorev1beta1.KubeProxyConfig{Mode: new(gardencorev1beta1.ProxyModeNFTables)}))
}

func TestMode(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		mode *gardencorev1beta1.ProxyMode
		want string
	}{
		"Default":  {want: "mode: iptables\n"},
		"IPTables": {mode: new(gardencorev1beta1.ProxyModeIPTables), want: "mode: iptables\n"},
		"IPVS":     {mode: new(gardencorev1beta1.ProxyModeIPVS), want: "mode: ipvs\n"},
		"NFTables": {mode: new(gardencorev1beta1.ProxyModeNFTables), want: "mode: nftables\n"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := render(t, &gardencorev1beta1.KubeProxyConfig{Mode: tc.mode})[2].(*corev1.ConfigMap).Data["config.yaml"]
			var got string
			for line := range strings.Lines(config) {
				if strings.HasPrefix(line, "mode:") {
					got += line
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("mode in config.yaml (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWanted(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		settings *gardencorev1beta1.KubeProxyConfig
		want     bool
	}{
		"Default":  {want: true},
		"Settings": {settings: &gardencorev1beta1.KubeProxyConfig{}, want: true},
		"Off":      {settings: &gardencorev1beta1.KubeProxyConfig{Enabled: new(false)}},
	} {
		if got := kubeproxy.Component().Wanted(factsWith(tc.settings)); got != tc.want {
			t.Errorf("%s: Wanted(...) = %t: kube-proxy is on unless it is switched off", name, got)
		}
	}
	workerless := factsWith(nil)
	workerless.Shoot.Spec.Provider.Workers = nil
	if kubeproxy.Component().Wanted(workerless) {
		t.Error("a shoot without nodes has no kube-proxy")
	}
}
