// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
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
			if diff := cmp.Diff(tc.want, checktest.Complaints(validation.ValidateOpenIDConnectPreset(one))); diff != "" {
				t.Errorf("%s\nValidateOpenIDConnectPreset(...) (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.want, checktest.Complaints(validation.ValidateOpenIDConnectPresetUpdate(one, one))); diff != "" {
				t.Errorf("%s\nValidateOpenIDConnectPresetUpdate(...) (-want +got):\n%s", tc.reason+", of an update", diff)
			}
			all := &gardensettingsv1alpha1.ClusterOpenIDConnectPreset{
				ObjectMeta: metav1.ObjectMeta{Name: "sso", ResourceVersion: "1"},
				Spec:       gardensettingsv1alpha1.ClusterOpenIDConnectPresetSpec{OpenIDConnectPresetSpec: s},
			}
			if diff := cmp.Diff(tc.want, checktest.Complaints(validation.ValidateClusterOpenIDConnectPreset(all))); diff != "" {
				t.Errorf("%s\nValidateClusterOpenIDConnectPreset(...) (-want +got):\n%s", tc.reason+", for all", diff)
			}
			if diff := cmp.Diff(tc.want, checktest.Complaints(validation.ValidateClusterOpenIDConnectPresetUpdate(all, all))); diff != "" {
				t.Errorf("%s\nValidateClusterOpenIDConnectPresetUpdate(...) (-want +got):\n%s", tc.reason+", of an update for all", diff)
			}
		})
	}
	all := &gardensettingsv1alpha1.ClusterOpenIDConnectPreset{ObjectMeta: metav1.ObjectMeta{Name: "sso"}}
	all.Spec.OpenIDConnectPresetSpec, all.Spec.ProjectSelector = preset(), wrong
	if diff := cmp.Diff([]string{"spec.projectSelector.matchExpressions[0].operator: FieldValueInvalid"}, checktest.Complaints(validation.ValidateClusterOpenIDConnectPreset(all))); diff != "" {
		t.Errorf("API-OIDC-2: projects are selected like shoots\nValidateClusterOpenIDConnectPreset(...) (-want +got):\n%s", diff)
	}
}
