// SPDX-License-Identifier: Apache-2.0

package options_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestValidateOIDC(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ reason, file, want string }{
		"few words": {reason: "an issuer and a client are enough", file: "{issuerURL: 'https://id.example', clientID: garden}"},
		"slash":     {reason: "some issuers have a slash at the end", file: "{issuerURL: 'https://id.example/', clientID: garden}"},
		"nothing":   {reason: "there is no default", file: "{issuerURL: '', clientID: ''}", want: "server.yaml: oidc.issuerURL: required\nserver.yaml: oidc.clientID: required"},
		"plain":     {reason: "keys are not fetched in the clear", file: "{issuerURL: 'http://id.example', clientID: garden}", want: `server.yaml: oidc.issuerURL: "http://id.example" must begin with https:// and a host`},
		"scopes":    {reason: "it is OIDC", file: "{issuerURL: 'https://id.example', clientID: garden, scopes: [email]}", want: "server.yaml: oidc.scopes: must contain openid, without which there is no identity token"},
		"masters":   {reason: "a claim must not make an administrator", file: "{issuerURL: 'https://id.example', clientID: garden, groupsPrefix: 'system:'}", want: `server.yaml: oidc.groupsPrefix: "system:" is the beginning of names that have a meaning in the garden`},
		"half":      {reason: "nor together with the prefix", file: "{issuerURL: 'https://id.example', clientID: garden, usernamePrefix: sys}", want: `server.yaml: oidc.usernamePrefix: "sys" is the beginning of names that have a meaning in the garden`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := complete(t, "oidc: "+tc.file, "--config=server.yaml")
			if err != nil {
				t.Fatal(err)
			}
			_, wrong := c.Validate()
			got := ""
			if err := errors.Join(wrong...); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nValidate(): errors (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
