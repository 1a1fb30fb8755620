// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// OIDCConfiguration says whose identity tokens the garden accepts, and how people sign in to the web UI with them.
type OIDCConfiguration struct {
	// IssuerURL is the issuer of the tokens, an https URL. The server finds its keys and addresses below it, at
	// /.well-known/openid-configuration.
	IssuerURL string `json:"issuerURL"`
	// ClientID is the name of the garden at the issuer. Tokens must be issued for it.
	ClientID string `json:"clientID"`
	// ClientSecretFile is a file with the password of the garden at the issuer. A public client has none.
	// +optional
	ClientSecretFile string `json:"clientSecretFile,omitempty"`
	// CAFile is a file with the certificates that the issuer is verified by. Defaults to those of the machine.
	// +optional
	CAFile string `json:"caFile,omitempty"`
	// DisplayName is the name of the issuer on the sign-in page. Defaults to its host.
	// +optional
	DisplayName string `json:"displayName,omitempty"`
	// Scopes are requested at the sign-in. Defaults to openid, email, profile and offline_access; the last one is for a token with which the server
	// gets new ones during a session.
	// +optional
	Scopes []string `json:"scopes,omitempty"`
	// UsernameClaim is the claim with the name of the user. Defaults to sub, which never changes; a claim email is accepted only if the issuer says that
	// it is verified.
	// +optional
	UsernameClaim string `json:"usernameClaim,omitempty"`
	// UsernamePrefix comes before the name. It cannot be empty, so that the issuer cannot give names that mean something in the garden. Defaults to oidc:
	// +optional
	UsernamePrefix string `json:"usernamePrefix,omitempty"`
	// GroupsClaim is the claim with the groups of the user. Defaults to groups.
	// +optional
	GroupsClaim string `json:"groupsClaim,omitempty"`
	// GroupsPrefix comes before the name of each group. It cannot be empty either. Defaults to oidc:
	// +optional
	GroupsPrefix string `json:"groupsPrefix,omitempty"`
}

const defaultOIDCPrefix = "oidc:"

func (c *OIDCConfiguration) setDefaults() {
	if c == nil {
		return
	}
	if len(c.Scopes) == 0 {
		c.Scopes = []string{"openid", "email", "profile", "offline_access"}
	}
	setZero(&c.UsernameClaim, "sub")
	setZero(&c.UsernamePrefix, defaultOIDCPrefix)
	setZero(&c.GroupsClaim, "groups")
	setZero(&c.GroupsPrefix, defaultOIDCPrefix)
}
