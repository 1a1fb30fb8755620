// SPDX-License-Identifier: Apache-2.0

package node_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/appliance/seedling/node"
)

func TestParseMounts(t *testing.T) {
	t.Parallel()
	const mountinfo = `22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
60 22 0:41 / /var/lib/seedling/kubelet/pods/1/volumes/token rw - tmpfs none rw
61 60 0:42 / /var/lib/seedling/kubelet/pods/1/volumes/token/inner rw - tmpfs none rw
62 22 0:43 / /var/lib/seedling-dev/other rw - tmpfs none rw
63 22 0:44 / /run/seedling rw - tmpfs none rw
64 22 0:45 / /run/seedling/with\040blank rw - tmpfs none rw
short line
`
	got := node.ParseMounts(mountinfo, "/var/lib/seedling", "/run/seedling")
	want := []string{
		"/run/seedling/with blank",
		"/run/seedling",
		"/var/lib/seedling/kubelet/pods/1/volumes/token/inner",
		"/var/lib/seedling/kubelet/pods/1/volumes/token",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Mounts of the folders, and not of folders that only begin alike, come in the order in which they can go (-want +got):\n%s", diff)
	}
}

func TestParseCgroups(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason    string
		mountinfo string
		want      node.Cgroups
	}{
		"version 1": {
			reason: "Each controller has a hierarchy; one of version 2 without controllers may be beside them.",
			mountinfo: `1 1 0:1 / /sys/fs/cgroup rw - tmpfs none rw
2 1 0:2 / /sys/fs/cgroup/unified rw - cgroup2 none rw
3 1 0:3 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup none rw,cpu,cpuacct
`,
			want: node.Cgroups{Roots: []string{"/sys/fs/cgroup/cpu,cpuacct", "/sys/fs/cgroup/unified"}},
		},
		"version 2": {
			reason:    "One hierarchy has all controllers.",
			mountinfo: "2 1 0:2 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 none rw,nsdelegate\n",
			want:      node.Cgroups{Roots: []string{"/sys/fs/cgroup"}, Unified: true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, node.ParseCgroups(tc.mountinfo)); diff != "" {
				t.Errorf("%s\nParseCgroups() (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
