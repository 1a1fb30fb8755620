// SPDX-License-Identifier: Apache-2.0

package osc_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/component/osc"
	"github.com/terrarium-garden/terrarium/controllers/nodeagent"
	"github.com/terrarium-garden/terrarium/tests/golden"
)

func TestAgentObjects_GRM_WH_AUTHZ_1(t *testing.T) {
	t.Parallel()
	shoot := &gardencorev1beta1.Shoot{}
	shoot.Annotations = map[string]string{"shoot.gardener.cloud/cloud-config-execution-max-delay-seconds": "60"}
	objs, err := osc.AgentObjects(shoot, []osc.Kept{
		{Pool: "small", Secret: "gardener-node-agent-small-1", Configuration: nodeagent.Configuration{
			Units: []gardenextensionsv1alpha1.Unit{{Name: "kubelet.service", Content: new("[Service]\n")}},
		}},
		{Pool: "large", Secret: "gardener-node-agent-large-2"},
	})
	if err != nil {
		t.Fatal(err)
	}
	golden.Objects(t, "agent.yaml", objs)
	for _, obj := range objs {
		role, ok := obj.(*rbacv1.Role)
		if !ok {
			continue
		}
		for _, rule := range role.Rules {
			if slices.Contains(rule.Resources, "secrets") && len(rule.ResourceNames) != 1 {
				t.Errorf("role %q reads secrets %q, want that of its own pool only", role.Name, rule.ResourceNames)
			}
		}
	}
}

// TestOriginal_EXT_OSC_1_EXT_OSC_2 compares the two configurations of a pool.
func TestOriginal_EXT_OSC_1_EXT_OSC_2(t *testing.T) {
	t.Parallel()
	first, err := osc.Render(values())
	if err != nil {
		t.Fatal(err)
	}
	kept, err := osc.RenderOriginal(values())
	if err != nil {
		t.Fatal(err)
	}
	golden.Objects(t, "original.yaml", []client.Object{kept})
	names, err := osc.Names(values().Facts, values().Pool)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{first.Name, kept.Name}, names); diff != "" {
		t.Errorf("names (-rendered +told):\n%s", diff)
	}
	if diff := cmp.Diff(first.Spec.Units, kept.Spec.Units); diff != "" {
		t.Errorf("agents would restart units of a new machine (-first boot +kept):\n%s", diff)
	}
	for _, f := range kept.Spec.Files {
		if strings.Contains(f.Content.Inline.Data, "<<BOOTSTRAP_TOKEN>>") {
			t.Errorf("file %q has the place of a token, which only a new machine gets", f.Path)
		}
	}
}
