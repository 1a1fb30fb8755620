// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/terrarium-garden/terrarium/apis/check/checktest"
	gardensettingsv1alpha1 "github.com/terrarium-garden/terrarium/apis/settings/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/settings/validation"
)

type spec = gardensettingsv1alpha1.OpenIDConnectPresetSpec

// noCertificate has the form of a certificate and is none.
const noCertificate = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"

func preset() spec {
	return spec{Server: gardensettingsv1alpha1.KubeAPIServerOpenIDConnect{ClientID: "garden", IssuerURL: "https://login.example"}, Weight: 1}
}

func TestValidatePresets(t *testing.T) {
	t.Parallel()
	wrong := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Like"}}}
	for name, tc := range map[string]struct {
		reason string
		change func(*spec)
		want   []string
	}{
		"API-OIDC-2 complete": {reason: "a preset with all it needs", change: func(*spec) {}},
		"API-OIDC-2 empty": {
			reason: "which client of which provider, and how heavy", change: func(s *spec) { *s = spec{} },
			want: []string{"spec.server.clientID: FieldValueRequired", "spec.server.issuerURL: FieldValueRequired", "spec.weight: FieldValueInvalid"},
		},
		"API-OIDC-2 heaviest": {reason: "100 is the most", change: func(s *spec) { s.Weight = 100 }},
		"API-OIDC-2 too heavy": {
			reason: "and more is too much", change: func(s *spec) { s.Weight = 101 }, want: []string{"spec.weight: FieldValueInvalid"},
		},
		"API-OIDC-2 plain": {
			reason: "tokens are not fetched in the clear", change: func(s *spec) { s.Server.IssuerURL = "http://login.example" },
			want: []string{"spec.server.issuerURL: FieldValueInvalid"},
		},
		"API-OIDC-2 no host": {
			reason: "nor from nowhere", change: func(s *spec) { s.Server.IssuerURL = "https://" }, want: []string{"spec.server.issuerURL: FieldValueInvalid"},
		},
		"API-OIDC-2 query": {
			reason: "an issuer is an address and no question", change: func(s *spec) { s.Server.IssuerURL = "https://login.example?a=b" },
			want: []string{"spec.server.issuerURL: FieldValueInvalid"},
		},
		"API-OIDC-2 selector": {
			reason: "a selector that nothing understands", change: func(s *spec) { s.ShootSelector = wrong },
			want: []string{"spec.shootSelector.matchExpressions[0].operator: FieldValueInvalid"},
		},
		"API-OIDC-2 settings": {
			reason: "settings that the server would refuse",
			change: func(s *spec) {
				s.Server.CABundle, s.Server.GroupsClaim, s.Server.UsernamePrefix = new(noCertificate), new(""), new("")
				s.Server.SigningAlgs = []string{"RS256", "HS256", "RS256"}
				s.Server.RequiredClaims = map[string]string{"team": ""}
				s.Client = &gardensettingsv1alpha1.OpenIDConnectClientAuthentication{Secret: new("")}
			},
			want: []string{
				"spec.client.secret: FieldValueInvalid", "spec.server.caBundle: FieldValueInvalid", "spec.server.groupsClaim: FieldValueInvalid",
				"spec.server.requiredClaims[team]: FieldValueInvalid", "spec.server.signingAlgs[1]: FieldValueNotSupported",
				"spec.server.signingAlgs[2]: FieldValueDuplicate", "spec.server.usernamePrefix: FieldValueInvalid",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := preset()
			tc.change(&s)
			one := &gardensettingsv1alpha1.OpenIDConnectPreset{
				ObjectMeta: metav1.ObjectMeta{Name: "sso", Namespace: "garden-meadow", ResourceVersion: "1"}, Spec: s,
			}
			checktest.Complaints(t, tc.reason, validation.ValidateOpenIDConnectPreset(one), tc.want...)
			checktest.Complaints(t, tc.reason+", of an update", validation.ValidateOpenIDConnectPresetUpdate(one, one), tc.want...)
			all := &gardensettingsv1alpha1.ClusterOpenIDConnectPreset{
				ObjectMeta: metav1.ObjectMeta{Name: "sso", ResourceVersion: "1"},
				Spec:       gardensettingsv1alpha1.ClusterOpenIDConnectPresetSpec{OpenIDConnectPresetSpec: s},
			}
			checktest.Complaints(t, tc.reason+", for all", validation.ValidateClusterOpenIDConnectPreset(all), tc.want...)
			checktest.Complaints(t, tc.reason+", of an update for all", validation.ValidateClusterOpenIDConnectPresetUpdate(all, all), tc.want...)
		})
	}
	all := &gardensettingsv1alpha1.ClusterOpenIDConnectPreset{ObjectMeta: metav1.ObjectMeta{Name: "sso"}}
	all.Spec.OpenIDConnectPresetSpec, all.Spec.ProjectSelector = preset(), wrong
	checktest.Complaints(t, "API-OIDC-2: projects are selected like shoots", validation.ValidateClusterOpenIDConnectPreset(all),
		"spec.projectSelector.matchExpressions[0].operator: FieldValueInvalid")
}
