// SPDX-License-Identifier: Apache-2.0

package sshuser_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/terrarium-garden/terrarium/controllers/component/sshuser"
	"github.com/terrarium-garden/terrarium/tests/golden"
)

const key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGV0GCoCMBjsCFUFhMmzGmLMzCC5aGAdFCiGLaHO2KIC"

func TestScript_GLET_BASTION_3(t *testing.T) {
	t.Parallel()
	got, err := sshuser.Script([]byte(key + " me@home\n"))
	if err != nil {
		t.Fatal(err)
	}
	golden.Text(t, "user.sh", got+sshuser.Start)
	check := exec.CommandContext(t.Context(), "sh", "-n")
	check.Stdin = strings.NewReader(got + sshuser.Start)
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("the shell does not understand the script: %v\n%s", err, out)
	}
}

// TestHostileKey_GLET_BASTION_3 gives keys of which a part would end the text in the script and become a command.
func TestHostileKey_GLET_BASTION_3(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ reason, key, want string }{
		"Comment": {reason: "a comment is not needed to log in", key: key + " '\nEND\ntouch /tmp/x"},
		"Before":  {reason: "nor what stands before the key", key: "END\ntouch /tmp/x\n" + key},
		"Options": {reason: "a forced command would have no effect on some hosts", key: `command="touch /tmp/x" ` + key, want: "has options"},
		"NoKey":   {reason: "then nobody could log in", key: "touch /tmp/x", want: "read the public SSH key"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := sshuser.Script([]byte(tc.key))
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("%s\nScript(...) = %v, want %q", tc.reason, err, tc.want)
			}
			if strings.Contains(got, "touch") {
				t.Errorf("%s\nthe script has it:\n%s", tc.reason, got)
			}
			if err == nil && !strings.Contains(got, "\n"+key+"\nEND\n") {
				t.Errorf("%s\nthe key is not in the script:\n%s", tc.reason, got)
			}
		})
	}
}
