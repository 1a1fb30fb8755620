// SPDX-License-Identifier: Apache-2.0

package shoot_test

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

func TestColumns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	plain := map[string]string{
		"CloudProfile": "local", "Provider": "local", "Region": "north", "Seed": "<none>", "K8S Version": "1.36.3", "Hibernation": "Awake",
		"Last Operation": "<pending>", "Status": "<pending>", "Purpose": "<none>", "Gardener Version": "<unknown>",
		"APIServer": "<unknown>", "Control": "<unknown>", "Observability": "<unknown>", "Nodes": "<unknown>", "System": "<unknown>",
	}
	hibernation := func(wanted, reached bool) func(*object) {
		return func(s *object) {
			s.Spec.Hibernation = &gardencorev1beta1.Hibernation{Enabled: &wanted}
			s.Status.Hibernated = reached
		}
	}
	for name, tc := range map[string]struct {
		reason string
		change func(*object)
		want   map[string]string
	}{
		"new":        {"a new shoot has little to show", func(*object) {}, nil},
		"sleeping":   {"sleep is wanted and reached", hibernation(true, true), map[string]string{"Hibernation": "Hibernated"}},
		"drowsy":     {"sleep is wanted", hibernation(true, false), map[string]string{"Hibernation": "Hibernating"}},
		"waking":     {"sleep is not wanted any more", hibernation(false, true), map[string]string{"Hibernation": "Waking Up"}},
		"older name": {"the older field names the profile as well", func(s *object) { s.Spec.CloudProfile, s.Spec.CloudProfileName = nil, new("old") }, map[string]string{"CloudProfile": "old"}},
		"no profile": {"a shoot may name none", func(s *object) { s.Spec.CloudProfile = nil }, map[string]string{"CloudProfile": ""}},
		"profile of the project": {
			"a profile of the project shows its namespace",
			func(s *object) {
				s.Spec.CloudProfile = &gardencorev1beta1.CloudProfileReference{Kind: "NamespacedCloudProfile", Name: "mine"}
			},
			map[string]string{"CloudProfile": "garden-meadow/mine"},
		},
		"running": {
			"a shoot that runs shows how it does",
			func(s *object) {
				seeded("a")(s)
				last("Create", "Processing")(s)
				s.Labels = map[string]string{"shoot.gardener.cloud/status": "healthy"}
				s.Spec.Purpose, s.Status.Gardener.Version = new(gardencorev1beta1.ShootPurposeProduction), "v1.149.0"
				s.Status.Conditions = []gardencorev1beta1.Condition{
					{Type: "APIServerAvailable", Status: "True"},
					{Type: "ControlPlaneHealthy", Status: "False"},
					{Type: "ObservabilityComponentsHealthy", Status: "Unknown"},
					{Type: "EveryNodeReady", Status: "Progressing"},
					{Type: "SystemComponentsHealthy", Status: "True"},
				}
			},
			map[string]string{
				"Seed": "a", "Last Operation": "Create Processing (50%)", "Status": "healthy", "Purpose": "production", "Gardener Version": "v1.149.0",
				"APIServer": "True", "Control": "False", "Observability": "Unknown", "Nodes": "Progressing", "System": "True",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := maps.Clone(plain)
			maps.Copy(want, tc.want)
			if diff := cmp.Diff(want, w.main.Row(w.ctx, sprout(tc.change))); diff != "" {
				t.Errorf("API-RES-11: %s\ncells (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
