// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"cmp"
	"maps"
	"slices"

	"k8s.io/utils/ptr"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
)

const (
	fieldAuthentication = "structuredAuthentication.configMapName"
	// emailClaim is the claim whose users have no prefix by default.
	emailClaim = "email"
	// noPrefix stands for an empty prefix.
	noPrefix = "-"
)

// healthPaths are what the probes of the server ask for, without credentials.
func healthPaths() []string { return []string{"/healthz", "/livez", "/readyz"} }

// authenticationConfiguration has the authenticators of the owner. Anonymous requests are for the health of the server only, as long as
// the owner does not want more.
func authenticationConfiguration(f facts.Shoot) (map[string]any, error) {
	settings := settingsOf(f)
	config := map[string]any{"apiVersion": configGroup + "/v1", "kind": "AuthenticationConfiguration"}
	oidc := settings.OIDCConfig
	switch {
	case f.Handed.Authentication != "":
		var err error
		if config, err = document(fieldAuthentication, f.Handed.Authentication, configGroup, "AuthenticationConfiguration"); err != nil {
			return nil, err
		}
	case oidc != nil && oidc.IssuerURL != nil && settings.StructuredAuthentication == nil:
		config["jwt"] = []any{authenticatorOf(oidc)}
	}
	anonymous, err := anonymousRequests(config["anonymous"], ptr.Deref(settings.EnableAnonymousAuthentication, false))
	if err != nil {
		return nil, err
	}
	config["anonymous"] = anonymous
	return config, nil
}

// anonymousRequests says which requests need no credentials. Those for the health of the server are always among them, because the
// kubelet, which restarts a server that does not answer, has none.
func anonymousRequests(given any, all bool) (map[string]any, error) {
	const path = "path"
	if given == nil {
		given = map[string]any{"enabled": all}
	}
	wanted, ok := given.(map[string]any)
	if !ok {
		return nil, ConfigurationProblem(fieldAuthentication, "anonymous must be an object")
	}
	conditions, err := listIn(fieldAuthentication, wanted, "conditions")
	if err != nil {
		return nil, err
	}
	enabled := wanted["enabled"] == true
	if enabled && len(conditions) == 0 {
		return map[string]any{"enabled": true}, nil
	}
	if !enabled {
		conditions = nil
	}
	for _, health := range healthPaths() {
		if !slices.ContainsFunc(conditions, func(c map[string]any) bool { return c[path] == health }) {
			conditions = append(conditions, map[string]any{path: health})
		}
	}
	return map[string]any{"enabled": true, "conditions": conditions}, nil
}

// authenticatorOf is an authenticator with the settings of former flags, and their defaults.
func authenticatorOf(c *gardencorev1beta1.OIDCConfig) map[string]any {
	url := ptr.Deref(c.IssuerURL, "")
	issuer := map[string]any{"url": url, "audiences": []string{ptr.Deref(c.ClientID, "")}}
	if bundle := ptr.Deref(c.CABundle, ""); bundle != "" {
		issuer["certificateAuthority"] = bundle
	}
	claim, prefix := cmp.Or(ptr.Deref(c.UsernameClaim, ""), "sub"), ptr.Deref(c.UsernamePrefix, "")
	switch {
	case prefix == noPrefix:
		prefix = ""
	case prefix == "" && claim != emailClaim:
		prefix = url + "#"
	}
	mappings := map[string]any{"username": map[string]string{"claim": claim, "prefix": prefix}}
	if groups := ptr.Deref(c.GroupsClaim, ""); groups != "" {
		mappings["groups"] = map[string]string{"claim": groups, "prefix": ptr.Deref(c.GroupsPrefix, "")}
	}
	authenticator := map[string]any{"issuer": issuer, "claimMappings": mappings}
	var rules []any
	for _, name := range slices.Sorted(maps.Keys(c.RequiredClaims)) {
		rules = append(rules, map[string]string{"claim": name, "requiredValue": c.RequiredClaims[name]})
	}
	if len(rules) > 0 {
		authenticator["claimValidationRules"] = rules
	}
	return authenticator
}
