// SPDX-License-Identifier: Apache-2.0

package operatingsystemconfig_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/operatingsystemconfig"
)

// TestSysctls applies settings as a machine does, to a folder in the place of the kernel's. A machine never changes what it shares with
// the seed, whatever its configuration says.
func TestSysctls(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root, conf := filepath.Join(dir, "sys"), filepath.Join(dir, "99.conf")
	start := map[string]string{
		"net/ipv4/ip_forward": "0", "net/ipv4/conf/eth0.1/rp_filter": "1", "net/ipv4/conf/all/rp_filter": "1", "kernel/shmmax": "1",
		"kernel/core_pattern": "core", "vm/swappiness": "60", "../outside": "safe",
	}
	for name, value := range start {
		write(t, filepath.Join(root, name), value+"\n")
	}
	write(t, conf, `# a comment = 1
; another = 1
net.ipv4.ip_forward = 1
net.ipv4.conf.eth0/1.rp_filter = 2
-net/ipv4/conf/all/rp_filter=0
kernel.shmmax = 1 2	3
kernel.core_pattern = |/bin/evil
vm.swappiness = 1
net/../../outside = gone
/../outside = gone
net.none = 1
net.$(touch x) = 1
no setting at all
kernel.* = 9`)
	script, err := operatingsystemconfig.Render(&spec{Units: []unit{{Name: "systemd-sysctl.service", Command: new(gardenextensionsv1alpha1.UnitCommandRestart)}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), "sh", "-s", conf)
	command.Stdin, command.Dir = strings.NewReader(written(t, script, "/etc/machine/oneshot/systemd-sysctl.service.sh")), dir
	command.Env = append(os.Environ(), "SYSCTL_ROOT="+root)
	told, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("a setting that cannot be applied must not keep the machine from starting: %v\n%s", err, told)
	}
	got := map[string]string{}
	for name := range start {
		data, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		got[name] = strings.TrimSuffix(string(data), "\n")
	}
	want := map[string]string{
		"net/ipv4/ip_forward": "1", "net/ipv4/conf/eth0.1/rp_filter": "2", "net/ipv4/conf/all/rp_filter": "0", "kernel/shmmax": "1 2\t3",
		"kernel/core_pattern": "core", "vm/swappiness": "60", "../outside": "safe",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("settings (-want +got):\n%s\n%s", diff, told)
	}
	for _, sentence := range []string{"vm.swappiness is not set: this machine shares", "net.none is not set: this machine has no such setting"} {
		if !strings.Contains(string(told), sentence) {
			t.Errorf("the machine does not tell %q:\n%s", sentence, told)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "x")); err == nil {
		t.Error("the name of a setting was run as a command")
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
