// SPDX-License-Identifier: Apache-2.0

package nodelocaldns_test

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
	"github.com/terrarium-garden/terrarium/controllers/component/nodelocaldns"
	"github.com/terrarium-garden/terrarium/tests/golden"
)

func factsWith(settings *gardencorev1beta1.NodeLocalDNS) facts.Shoot {
	f := facts.Shoot{Shoot: &gardencorev1beta1.Shoot{Spec: gardencorev1beta1.ShootSpec{
		Networking:       &gardencorev1beta1.Networking{Services: new("10.101.0.0/16")},
		SystemComponents: &gardencorev1beta1.SystemComponents{NodeLocalDNS: settings},
	}}}
	f.Shoot.Spec.Provider.Workers = []gardencorev1beta1.Worker{{Name: "small"}}
	return f
}

func render(t *testing.T, f facts.Shoot) []client.Object {
	t.Helper()
	in := &component.Inputs{Images: map[string]string{"node-local-dns": "registry.k8s.io/dns/k8s-dns-node-cache:1.26.8"}}
	objs, err := nodelocaldns.Component().Render(f, in)
	if err := errors.Join(err, in.Missing()); err != nil {
		t.Fatal(err)
	}
	return objs
}

func TestRender(t *testing.T) {
	t.Parallel()
	golden.Objects(t, "default.yaml", render(t, factsWith(&gardencorev1beta1.NodeLocalDNS{Enabled: true})))
}

// TestForwarding is about who is asked for names of the cluster and for all others, and how.
func TestForwarding(t *testing.T) {
	t.Parallel()
	const toCluster, toNode = ". 10.101.0.10 { ", ". /etc/resolv.conf { "
	cases := map[string]struct {
		reason        string
		settings      gardencorev1beta1.NodeLocalDNS
		inside, other string
	}{
		"Default": {reason: "TCP is the default for both", inside: toCluster + "force_tcp", other: toNode + "force_tcp"},
		"NoTCP": {
			reason:   "each can be turned off",
			settings: gardencorev1beta1.NodeLocalDNS{ForceTCPToClusterDNS: new(false), ForceTCPToUpstreamDNS: new(false)},
			inside:   toCluster + "prefer_udp", other: toNode + "prefer_udp",
		},
		"NoUpstream": {
			reason:   "the cluster is asked for everything, in the way in which it is asked",
			settings: gardencorev1beta1.NodeLocalDNS{DisableForwardToUpstreamDNS: new(true), ForceTCPToClusterDNS: new(false)},
			inside:   toCluster + "prefer_udp", other: toCluster + "prefer_udp",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tc.settings.Enabled = true
			config := render(t, factsWith(&tc.settings))[1].(*corev1.ConfigMap).Data["Corefile.base"]
			got := map[string]string{}
			for block := range strings.SplitSeq(strings.TrimSuffix(config, "\n}\n"), "\n}\n") {
				zone, _, _ := strings.Cut(block, ":")
				_, forward, _ := strings.Cut(strings.Join(strings.Fields(block), " "), "forward ")
				got[zone], _, _ = strings.Cut(forward, " }")
			}
			want := map[string]string{"cluster.local": tc.inside, "in-addr.arpa": tc.inside, "ip6.arpa": tc.inside, ".": tc.other}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s\nwho is asked by zone (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestWanted(t *testing.T) {
	t.Parallel()
	left, workerless := factsWith(nil), factsWith(&gardencorev1beta1.NodeLocalDNS{Enabled: true})
	left.DNSCacheInUse, workerless.Shoot.Spec.Provider.Workers = true, nil
	for name, tc := range map[string]struct {
		reason string
		facts  facts.Shoot
		want   bool
	}{
		"None":       {reason: "it is off by default", facts: factsWith(nil)},
		"Off":        {reason: "settings do not switch it on", facts: factsWith(&gardencorev1beta1.NodeLocalDNS{})},
		"On":         {reason: "it is asked for", facts: factsWith(&gardencorev1beta1.NodeLocalDNS{Enabled: true}), want: true},
		"Left":       {reason: "nodes from before still ask it", facts: left, want: true},
		"Workerless": {reason: "there are no nodes", facts: workerless},
	} {
		if got := nodelocaldns.Component().Wanted(tc.facts); got != tc.want {
			t.Errorf("%s: Wanted(...) = %t: %s", name, got, tc.reason)
		}
	}
	render(t, left) // What is left needs no settings.
}
