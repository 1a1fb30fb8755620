// SPDX-License-Identifier: Apache-2.0

package cli_test

import "testing"

func TestUI(t *testing.T) {
	t.Parallel()
	g := startGarden(t)
	for name, tc := range map[string]struct {
		reason string
		args   []string
	}{
		"ui/link":      {"The link leads to the address that the garden publishes.", []string{"ui", "--data-dir", g.Dir}},
		"ui/server":    {"Another address can be given.", []string{"ui", "--data-dir", g.Dir, "--server", "https://garden.example.org/"}},
		"ui/wrong":     {"A link that cannot work is not made.", []string{"ui", "--data-dir", g.Dir, "--server", "garden.example.org"}},
		"ui/no-garden": {"The directory that was looked into is named.", []string{"ui", "--data-dir", "/none"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g.world().golden(t, name, tc.reason, tc.args...)
		})
	}
}
