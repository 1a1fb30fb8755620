// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	neturl "net/url"
	"os"
	"strings"

	"k8s.io/utils/clock"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/apiserver"
	"github.com/terrarium-garden/terrarium/appliance/gateway/oidc"
)

var errNoCertificates = errors.New("there are no certificates in it")

// acceptedIssuer is the issuer for the API.
func acceptedIssuer(c *gardenconfigv1alpha1.OIDCConfiguration) *apiserver.OIDC {
	if c == nil {
		return nil
	}

	return &apiserver.OIDC{
		IssuerURL: c.IssuerURL, ClientID: c.ClientID, CAFile: c.CAFile,
		UsernameClaim: c.UsernameClaim, UsernamePrefix: c.UsernamePrefix, GroupsClaim: c.GroupsClaim, GroupsPrefix: c.GroupsPrefix,
	}
}

// issuerName is what the sign-in page calls the issuer.
func issuerName(c *gardenconfigv1alpha1.OIDCConfiguration) string {
	if c == nil {
		return ""
	}
	host := c.IssuerURL
	if u, err := neturl.Parse(c.IssuerURL); err == nil {
		host = u.Hostname()
	}

	return cmp.Or(c.DisplayName, host)
}

// issuer returns the client of the issuer that people sign in with, or nil.
func issuer(c *gardenconfigv1alpha1.OIDCConfiguration, clk clock.PassiveClock) (*oidc.Client, error) {
	if c == nil {
		return nil, nil //nolint:nilnil // There need not be an issuer.
	}
	var secret []byte
	if c.ClientSecretFile != "" {
		var err error
		if secret, err = os.ReadFile(c.ClientSecretFile); err != nil {
			return nil, fmt.Errorf("oidc.clientSecretFile: %w", err)
		}
	}
	settings := &tls.Config{MinVersion: tls.VersionTLS12}
	if c.CAFile != "" {
		data, err := os.ReadFile(c.CAFile)
		if err != nil {
			return nil, fmt.Errorf("oidc.caFile: %w", err)
		}
		settings.RootCAs = x509.NewCertPool()
		if !settings.RootCAs.AppendCertsFromPEM(data) {
			return nil, fmt.Errorf("oidc.caFile: %q: %w", c.CAFile, errNoCertificates)
		}
	}

	return oidc.New(oidc.Config{
		Issuer: c.IssuerURL, ClientID: c.ClientID, ClientSecret: strings.TrimSpace(string(secret)), Scopes: c.Scopes,
		Transport: &http.Transport{TLSClientConfig: settings, Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true}, Clock: clk,
	}), nil
}
