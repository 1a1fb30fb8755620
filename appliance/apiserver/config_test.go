// SPDX-License-Identifier: Apache-2.0

package apiserver_test

import (
	"net"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/appliance/apiserver"
)

func TestConfigComplete(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		change func(c *apiserver.Config)
		want   string
	}{
		"Empty": {
			reason: "Everything that is missing is named at once.",
			change: func(c *apiserver.Config) { *c = apiserver.Config{} },
			want: "configure API server: listener: must be set\nstores: objects and events must each have a server\n" +
				"timeline: must be set\nidentity: must be set\nexternal host and service account issuer: must be set\n" +
				"event TTL, kubeconfig lifetime, rotation interval and clock: must be set, see NewConfig\n" +
				"issuer and lifetimes of workload identity tokens: must be set, see NewConfig",
		},
		"UnixListener": {
			reason: "Clients come over TCP.",
			change: func(c *apiserver.Config) { c.Listener = unixListener{} },
			want:   "configure API server: listener: *net.UnixAddr is not a TCP address\ntimeline: must be set\nidentity: must be set",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			c := apiserver.NewConfig()
			c.ExternalHost, c.WorkloadIdentity.Issuer = "garden.example.org", "https://garden.example.org/issuer"
			c.Objects.Servers, c.Events.Servers = []string{"unix:///a"}, []string{"unix:///b"}
			tc.change(&c)
			_, err := c.Complete(t.Context())
			if err == nil {
				t.Fatalf("%s\nComplete(...): got no error", tc.reason)
			}
			if diff := cmp.Diff(tc.want, err.Error()); diff != "" {
				t.Errorf("%s\nComplete(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

type unixListener struct{ net.Listener }

func (unixListener) Addr() net.Addr { return &net.UnixAddr{} }
