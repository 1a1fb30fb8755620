// SPDX-License-Identifier: Apache-2.0

package multicall_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/appliance/seedling/multicall"
)

func TestSelect(t *testing.T) {
	t.Parallel()
	table := multicall.Table{{Name: "kubelet"}, {Name: "kubectl"}}
	type want struct {
		applet string
		args   []string
		found  bool
	}
	for name, tc := range map[string]struct {
		reason      string
		commandLine []string
		want        want
	}{
		"link": {
			reason:      "A link in an image is called by its path, and all arguments are the applet's.",
			commandLine: []string{"/usr/local/bin/kubelet", "--version"},
			want:        want{"kubelet", []string{"--version"}, true},
		},
		"first argument": {
			reason:      "Without a link the first argument says what to be, and is not passed on.",
			commandLine: []string{"./seedling", "kubectl", "get", "pods"},
			want:        want{"kubectl", []string{"get", "pods"}, true},
		},
		"link wins": {
			reason:      "kubectl may be asked about something that is called like another applet.",
			commandLine: []string{"kubectl", "kubelet"},
			want:        want{"kubectl", []string{"kubelet"}, true},
		},
		"second argument": {
			reason:      "Only the first argument is looked at: later ones belong to the commands of the binary itself.",
			commandLine: []string{"seedling", "load", "kubelet"},
		},
		"path as argument": {
			reason:      "An argument is a name and not a path.",
			commandLine: []string{"seedling", "/usr/bin/kubelet"},
		},
		"no argument": {reason: "Without arguments the binary is itself.", commandLine: []string{"seedling"}},
		"nothing":     {reason: "A program may be started without even its name."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			applet, args, found := table.Select(tc.commandLine)
			got := want{applet.Name, args, found}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("%s\nSelect(%q) (-want +got):\n%s", tc.reason, tc.commandLine, diff)
			}
		})
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	got := multicall.Table{{Name: "b"}, {Name: "a"}}.Names()
	if diff := cmp.Diff([]string{"b", "a"}, got); diff != "" {
		t.Errorf("The order of the table is kept.\nNames() (-want +got):\n%s", diff)
	}
}
