// SPDX-License-Identifier: Apache-2.0

package tunnel_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/apiserver-network-proxy/cmd/agent/app/options"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/apiserver"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/component/tunnel"
	"github.com/terrarium-garden/terrarium/tests/golden"
)

func render(t *testing.T, address string) []client.Object {
	t.Helper()
	in := &component.Inputs{
		Replicas: 2, Images: map[string]string{"konnectivity-agent": "registry.k8s.io/kas-network-proxy/proxy-agent:v0.36.0"},
		Addresses: component.Addresses{apiserver.Exposure: {LoadBalancer: address}},
	}
	objs, err := tunnel.Component().Render(facts.Shoot{Shoot: &gardencorev1beta1.Shoot{}, Hosts: facts.Hosts{Internal: "api.a.dev.internal.terrarium.local"}}, in)
	if err := errors.Join(err, in.Missing()); err != nil {
		t.Fatal(err)
	}
	return objs
}

func agent(t *testing.T, objs []client.Object) corev1.PodSpec {
	t.Helper()
	for _, obj := range objs {
		if deployment, ok := obj.(*appsv1.Deployment); ok {
			return deployment.Spec.Template.Spec
		}
	}
	t.Fatal("no Deployment is rendered")
	return corev1.PodSpec{}
}

func TestRender(t *testing.T) {
	t.Parallel()
	golden.Objects(t, "default.yaml", render(t, "10.99.1.1"))
}

// TestAgents is about how many agents there are.
func TestAgents(t *testing.T) {
	t.Parallel()
	const key = "alpha.control-plane.shoot.gardener.cloud/high-availability-vpn"
	for reason, tc := range map[string]struct {
		annotations map[string]string
		want        int32
	}{
		"the tunnel outlives an agent":            {nil, 2},
		"its owner wants just that":               {map[string]string{key: "true"}, 2},
		"its owner does not need that":            {map[string]string{key: "false"}, 1},
		"its owner spells it in another way":      {map[string]string{key: "0"}, 1},
		"nobody knows what its owner wants":       {map[string]string{key: "perhaps"}, 2},
		"an empty annotation is no wish":          {map[string]string{key: ""}, 2},
		"another annotation is about other parts": {map[string]string{"high-availability-vpn": "false"}, 2},
	} {
		shoot := &gardencorev1beta1.Shoot{}
		shoot.Annotations = tc.annotations
		if got := tunnel.Component().Replicas(facts.Shoot{Shoot: shoot}); got != tc.want {
			t.Errorf("%s: %v makes %d agents, want %d", reason, tc.annotations, got, tc.want)
		}
	}
}

// TestFlags has the options of the program itself read its flags.
func TestFlags(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"10.99.1.1", "2001:db8::1", "balancer.example.org"} {
		o := options.NewGrpcProxyAgentOptions()
		if err := o.Flags().Parse(agent(t, render(t, address)).Containers[0].Args); err != nil {
			t.Fatal(err)
		}
		got := connection{
			Host: o.ProxyServerHost, Port: o.ProxyServerPort, Certificate: o.AgentCert != "", Token: o.ServiceAccountTokenPath != "", Authority: o.CaCert != "", Forever: o.SyncForever,
		}
		if diff := cmp.Diff(connection{Host: address, Port: 8132, Token: true, Authority: true, Forever: true}, got); diff != "" {
			t.Errorf("how an agent for %s connects (-want +got):\n%s", address, diff)
		}
	}
}

// connection is where an agent connects to, and whether it has something to show and to verify with.
type connection struct {
	Host                                   string
	Port                                   int
	Certificate, Token, Authority, Forever bool
}

// TestTolerations is about their order: the first one that fits a taint decides how long an agent stays.
func TestTolerations(t *testing.T) {
	t.Parallel()
	spec := agent(t, render(t, "10.99.1.1"))
	for _, tc := range []struct {
		taint  corev1.Taint
		leaves bool
	}{
		{corev1.Taint{Key: "node.kubernetes.io/not-ready", Effect: corev1.TaintEffectNoSchedule}, false},
		{corev1.Taint{Key: "node.cloudprovider.kubernetes.io/uninitialized", Value: "true", Effect: corev1.TaintEffectNoSchedule}, false},
		{corev1.Taint{Key: "owner", Value: "x", Effect: corev1.TaintEffectNoExecute}, false},
		{corev1.Taint{Key: "node.kubernetes.io/unreachable", Effect: corev1.TaintEffectNoExecute}, true},
		{corev1.Taint{Key: "node.kubernetes.io/not-ready", Effect: corev1.TaintEffectNoExecute}, true},
	} {
		found := false
		for i := range spec.Tolerations {
			toleration := &spec.Tolerations[i]
			if covers := (toleration.Key == "" || toleration.Key == tc.taint.Key) && (toleration.Effect == "" || toleration.Effect == tc.taint.Effect); !covers {
				continue
			}
			if leaves := toleration.TolerationSeconds != nil; leaves != tc.leaves {
				t.Errorf("taint %s:%s: an agent leaves after a while: %t, want %t", tc.taint.Key, tc.taint.Effect, leaves, tc.leaves)
			}
			found = true
			break
		}
		if !found {
			t.Errorf("taint %s:%s is not tolerated", tc.taint.Key, tc.taint.Effect)
		}
	}
	if spec.HostNetwork || spec.DNSPolicy != corev1.DNSDefault || *spec.AutomountServiceAccountToken {
		t.Error("an agent has the network of its node, needs the DNS server of the shoot, or has a token for the API server")
	}
}

// TestWorkerless: what has no nodes needs no tunnel.
func TestWorkerless(t *testing.T) {
	t.Parallel()
	c := tunnel.Component()
	shoot := &gardencorev1beta1.Shoot{}
	if c.IsWanted(facts.Shoot{Shoot: shoot}) {
		t.Error("a shoot without workers has agents")
	}
	shoot.Spec.Provider.Workers = []gardencorev1beta1.Worker{{Name: "small"}}
	if !c.IsWanted(facts.Shoot{Shoot: shoot}) {
		t.Error("a shoot with workers has no agents")
	}
}
