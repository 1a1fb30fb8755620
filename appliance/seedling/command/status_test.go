// SPDX-License-Identifier: Apache-2.0

package command_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/appliance/seedling/cluster"
	"github.com/terrarium-garden/terrarium/appliance/seedling/command"
)

func TestPrintTable(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	if err := command.PrintTable(&out, cluster.Status{
		Parts:    []cluster.PartStatus{{Name: "etcd", PID: 7, Healthy: true}, {Name: "kubelet", Message: "does not run"}},
		Node:     cluster.NodeStatus{Name: "seed", Message: "get node: refused"},
		Warnings: []string{"there is no moon"},
	}); err != nil {
		t.Fatal(err)
	}
	want := `PART        PID   HEALTHY   MESSAGE
etcd        7     true      
kubelet     -     false     does not run
node seed   -     false     get node: refused
Warning: there is no moon
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("The table tells of all parts, and of what does not work here (-want +got):\n%s", diff)
	}
}
