// SPDX-License-Identifier: Apache-2.0

package nodeagent_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/nodeagent"
)

// TestSystemdIsAsked has a program in the place of systemctl that writes down what it is asked.
func TestSystemdIsAsked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program, asked := filepath.Join(dir, "systemctl"), filepath.Join(dir, "asked")
	script := "#!/bin/sh\necho \"$@\" >>" + asked + "\n[ \"$2\" != broken.service ] || { echo it is broken; exit 3; }\n"
	if err := os.WriteFile(program, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	systemd := nodeagent.Systemd{Program: program}
	for _, u := range []unit{
		{Name: "kubelet.service", Enable: new(true), Command: new(gardenextensionsv1alpha1.UnitCommandStart)},
		{Name: "containerd.service"},
		{Name: "off.service", Command: new(gardenextensionsv1alpha1.UnitCommandStop)},
		{Name: "disabled.service", Enable: new(false)},
		{Name: nodeagent.Unit},
	} {
		if err := systemd.Restart(t.Context(), &u); err != nil {
			t.Fatal(err)
		}
	}
	if err := systemd.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(asked)
	if err != nil {
		t.Fatal(err)
	}
	want := `enable kubelet.service
restart kubelet.service
restart containerd.service
stop off.service
disable disabled.service
stop disabled.service
restart --no-block gardener-node-agent.service
daemon-reload
`
	if diff := cmp.Diff(want, string(data)); diff != "" {
		t.Errorf("what systemd is asked (-want +got):\n%s", diff)
	}
	if err := systemd.Restart(t.Context(), &unit{Name: "broken.service"}); err == nil || !strings.Contains(err.Error(), "it is broken") {
		t.Errorf("Restart(...) = %v, want what systemd says", err)
	}
	if err := systemd.Stop(t.Context(), "terrarium-no-such-unit.service"); err != nil {
		t.Errorf("Stop(...) = %v for a unit that is gone, want nil", err)
	}
}
