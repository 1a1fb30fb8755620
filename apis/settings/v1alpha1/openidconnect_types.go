// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// OpenIDConnectPresetSpec says what is preset, and for which shoots.
type OpenIDConnectPresetSpec struct {
	// Server configures the provider of tokens in the API server of a shoot.
	Server KubeAPIServerOpenIDConnect `json:"server"`
	// Client configures clients of a shoot. Ignored; last used by Gardener v1.140.
	// +optional
	Client *OpenIDConnectClientAuthentication `json:"client,omitempty"`
	// ShootSelector picks the shoots that the preset is for; all when unset.
	// +optional
	ShootSelector *metav1.LabelSelector `json:"shootSelector,omitempty"`
	// Weight decides between presets for the same shoot: the highest wins. From 1 to 100.
	Weight int32 `json:"weight"`
}

// KubeAPIServerOpenIDConnect configures a provider of tokens in an API server.
type KubeAPIServerOpenIDConnect struct {
	// CABundle are the certificates by which the provider is trusted, in PEM; those of the host when unset.
	// +optional
	CABundle *string `json:"caBundle,omitempty"`
	// ClientID is the client for which every token must have been issued.
	ClientID string `json:"clientID"`
	// GroupsClaim is the claim of a token that lists the groups of the user.
	// +optional
	GroupsClaim *string `json:"groupsClaim,omitempty"`
	// GroupsPrefix comes before the names of groups, to distinguish them from those of other providers.
	// +optional
	GroupsPrefix *string `json:"groupsPrefix,omitempty"`
	// IssuerURL is the address of the provider; only https is accepted.
	IssuerURL string `json:"issuerURL"`
	// RequiredClaims are claims with the values that every token must carry.
	// +optional
	RequiredClaims map[string]string `json:"requiredClaims,omitempty"`
	// SigningAlgs lists the signature algorithms that are accepted; RS256 when empty.
	// +optional
	SigningAlgs []string `json:"signingAlgs,omitempty"`
	// UsernameClaim is the claim of a token that names the user; "sub" when unset.
	// +optional
	UsernameClaim *string `json:"usernameClaim,omitempty"`
	// UsernamePrefix comes before the names of users, to distinguish them from those of other providers.
	// +optional
	UsernamePrefix *string `json:"usernamePrefix,omitempty"`
}

// OpenIDConnectClientAuthentication configures a provider of tokens in a client.
type OpenIDConnectClientAuthentication struct {
	// Secret is the client's secret at the provider.
	// +optional
	Secret *string `json:"secret,omitempty"`
	// ExtraConfig is further configuration that only the client understands.
	// +optional
	ExtraConfig map[string]string `json:"extraConfig,omitempty"`
}
