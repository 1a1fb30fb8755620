// SPDX-License-Identifier: Apache-2.0

package options_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestValidateWorkloadIdentity(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason, file string
		want         string
	}{
		"issuer":   {reason: "a URL that verifiers accept", file: "workloadIdentity: {issuer: 'https://id.example/garden'}"},
		"plain":    {reason: "keys are not fetched in the clear", file: "workloadIdentity: {issuer: 'http://id.example'}", want: `server.yaml: workloadIdentity.issuer: "http://id.example" must begin with https:// and a host`},
		"no host":  {reason: "nor from nowhere", file: "workloadIdentity: {issuer: 'https://'}", want: `server.yaml: workloadIdentity.issuer: "https://" must begin with https:// and a host`},
		"no URL":   {reason: "nor from a text", file: "workloadIdentity: {issuer: 'https://a b'}", want: `server.yaml: workloadIdentity.issuer: "https://a b" is not a URL`},
		"slash":    {reason: "issuers are compared byte by byte", file: "workloadIdentity: {issuer: 'https://id.example/'}", want: "server.yaml: workloadIdentity.issuer: must not have a user, query, fragment or trailing slash"},
		"question": {reason: "an issuer is an address", file: "workloadIdentity: {issuer: 'https://id.example?a=b'}", want: "server.yaml: workloadIdentity.issuer: must not have a user, query, fragment or trailing slash"},
		"bounds":   {reason: "API-TOKEN-1: bounds that fit", file: "workloadIdentity: {minTokenLifetime: 30m, maxTokenLifetime: 1h}"},
		"crossed":  {reason: "API-TOKEN-1: bounds that do not", file: "workloadIdentity: {minTokenLifetime: 2h, maxTokenLifetime: 1h}", want: "server.yaml: workloadIdentity.maxTokenLifetime: 1h0m0s is below minTokenLifetime"},
		"short":    {reason: "API-TOKEN-1: shorter than may be asked for", file: "workloadIdentity: {minTokenLifetime: 1m}", want: "server.yaml: workloadIdentity.minTokenLifetime: 1m0s is not between 10m and 720h"},
		"long":     {reason: "a token that never ends is a secret", file: "workloadIdentity: {maxTokenLifetime: 8760h}", want: "server.yaml: workloadIdentity.maxTokenLifetime: 8760h0m0s is not between 10m and 720h"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := complete(t, tc.file, "--config=server.yaml")
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
