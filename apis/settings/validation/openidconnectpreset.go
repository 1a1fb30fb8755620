// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"crypto/x509"
	"encoding/pem"
	"maps"
	"net/url"
	"slices"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/terrarium-garden/terrarium/apis/check"
	gardensettingsv1alpha1 "github.com/terrarium-garden/terrarium/apis/settings/v1alpha1"
)

const (
	minWeight = 1
	maxWeight = 100
)

// ValidateOpenIDConnectPreset checks a new OpenIDConnectPreset (API-OIDC-2).
func ValidateOpenIDConnectPreset(p *gardensettingsv1alpha1.OpenIDConnectPreset) field.ErrorList {
	errs := check.Metadata(p, true, apivalidation.NameIsDNSSubdomain)
	return append(errs, presetSpec(&p.Spec, field.NewPath("spec"))...)
}

// ValidateOpenIDConnectPresetUpdate checks an updated OpenIDConnectPreset (API-OIDC-2).
func ValidateOpenIDConnectPresetUpdate(p, old *gardensettingsv1alpha1.OpenIDConnectPreset) field.ErrorList {
	errs := check.MetadataUpdate(p, old)
	return append(errs, presetSpec(&p.Spec, field.NewPath("spec"))...)
}

// ValidateClusterOpenIDConnectPreset checks a new ClusterOpenIDConnectPreset (API-OIDC-2).
func ValidateClusterOpenIDConnectPreset(p *gardensettingsv1alpha1.ClusterOpenIDConnectPreset) field.ErrorList {
	errs := check.Metadata(p, false, apivalidation.NameIsDNSSubdomain)
	return append(errs, clusterPresetSpec(&p.Spec)...)
}

// ValidateClusterOpenIDConnectPresetUpdate checks an updated ClusterOpenIDConnectPreset (API-OIDC-2).
func ValidateClusterOpenIDConnectPresetUpdate(p, old *gardensettingsv1alpha1.ClusterOpenIDConnectPreset) field.ErrorList {
	errs := check.MetadataUpdate(p, old)
	return append(errs, clusterPresetSpec(&p.Spec)...)
}

func clusterPresetSpec(s *gardensettingsv1alpha1.ClusterOpenIDConnectPresetSpec) field.ErrorList {
	path := field.NewPath("spec")
	errs := check.Selector(s.ProjectSelector, path.Child("projectSelector"))
	return append(errs, presetSpec(&s.OpenIDConnectPresetSpec, path)...)
}

func presetSpec(s *gardensettingsv1alpha1.OpenIDConnectPresetSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if s.Weight < minWeight || s.Weight > maxWeight {
		errs = append(errs, field.Invalid(path.Child("weight"), s.Weight, "must be from 1 to 100"))
	}
	errs = append(errs, check.Selector(s.ShootSelector, path.Child("shootSelector"))...)
	if s.Client != nil {
		errs = append(errs, check.NotEmpty(s.Client.Secret, path.Child("client", "secret"))...)
	}
	return append(errs, server(&s.Server, path.Child("server"))...)
}

func server(s *gardensettingsv1alpha1.KubeAPIServerOpenIDConnect, path *field.Path) field.ErrorList {
	errs := check.Required(s.ClientID, path.Child("clientID"), "the client that tokens are issued for")
	errs = append(errs, issuer(s.IssuerURL, path.Child("issuerURL"))...)
	for _, optional := range []struct {
		name  string
		value *string
	}{
		{name: "groupsClaim", value: s.GroupsClaim},
		{name: "groupsPrefix", value: s.GroupsPrefix},
		{name: "usernameClaim", value: s.UsernameClaim},
		{name: "usernamePrefix", value: s.UsernamePrefix},
	} {
		errs = append(errs, check.NotEmpty(optional.value, path.Child(optional.name))...)
	}
	if s.CABundle != nil && !certificates([]byte(*s.CABundle)) {
		errs = append(errs, field.Invalid(path.Child("caBundle"), *s.CABundle, "must be certificates in PEM format"))
	}
	for i, algorithm := range s.SigningAlgs {
		errs = append(errs, check.OneOf(algorithm, path.Child("signingAlgs").Index(i),
			"ES256", "ES384", "ES512", "PS256", "PS384", "PS512", "RS256", "RS384", "RS512")...)
	}
	errs = append(errs, check.Unique(s.SigningAlgs, path.Child("signingAlgs"))...)
	for _, claim := range slices.Sorted(maps.Keys(s.RequiredClaims)) {
		if claim == "" || s.RequiredClaims[claim] == "" {
			errs = append(errs, field.Invalid(path.Child("requiredClaims").Key(claim), s.RequiredClaims[claim],
				"a claim must have a name and a value"))
		}
	}
	return errs
}

func issuer(address string, path *field.Path) field.ErrorList {
	if address == "" {
		return field.ErrorList{field.Required(path, "must be the URL of the provider of tokens")}
	}
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "":
		return field.ErrorList{field.Invalid(path, address, "must be a URL with a host")}
	case u.Scheme != "https":
		return field.ErrorList{field.Invalid(path, address, "must begin with https://")}
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return field.ErrorList{field.Invalid(path, address, "must have no user, query or fragment")}
	default:
		return nil
	}
}

// certificates reports whether data is one certificate or more in PEM format, without blocks of other types.
func certificates(data []byte) bool {
	found := false
	for {
		block, rest := pem.Decode(data)
		if block == nil {
			return found
		}
		if _, err := x509.ParseCertificate(block.Bytes); err != nil || block.Type != "CERTIFICATE" {
			return false
		}
		found, data = true, rest
	}
}
