// SPDX-License-Identifier: Apache-2.0

package options_test

import (
	"strings"
	"testing"
)

func TestValidateWorkloadIdentity(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason, file string
		want         string
	}{
		"issuer":   {reason: "a URL that verifiers accept", file: "workloadIdentity: {issuer: 'https://id.example/garden'}"},
		"plain":    {reason: "keys are not fetched in the clear", file: "workloadIdentity: {issuer: 'http://id.example'}", want: "workloadIdentity.issuer: \"http://id.example\" must begin with https://"},
		"no host":  {reason: "nor from nowhere", file: "workloadIdentity: {issuer: 'https://'}", want: "workloadIdentity.issuer"},
		"no URL":   {reason: "nor from a text", file: "workloadIdentity: {issuer: 'https://a b'}", want: "is not a URL"},
		"slash":    {reason: "issuers are compared byte by byte", file: "workloadIdentity: {issuer: 'https://id.example/'}", want: "or trailing slash"},
		"question": {reason: "an issuer is an address", file: "workloadIdentity: {issuer: 'https://id.example?a=b'}", want: "must not have a user, query, fragment"},
		"bounds":   {reason: "API-TOKEN-1: bounds that fit", file: "workloadIdentity: {minTokenLifetime: 30m, maxTokenLifetime: 1h}"},
		"crossed":  {reason: "API-TOKEN-1: bounds that do not", file: "workloadIdentity: {minTokenLifetime: 2h, maxTokenLifetime: 1h}", want: "workloadIdentity.maxTokenLifetime: 1h0m0s is below minTokenLifetime"},
		"short":    {reason: "API-TOKEN-1: shorter than may be asked for", file: "workloadIdentity: {minTokenLifetime: 1m}", want: "workloadIdentity.minTokenLifetime"},
		"long":     {reason: "a token that never ends is a secret", file: "workloadIdentity: {maxTokenLifetime: 8760h}", want: "workloadIdentity.maxTokenLifetime"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := complete(t, tc.file, "--config=server.yaml")
			if err != nil {
				t.Fatal(err)
			}
			_, wrong := c.Validate()
			if tc.want == "" {
				if len(wrong) > 0 {
					t.Errorf("%s\nValidate() = %v", tc.reason, wrong)
				}
				return
			}
			if len(wrong) != 1 || !strings.Contains(wrong[0].Error(), tc.want) {
				t.Errorf("%s\nValidate() = %v, want one error with %q", tc.reason, wrong, tc.want)
			}
		})
	}
}
