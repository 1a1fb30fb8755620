// SPDX-License-Identifier: Apache-2.0

package dashboard_test

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
	"github.com/terrarium-garden/terrarium/controllers/component/dashboard"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/tests/golden"
)

func asked(enabled bool) facts.Shoot {
	s := &gardencorev1beta1.Shoot{}
	s.Spec.Provider.Workers = []gardencorev1beta1.Worker{{Name: "small"}}
	s.Spec.Addons = &gardencorev1beta1.Addons{KubernetesDashboard: &gardencorev1beta1.KubernetesDashboard{Addon: gardencorev1beta1.Addon{Enabled: enabled}}}
	return facts.Shoot{Shoot: s}
}

func render(t *testing.T) []client.Object {
	t.Helper()
	in := &component.Inputs{Replicas: 1, Images: map[string]string{
		"kubernetes-dashboard":      "docker.io/kubernetesui/dashboard:v2.7.0",
		"dashboard-metrics-scraper": "docker.io/kubernetesui/metrics-scraper:v1.0.9",
	}}
	objs, err := dashboard.Component().Render(asked(true), in)
	if err := errors.Join(err, in.Missing()); err != nil {
		t.Fatal(err)
	}
	return objs
}

func TestRender_GLET_RECON_1(t *testing.T) {
	t.Parallel()
	golden.Objects(t, "default.yaml", render(t))
}

func TestWanted(t *testing.T) {
	t.Parallel()
	workerless := asked(true)
	workerless.Shoot.Spec.Provider.Workers = nil
	for name, tc := range map[string]struct {
		reason string
		facts  facts.Shoot
		want   bool
	}{
		"Asked":      {reason: "its owner wants it", facts: asked(true), want: true},
		"Off":        {reason: "it is switched off", facts: asked(false)},
		"Unset":      {reason: "nobody asked", facts: facts.Shoot{Shoot: &gardencorev1beta1.Shoot{}}},
		"Workerless": {reason: "there is no node for it", facts: workerless},
	} {
		c := dashboard.Component()
		if got := c.IsWanted(tc.facts); got != tc.want {
			t.Errorf("%s: it is wanted: %t, want %t: %s", name, got, tc.want, tc.reason)
		}
	}
}

// TestRights is about what somebody gains who takes over the dashboard: what it may do in the whole cluster, and with Secrets.
func TestRights(t *testing.T) {
	t.Parallel()
	bound := map[string]bool{}
	for _, obj := range render(t) {
		switch obj := obj.(type) {
		case *rbacv1.ClusterRole:
			for _, rule := range obj.Rules {
				if !slices.Equal(rule.APIGroups, []string{"metrics.k8s.io"}) || slices.ContainsFunc(rule.Verbs, func(v string) bool { return v != "get" && v != "list" && v != "watch" }) {
					t.Errorf("role %q allows %v", obj.Name, rule)
				}
			}
		case *rbacv1.Role:
			for _, rule := range obj.Rules {
				if obj.Namespace != "kubernetes-dashboard" || len(rule.ResourceNames) == 0 {
					t.Errorf("role %q in namespace %q allows %v of any name", obj.Name, obj.Namespace, rule)
				}
			}
		case *rbacv1.ClusterRoleBinding:
			bound[obj.RoleRef.Name] = true
			for _, subject := range obj.Subjects {
				if subject.Name == "kubernetes-dashboard" {
					t.Errorf("the dashboard has the role %q in the whole cluster", obj.RoleRef.Name)
				}
			}
		}
	}
	if diff := cmp.Diff(map[string]bool{"dashboard-metrics-scraper": true}, bound); diff != "" {
		t.Errorf("roles that are bound in the whole cluster (-want +got):\n%s", diff)
	}
}

// rights are those of a pod on its node.
type rights struct {
	RunAsNonRoot, HostNetwork, ReadOnlyRootFilesystem, AllowPrivilegeEscalation bool

	Seccomp corev1.SeccompProfileType
	Added   []corev1.Capability
}

// TestPods is about the rights of the pods on their nodes.
func TestPods(t *testing.T) {
	t.Parallel()
	got := map[string]rights{}
	for _, obj := range render(t) {
		if d, ok := obj.(*appsv1.Deployment); ok {
			spec := &d.Spec.Template.Spec
			own := spec.Containers[0].SecurityContext
			got[d.Name] = rights{
				RunAsNonRoot: *spec.SecurityContext.RunAsNonRoot, HostNetwork: spec.HostNetwork, Seccomp: spec.SecurityContext.SeccompProfile.Type,
				ReadOnlyRootFilesystem: *own.ReadOnlyRootFilesystem, AllowPrivilegeEscalation: *own.AllowPrivilegeEscalation, Added: own.Capabilities.Add,
			}
		}
	}
	few := rights{RunAsNonRoot: true, ReadOnlyRootFilesystem: true, Seccomp: corev1.SeccompProfileTypeRuntimeDefault}
	if diff := cmp.Diff(map[string]rights{"kubernetes-dashboard": few, "dashboard-metrics-scraper": few}, got); diff != "" {
		t.Errorf("rights of the pods by Deployment (-want +got):\n%s", diff)
	}
}
