// SPDX-License-Identifier: Apache-2.0

package osc_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/controllers/component/osc"
	"github.com/terrarium-garden/terrarium/tests/golden"
)

func TestSysctls(t *testing.T) {
	t.Parallel()
	v := values()
	before := keyOf(t, v)
	v.Pool.Sysctls = map[string]string{"net.ipv4.tcp_rmem": "4096 87380 6291456", "-net/ipv4/ip_forward": "1"}
	o, err := osc.Render(v)
	if err != nil {
		t.Fatal(err)
	}
	golden.Objects(t, "sysctls.yaml", []client.Object{o})
	if keyOf(t, v) != before {
		t.Error("the machines are replaced, although their agents apply the settings")
	}
}

// TestSysctlsOfOldObjects is about objects from before the API refused what would be another line or another file.
func TestSysctlsOfOldObjects(t *testing.T) {
	t.Parallel()
	for name, value := range map[string]string{"kernel.panic": "1\nkernel.hostname=x", "a\nb": "1", "../../etc/passwd": "1"} {
		v := values()
		v.Pool.Sysctls = map[string]string{name: value}
		_, err := osc.Render(v)
		if diff := cmp.Diff(osc.ErrSettings, err, cmpopts.EquateErrors()); diff != "" {
			t.Errorf("error of Render(...) with sysctl %q = %q (-want +got):\n%s", name, value, diff)
		}
	}
}
