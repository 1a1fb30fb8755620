// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"strings"
	"testing"
	"time"
)

// defragmented has the resource manager look at the etcds of the shoot now. Young ones have nothing to return, but it has to reach them through
// the network policies, they have to trust it, and they have to be healthy.
func defragmented(t *testing.T, w *world) {
	t.Helper()
	const schedule = "etcd.terrarium.garden/defragmentation-schedule"
	plane := "shoot--meadow--" + shootName
	now := time.Now().UTC().Add(-time.Minute).Format("4 15 * * *")
	for _, etcd := range []string{"etcd-main", "etcd-events"} {
		before := strings.TrimSpace(w.must(t, w.seed("-n", plane, "get", "statefulset", etcd, "-o", `jsonpath={.metadata.annotations.etcd\.terrarium\.garden/defragmentation-schedule}`)...))
		if len(strings.Fields(before)) != 5 {
			t.Fatalf("%s has the schedule %q", etcd, before)
		}
		w.must(t, w.seed("-n", plane, "annotate", "statefulset", etcd, "--overwrite", schedule+"="+now)...)
		w.eventually(t, time.Minute, etcd+" is looked at", func() (bool, string) {
			log := w.must(t, w.seed("-n", "garden", "logs", "deployment/gardener-resource-manager", "--since=2m")...)
			var about []string
			for line := range strings.Lines(log) {
				if strings.Contains(line, " namespace="+plane+" name="+etcd+" ") {
					about = append(about, line)
				}
			}
			text := strings.Join(about, "")
			return strings.Contains(text, "Etcd needs no further defragmentation"), text
		})
		w.must(t, w.seed("-n", plane, "annotate", "statefulset", etcd, "--overwrite", schedule+"="+before)...)
	}
}
