// SPDX-License-Identifier: Apache-2.0

package options

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
)

// The names of users and groups that begin like this have a meaning in Kubernetes, or in the garden.
func reservedPrefixes() []string {
	return []string{"system:", "gardener.cloud:", "garden.sapcloud.io:"}
}

func checkOIDC(c *gardenconfigv1alpha1.OIDCConfiguration, check func(flag, path string, err error)) {
	if c == nil {
		return
	}
	if c.IssuerURL == "" {
		check("", "oidc.issuerURL", errors.New("required"))
	}
	check("", "oidc.issuerURL", validateIdentityIssuer(c.IssuerURL))
	if c.ClientID == "" {
		check("", "oidc.clientID", errors.New("required"))
	}
	if !slices.Contains(c.Scopes, "openid") {
		check("", "oidc.scopes", errors.New("must contain openid, without which there is no identity token"))
	}
	check("", "oidc.usernamePrefix", validatePrefix(c.UsernamePrefix))
	check("", "oidc.groupsPrefix", validatePrefix(c.GroupsPrefix))
}

// validateIdentityIssuer accepts a trailing slash, which some issuers have.
func validateIdentityIssuer(issuer string) error {
	return validateIssuer(strings.TrimSuffix(issuer, "/"))
}

// validatePrefix refuses prefixes with which an issuer could make an administrator.
func validatePrefix(prefix string) error {
	for _, reserved := range reservedPrefixes() {
		if strings.HasPrefix(prefix, reserved) || strings.HasPrefix(reserved, prefix) {
			return fmt.Errorf("%q is the beginning of names that have a meaning in the garden", prefix)
		}
	}

	return nil
}
