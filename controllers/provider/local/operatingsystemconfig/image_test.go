// SPDX-License-Identifier: Apache-2.0

package operatingsystemconfig_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/controllers/provider/local/operatingsystemconfig"
)

// TestImageFiles_EXT_OSC_3 starts a machine whose registry is away. It has everything else, and the files of images are asked for behind the other
// files, wherever they are in the list, each on its host only.
func TestImageFiles_EXT_OSC_3(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	asked, certificate := filepath.Join(dir, "asked"), filepath.Join(dir, "certificate")
	program := filepath.Join(dir, "terrarium")
	text := "#!/bin/sh\ncat " + certificate + " >>" + asked + "\nprintf ' %s' \"$@\" >>" + asked + "\necho >>" + asked + "\nexit 1\n"
	if err := os.WriteFile(program, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	script, err := operatingsystemconfig.Render(&spec{Files: []file{
		{Path: "/opt/bin/o'neill", Permissions: new(uint32(0o6755)), Content: fromImage("registry.example.org/tools:v1", "/usr/bin/tool")},
		{Path: "/opt/mine", HostName: new("me"), Content: fromImage("tools", "tool; true")},
		{Path: "/opt/others", HostName: new("other"), Content: fromImage("tools", "/others")},
		{Path: certificate, Content: inline("trusted:")},
	}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), "sh", "-s")
	command.Stdin = strings.NewReader(strings.ReplaceAll(script, "/usr/local/bin/terrarium", program))
	command.Env = append(os.Environ(), "MACHINE_NAME=me")
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("run user data: %v\n%s\n%s", err, output, script)
	}
	got, err := os.ReadFile(asked)
	if err != nil {
		t.Fatal(err)
	}
	want := `trusted: node-agent fetch --path=/opt/bin/o'neill --mode=0755 --image=registry.example.org/tools:v1 --path-in-image=/usr/bin/tool
trusted: node-agent fetch --path=/opt/mine --mode=0644 --image=tools --path-in-image=tool; true
`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("what is fetched (-want +got):\n%s", diff)
	}
	want = `user data: /opt/bin/o'neill is missing until the agent of the node has fetched it
user data: /opt/mine is missing until the agent of the node has fetched it
`
	if diff := cmp.Diff(want, string(output)); diff != "" {
		t.Errorf("what the log of the machine says (-want +got):\n%s", diff)
	}
}
