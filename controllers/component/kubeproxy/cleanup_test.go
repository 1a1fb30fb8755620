// SPDX-License-Identifier: Apache-2.0

package kubeproxy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

func podIn(t *testing.T, mode gardencorev1beta1.ProxyMode) corev1.PodSpec {
	t.Helper()
	return render(t, &gardencorev1beta1.KubeProxyConfig{Mode: &mode})[3].(*appsv1.DaemonSet).Spec.Template.Spec
}

// TestRulesOfTheModeBefore runs what the pod runs first, with a program in place of kube-proxy that leaves a file, or fails.
func TestRulesOfTheModeBefore(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason        string
		before        string
		proxy         string
		cleaned       bool
		recordedAfter string
	}{
		"New":     {reason: "a node without a record has nothing to remove", proxy: "touch", recordedAfter: "ipvs\n"},
		"Same":    {reason: "a restart disturbs nothing", before: "ipvs\n", proxy: "touch", recordedAfter: "ipvs\n"},
		"Changed": {reason: "the new mode leaves the rules of the old one alone", before: "iptables\n", proxy: "touch", cleaned: true, recordedAfter: "ipvs\n"},
		"Failed":  {reason: "the proxy starts, and the next start tries again", before: "iptables\n", proxy: "false", recordedAfter: "iptables\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			file, trace := filepath.Join(dir, "mode"), filepath.Join(dir, "trace")
			if tc.before != "" {
				if err := os.WriteFile(file, []byte(tc.before), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			command := podIn(t, gardencorev1beta1.ProxyModeIPVS).InitContainers[0].Command
			// The file and the program are those of this test; shell, script and mode are what a node gets.
			args := append(append([]string{}, command[1:4]...), file, command[5], tc.proxy, trace)
			if out, err := exec.CommandContext(t.Context(), command[0], args...).CombinedOutput(); err != nil {
				t.Fatalf("%s\n%v: %s", tc.reason, err, out)
			}
			_, err := os.Stat(trace)
			recorded, readErr := os.ReadFile(file)
			if (err == nil) != tc.cleaned || readErr != nil {
				t.Errorf("%s\nremoved: %t, record: %v", tc.reason, err == nil, readErr)
			}
			if diff := cmp.Diff(tc.recordedAfter, string(recorded)); diff != "" {
				t.Errorf("%s\nrecord (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestCleanupCommand(t *testing.T) {
	t.Parallel()
	want := []string{"/var/lib/kube-proxy/mode", "iptables", "/usr/local/bin/kube-proxy", "--cleanup", "--config=/var/lib/kube-proxy-config/config.yaml"}
	if diff := cmp.Diff(want, podIn(t, gardencorev1beta1.ProxyModeIPTables).InitContainers[0].Command[4:]); diff != "" {
		t.Errorf("arguments (-want +got):\n%s", diff)
	}
	if first := podIn(t, gardencorev1beta1.ProxyModeNFTables).InitContainers; len(first) > 0 {
		t.Errorf("in mode nftables, the proxy removes the rules of others itself, but the pod first runs %q", first[0].Name)
	}
}
