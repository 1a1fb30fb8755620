// SPDX-License-Identifier: Apache-2.0

package nginxingress_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/component/nginxingress"
	"github.com/terrarium-garden/terrarium/tests/golden"
)

func asked(settings gardencorev1beta1.NginxIngress) facts.Shoot {
	s := &gardencorev1beta1.Shoot{}
	s.Spec.Provider.Workers = []gardencorev1beta1.Worker{{Name: "small"}}
	s.Spec.Addons = &gardencorev1beta1.Addons{NginxIngress: &settings}
	return facts.Shoot{Shoot: s}
}

func on() gardencorev1beta1.NginxIngress {
	return gardencorev1beta1.NginxIngress{Addon: gardencorev1beta1.Addon{Enabled: true}}
}

func render(t *testing.T, settings gardencorev1beta1.NginxIngress) []client.Object {
	t.Helper()
	in := &component.Inputs{Replicas: 1, Images: map[string]string{"nginx-ingress-controller": "registry.k8s.io/ingress-nginx/controller:v1.15.1"}}
	objs, err := nginxingress.Component().Render(asked(settings), in)
	if err := errors.Join(err, in.Missing()); err != nil {
		t.Fatal(err)
	}
	return objs
}

// find is the only object of a type.
func find[T client.Object](t *testing.T, objs []client.Object) T {
	t.Helper()
	var found []T
	for _, obj := range objs {
		if one, ok := obj.(T); ok {
			found = append(found, one)
		}
	}
	if len(found) != 1 {
		t.Fatalf("there are %d objects of type %T", len(found), *new(T))
	}
	return found[0]
}

func TestRender_GLET_RECON_1(t *testing.T) {
	t.Parallel()
	golden.Objects(t, "default.yaml", render(t, on()))
	settings := on()
	settings.Config = map[string]string{"proxy-body-size": "8m", "ssl-protocols": "TLSv1.3"}
	settings.ExternalTrafficPolicy = new(gardencorev1beta1.ExternalTrafficPolicyLocal)
	settings.LoadBalancerSourceRanges = []string{"10.0.0.0/8", "192.168.7.9/24", "2001:db8::/32"}
	golden.Objects(t, "settings.yaml", render(t, settings))
}

// TestSettings says what each setting of the owner becomes.
func TestSettings(t *testing.T) {
	t.Parallel()
	service := find[*corev1.Service](t, render(t, on()))
	if service.Spec.Type != corev1.ServiceTypeLoadBalancer || service.Spec.ExternalTrafficPolicy != "Cluster" || service.Spec.LoadBalancerSourceRanges != nil {
		t.Errorf("without settings: %+v", service.Spec)
	}
	settings := on()
	settings.Config = map[string]string{"proxy-body-size": "8m"}
	settings.ExternalTrafficPolicy = new(gardencorev1beta1.ExternalTrafficPolicyLocal)
	settings.LoadBalancerSourceRanges = []string{"192.168.7.9/24"}
	objs := render(t, settings)
	service = find[*corev1.Service](t, objs)
	if service.Spec.ExternalTrafficPolicy != "Local" {
		t.Errorf("policy %q", service.Spec.ExternalTrafficPolicy)
	}
	if diff := cmp.Diff([]string{"192.168.7.0/24"}, service.Spec.LoadBalancerSourceRanges); diff != "" {
		t.Errorf("networks of clients (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(settings.Config, find[*corev1.ConfigMap](t, objs).Data); diff != "" {
		t.Errorf("configuration (-want +got):\n%s", diff)
	}
}

func TestWanted(t *testing.T) {
	t.Parallel()
	workerless := asked(on())
	workerless.Shoot.Spec.Provider.Workers = nil
	for name, tc := range map[string]struct {
		reason string
		facts  facts.Shoot
		want   bool
	}{
		"Asked":      {reason: "its owner wants it", facts: asked(on()), want: true},
		"Off":        {reason: "it is switched off", facts: asked(gardencorev1beta1.NginxIngress{})},
		"Unset":      {reason: "nobody asked", facts: facts.Shoot{Shoot: &gardencorev1beta1.Shoot{}}},
		"Workerless": {reason: "there is no node for it", facts: workerless},
	} {
		c := nginxingress.Component()
		if got := c.IsWanted(tc.facts); got != tc.want {
			t.Errorf("%s: it is wanted: %t, want %t: %s", name, got, tc.want, tc.reason)
		}
	}
}

// TestRights is about what somebody gains who takes over the controller, which reads what others have written into Ingresses.
func TestRights(t *testing.T) {
	t.Parallel()
	objs := render(t, on())
	for _, rule := range find[*rbacv1.ClusterRole](t, objs).Rules {
		for _, verb := range rule.Verbs {
			reads := slices.Contains([]string{"get", "list", "watch"}, verb)
			if !reads && !slices.Equal(rule.Resources, []string{"ingresses/status"}) && !slices.Equal(rule.Resources, []string{"events"}) {
				t.Errorf("it may %s %v everywhere", verb, rule.Resources)
			}
		}
	}
	spec := &find[*appsv1.Deployment](t, objs).Spec.Template.Spec
	if !*spec.SecurityContext.RunAsNonRoot || *spec.SecurityContext.RunAsUser == 0 || spec.HostNetwork ||
		spec.SecurityContext.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
		t.Errorf("its pod has %+v, network of the node: %t", spec.SecurityContext, spec.HostNetwork)
	}
	own := spec.Containers[0].SecurityContext
	want := &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}, Add: []corev1.Capability{"NET_BIND_SERVICE"}}
	if diff := cmp.Diff(want, own.Capabilities); diff != "" || *own.AllowPrivilegeEscalation {
		t.Errorf("its container has more rights: %+v (-want +got):\n%s", own, diff)
	}
}
