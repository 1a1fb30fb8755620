// SPDX-License-Identifier: Apache-2.0

package plant_test

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRegion_GCM_PLANT_3 takes one label after the other away from the first node.
func TestRegion_GCM_PLANT_3(t *testing.T) {
	t.Parallel()
	c := grow(t)
	labels := map[string]string{
		"topology.kubernetes.io/region": "region", "failure-domain.beta.kubernetes.io/region": "former region",
		"topology.kubernetes.io/zone": "zone", "failure-domain.beta.kubernetes.io/zone": "former zone",
	}
	var got []string
	for _, gone := range []string{
		"", "topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone",
	} {
		delete(labels, gone)
		c.answer("/api/v1/nodes", says(nodes(machine("a", "", "", labelled(maps.Clone(labels))))))
		got = append(got, c.look(t, c.kubeconfig(t), brief()).Region)
	}
	if diff := cmp.Diff([]string{"region", "former region", "zone", "former zone", "<unknown>"}, got); diff != "" {
		t.Errorf("regions (-want +got):\n%s", diff)
	}
}
