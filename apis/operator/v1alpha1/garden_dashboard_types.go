// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// GardenerDashboardConfig holds settings of the garden's web interface.
type GardenerDashboardConfig struct {
	// AssetsConfigMapRef names a ConfigMap with images that replace those of the web interface.
	// +optional
	AssetsConfigMapRef *corev1.LocalObjectReference `json:"assetsConfigMapRef,omitempty"`
	// Domain is the name of the web interface; one in each domain of the ingress when unset.
	// +optional
	Domain *DNSDomain `json:"domain,omitempty"`
	// EnableTokenLogin lets users log in with a token. Defaults to true.
	// +optional
	EnableTokenLogin *bool `json:"enableTokenLogin,omitempty"`
	// FrontendConfigMapRef names a ConfigMap with settings of the frontend.
	// +optional
	FrontendConfigMapRef *corev1.LocalObjectReference `json:"frontendConfigMapRef,omitempty"`
	// GitHub shows and creates tickets of shoots.
	// +optional
	GitHub *DashboardGitHub `json:"gitHub,omitempty"`
	// Ingress says whether the web interface has an ingress.
	// +optional
	Ingress *DashboardIngress `json:"ingress,omitempty"`
	// LogLevel is trace, debug, info, warn or error. Defaults to info.
	// +optional
	LogLevel *string `json:"logLevel,omitempty"`
	// OIDC lets users log in with an OpenID Connect issuer.
	// +optional
	OIDC *DashboardOIDC `json:"oidcConfig,omitempty"`
	// PropagateCAFromSNI gives users the CA of the certificate in sni instead of the garden's own.
	// +optional
	PropagateCAFromSNI *bool `json:"propagateCAFromSNI,omitempty"`
	// TLSSecretName names the Secret with the certificate of the web interface.
	// +optional
	TLSSecretName *string `json:"tlsSecretName,omitempty"`
	// Terminal gives users a shell in the browser.
	// +optional
	Terminal *DashboardTerminal `json:"terminal,omitempty"`
}

// DashboardGitHub shows and creates tickets of shoots.
type DashboardGitHub struct {
	// APIURL is the address of the service. Defaults to https://api.github.com.
	APIURL string `json:"apiURL"`
	// Organisation has the repository of the tickets.
	Organisation string `json:"organisation"`
	// Repository has the tickets.
	Repository string `json:"repository"`
	// SecretRef names the Secret with the credentials of the service.
	SecretRef corev1.LocalObjectReference `json:"secretRef"`
	// PollInterval is the time between two checks of the tickets.
	// +optional
	PollInterval *metav1.Duration `json:"pollInterval,omitempty"`
}

// DashboardIngress says whether the web interface has an ingress.
type DashboardIngress struct {
	// Enabled creates the ingress. Defaults to true.
	// +optional
	Enabled *bool `json:"enabled,omitempty"`
}

// DashboardOIDC lets users log in with an OpenID Connect issuer.
type DashboardOIDC struct {
	// SecretRef names the Secret with the credentials of the web interface at the issuer.
	SecretRef corev1.LocalObjectReference `json:"secretRef"`
	// AdditionalScopes are further scopes to request.
	// +optional
	AdditionalScopes []string `json:"additionalScopes,omitempty"`
	// CertificateAuthoritySecretRef names the Secret with the authority of the issuer's certificate.
	// +optional
	CertificateAuthoritySecretRef *corev1.LocalObjectReference `json:"certificateAuthoritySecretRef,omitempty"`
	// ClientIDPublic is the client ID that kubectl uses.
	// +optional
	ClientIDPublic *string `json:"clientIDPublic,omitempty"`
	// IssuerURL is the issuer.
	// +optional
	IssuerURL *string `json:"issuerURL,omitempty"`
	// SessionLifetime is how long a user stays logged in.
	// +optional
	SessionLifetime *metav1.Duration `json:"sessionLifetime,omitempty"`
}

// DashboardTerminal gives users a shell in the browser.
type DashboardTerminal struct {
	// Container is the container of the shell.
	Container DashboardTerminalContainer `json:"container"`
	// AllowedHosts are the hosts from which a shell may be requested.
	// +optional
	AllowedHosts []string `json:"allowedHosts,omitempty"`
}

// DashboardTerminalContainer is the container of a shell in the browser.
type DashboardTerminalContainer struct {
	// Image is the container image.
	Image string `json:"image"`
	// Description describes to users what is in the image.
	// +optional
	Description *string `json:"description,omitempty"`
}
