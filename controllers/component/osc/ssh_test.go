// SPDX-License-Identifier: Apache-2.0

package osc_test

import (
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/controllers/component/osc"
	"github.com/terrarium-garden/terrarium/tests/golden"
)

const sshKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGV0GCoCMBjsCFUFhMmzGmLMzCC5aGAdFCiGLaHO2KIC"

func TestSSH_GLET_CRED_14(t *testing.T) {
	t.Parallel()
	v := values()
	v.SSHKeys = [][]byte{[]byte(sshKey + " new"), []byte(sshKey + " old")}
	o, err := osc.Render(v)
	if err != nil {
		t.Fatal(err)
	}
	golden.Objects(t, "ssh.yaml", []client.Object{o})
	v.SSHKeys = [][]byte{[]byte("nonsense")}
	if _, err := osc.Render(v); err == nil || !strings.Contains(err.Error(), "public SSH key") {
		t.Errorf("Render(...) = %v, want that the key cannot be read", err)
	}
}

// TestSSHNeedsNoNewMachines_GLET_CRED_6 opens and closes machines and changes their keys.
func TestSSHNeedsNoNewMachines_GLET_CRED_6(t *testing.T) {
	t.Parallel()
	closed, opened := values(), values()
	opened.SSHKeys = [][]byte{[]byte(sshKey)}
	if a, b := keyOf(t, closed), keyOf(t, opened); a != b {
		t.Errorf("who may log in replaces the machines: %q, %q", a, b)
	}
}
