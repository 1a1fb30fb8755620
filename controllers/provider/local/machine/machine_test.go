// SPDX-License-Identifier: Apache-2.0

package machine_test

import (
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/controllers/provider/local/machine"
)

// TestScript: machine-init is not compiled, so a shell has to read it here, and it must agree with the constants.
func TestScript(t *testing.T) {
	t.Parallel()
	command := exec.CommandContext(t.Context(), "sh", "-n")
	command.Stdin = strings.NewReader(machine.Script())
	if output, err := command.CombinedOutput(); err != nil {
		t.Errorf("sh -n: %v\n%s", err, output)
	}
	missing := map[string]string{}
	for reason, part := range map[string]string{
		"a kernel runs it by its first line":                   "#!/bin/sh\n",
		"the user data lies where pods mount it":               "user_data=$state/user-data/" + machine.UserDataKey,
		"the folder of the user data":                          "state=" + strings.TrimSuffix(machine.UserDataDir, "/user-data") + "\n",
		"the user data writes units where they are found":      "units=" + machine.UnitsDir + "\n",
		"containerd looks for runtimes where they are written": "runtimes=" + machine.RuntimesDir + "\n",
		"containerd knows the runtime by its name":             "containerd.runtimes." + machine.Runtime + ".options]\n        BinaryName = \"$runtimes/" + machine.Runtime + "\"\n",
		"archives lie where pods mount them":                   "images=" + machine.ImagesDir + "\n",
		"the hosts file lies where pods mount it":              machine.DNSDir + "/" + machine.HostsKey + " /etc/hosts",
		"probes of pods come from outside of the machine":      "healthzBindAddress: 0.0.0.0",
		"probes of pods ask that port":                         "healthzPort: " + strconv.Itoa(machine.KubeletHealthPort) + "\n",
	} {
		if !strings.Contains(machine.Script(), part) {
			missing[reason] = part
		}
	}
	if diff := cmp.Diff(map[string]string{}, missing); diff != "" {
		t.Errorf("what machine-init lacks (-want +got):\n%s", diff)
	}
}
