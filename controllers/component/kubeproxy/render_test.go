// SPDX-License-Identifier: Apache-2.0

package kubeproxy_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component/golden"
	"github.com/terrarium-garden/terrarium/controllers/component/kubeproxy"
)

func TestRender(t *testing.T) {
	t.Parallel()
	objs, err := kubeproxy.Render(kubeproxy.Values{
		Image: "registry.k8s.io/kube-proxy:v1.36.3", Server: "https://10.99.1.1", PodNetworks: []string{"10.100.0.0/16"},
		Settings: &gardencorev1beta1.KubeProxyConfig{Mode: new(gardencorev1beta1.ProxyModeNFTables)},
	})
	if err != nil {
		t.Fatal(err)
	}
	golden.Objects(t, "nftables.yaml", objs)
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
			objs, err := kubeproxy.Render(kubeproxy.Values{Settings: &gardencorev1beta1.KubeProxyConfig{Mode: tc.mode}})
			if err != nil {
				t.Fatal(err)
			}
			if got := objs[2].(*corev1.ConfigMap).Data["config.yaml"]; !strings.Contains(got, tc.want) {
				t.Errorf("config.yaml lacks %q:\n%s", tc.want, got)
			}
		})
	}
}

func TestEnabled(t *testing.T) {
	t.Parallel()
	if !kubeproxy.Enabled(nil) || !kubeproxy.Enabled(&gardencorev1beta1.KubeProxyConfig{}) || kubeproxy.Enabled(&gardencorev1beta1.KubeProxyConfig{Enabled: new(false)}) {
		t.Error("kube-proxy is on unless it is switched off")
	}
}
