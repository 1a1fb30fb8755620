// SPDX-License-Identifier: Apache-2.0

package shootconfig_test

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/admission"

	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/shootconfig"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

// FuzzConfigurations lets a project hand in texts as audit policy and as configuration of authenticators and authorizers.
// Whatever the text, it is taken or refused, and never an error of the server.
func FuzzConfigurations(f *testing.F) {
	for _, text := range []string{
		"", "{", "[]", "null", policy, jwt, webhook, "a: &a [*a]\n", "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: 1}]\n",
		"apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\njwt:\n- issuer: {url: \"https://[\", audiences: [a]}\n" +
			"  claimValidationRules: [{expression: \"claims.a == \"}]\n",
	} {
		f.Add(text)
	}
	rules := []struct {
		key   string
		rule  func(*world.World) admission.Interface
		wants func(*server)
	}{
		{"policy", shootconfig.NewAuditPolicy, audited},
		{"config.yaml", shootconfig.NewAuthentication, authenticated},
		{"config.yaml", shootconfig.NewAuthorization, authorized("guard")},
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, r := range rules {
			g := admissiontest.New(t, nil, with(r.key, text)...)
			if err := g.Ask(r.rule(g.World), admissiontest.Request{Object: shoot(r.wants)}); err != nil && !apierrors.IsInvalid(err) {
				t.Errorf("%s: %v", r.key, err)
			}
		}
	})
}
