// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// KubeAPIServerConfig has its documentation written later.
type KubeAPIServerConfig struct {
	KubernetesConfig `json:",inline"`
	// +patchStrategy=merge
	// +patchMergeKey=name
	// +optional
	AdmissionPlugins []AdmissionPlugin `json:"admissionPlugins,omitempty" patchStrategy:"merge" patchMergeKey:"name"`
	// +optional
	APIAudiences []string `json:"apiAudiences,omitempty"`
	// +optional
	AuditConfig *AuditConfig `json:"auditConfig,omitempty"`
	// +optional
	Autoscaling *ControlPlaneAutoscaling `json:"autoscaling,omitempty"`
	// +optional
	DefaultNotReadyTolerationSeconds *int64 `json:"defaultNotReadyTolerationSeconds,omitempty"`
	// +optional
	DefaultUnreachableTolerationSeconds *int64 `json:"defaultUnreachableTolerationSeconds,omitempty"`
	// +optional
	EnableAnonymousAuthentication *bool `json:"enableAnonymousAuthentication,omitempty"`
	// +optional
	EncryptionConfig *EncryptionConfig `json:"encryptionConfig,omitempty"`
	// +optional
	EventTTL *metav1.Duration `json:"eventTTL,omitempty"`
	// +optional
	Logging *APIServerLogging `json:"logging,omitempty"`
	// +optional
	Requests *APIServerRequests `json:"requests,omitempty"`
	// +optional
	RuntimeConfig map[string]bool `json:"runtimeConfig,omitempty"`
	// +optional
	ServiceAccountConfig *ServiceAccountConfig `json:"serviceAccountConfig,omitempty"`
	// +optional
	StructuredAuthentication *StructuredAuthentication `json:"structuredAuthentication,omitempty"`
	// +optional
	StructuredAuthorization *StructuredAuthorization `json:"structuredAuthorization,omitempty"`
	// +optional
	TLSMinVersion *string `json:"tlsMinVersion,omitempty"`
	// +optional
	WatchCacheSizes *WatchCacheSizes `json:"watchCacheSizes,omitempty"`
	// Kept so that older manifests decode. Ignored; last used by Gardener v1.70.
	// +optional
	EnableBasicAuthentication *bool `json:"enableBasicAuthentication,omitempty"`
	// Kept so that older manifests decode. Ignored; last used by Gardener v1.141.
	// +optional
	OIDCConfig *OIDCConfig `json:"oidcConfig,omitempty"`
}

// AdmissionPlugin has its documentation written later.
type AdmissionPlugin struct {
	Name string `json:"name"`
	// +optional
	Config *runtime.RawExtension `json:"config,omitempty"`
	// +optional
	Disabled *bool `json:"disabled,omitempty"`
	// +optional
	KubeconfigSecretName *string `json:"kubeconfigSecretName,omitempty"`
}

// AuditConfig has its documentation written later.
type AuditConfig struct {
	// +optional
	AuditPolicy *AuditPolicy `json:"auditPolicy,omitempty"`
}

// AuditPolicy has its documentation written later.
type AuditPolicy struct {
	// +optional
	ConfigMapRef *corev1.ObjectReference `json:"configMapRef,omitempty"`
}

// ControlPlaneAutoscaling has its documentation written later.
type ControlPlaneAutoscaling struct {
	MinAllowed map[string]resource.Quantity `json:"minAllowed"`
}

// EncryptionConfig has its documentation written later.
type EncryptionConfig struct {
	Provider EncryptionProvider `json:"provider"`
	// +optional
	Resources []string `json:"resources,omitempty"`
}

// EncryptionProvider has its documentation written later.
type EncryptionProvider struct {
	// +optional
	Type *EncryptionProviderType `json:"type,omitempty"`
}

// EncryptionProviderType has its documentation written later.
type EncryptionProviderType string

const (
	// EncryptionProviderTypeAescbc stands for aescbc.
	EncryptionProviderTypeAescbc EncryptionProviderType = "aescbc"
	// EncryptionProviderTypeAesgcm stands for aesgcm.
	EncryptionProviderTypeAesgcm EncryptionProviderType = "aesgcm"
	// EncryptionProviderTypeSecretbox stands for secretbox.
	EncryptionProviderTypeSecretbox EncryptionProviderType = "secretbox"
)

// APIServerLogging has its documentation written later.
type APIServerLogging struct {
	// +optional
	HTTPAccessVerbosity *int32 `json:"httpAccessVerbosity,omitempty"`
	// +optional
	Verbosity *int32 `json:"verbosity,omitempty"`
}

// APIServerRequests has its documentation written later.
type APIServerRequests struct {
	// +optional
	MaxMutatingInflight *int32 `json:"maxMutatingInflight,omitempty"`
	// +optional
	MaxNonMutatingInflight *int32 `json:"maxNonMutatingInflight,omitempty"`
}

// ServiceAccountConfig has its documentation written later.
type ServiceAccountConfig struct {
	// +optional
	AcceptedIssuers []string `json:"acceptedIssuers,omitempty"`
	// +optional
	ExtendTokenExpiration *bool `json:"extendTokenExpiration,omitempty"`
	// +optional
	Issuer *string `json:"issuer,omitempty"`
	// +optional
	MaxTokenExpiration *metav1.Duration `json:"maxTokenExpiration,omitempty"`
	// Kept so that older manifests decode. Ignored; last used by Gardener v1.62.
	// +optional
	SigningKeySecretName *corev1.LocalObjectReference `json:"signingKeySecretName,omitempty"`
}

// StructuredAuthentication has its documentation written later.
type StructuredAuthentication struct {
	ConfigMapName string `json:"configMapName"`
}

// StructuredAuthorization has its documentation written later.
type StructuredAuthorization struct {
	ConfigMapName string                          `json:"configMapName"`
	Kubeconfigs   []AuthorizerKubeconfigReference `json:"kubeconfigs"`
}

// AuthorizerKubeconfigReference has its documentation written later.
type AuthorizerKubeconfigReference struct {
	AuthorizerName string `json:"authorizerName"`
	SecretName     string `json:"secretName"`
}

// WatchCacheSizes has its documentation written later.
type WatchCacheSizes struct {
	// +optional
	Default *int32 `json:"default,omitempty"`
	// +optional
	Resources []ResourceWatchCacheSize `json:"resources,omitempty"`
}

// ResourceWatchCacheSize has its documentation written later.
type ResourceWatchCacheSize struct {
	Resource string `json:"resource"`
	Size     int32  `json:"size"`
	// +optional
	APIGroup *string `json:"apiGroup,omitempty"`
}

// OIDCConfig has its documentation written later.
type OIDCConfig struct {
	// +optional
	CABundle *string `json:"caBundle,omitempty"`
	// +optional
	ClientAuthentication *OpenIDConnectClientAuthentication `json:"clientAuthentication,omitempty"`
	// +optional
	ClientID *string `json:"clientID,omitempty"`
	// +optional
	GroupsClaim *string `json:"groupsClaim,omitempty"`
	// +optional
	GroupsPrefix *string `json:"groupsPrefix,omitempty"`
	// +optional
	IssuerURL *string `json:"issuerURL,omitempty"`
	// +optional
	RequiredClaims map[string]string `json:"requiredClaims,omitempty"`
	// +optional
	SigningAlgs []string `json:"signingAlgs,omitempty"`
	// +optional
	UsernameClaim *string `json:"usernameClaim,omitempty"`
	// +optional
	UsernamePrefix *string `json:"usernamePrefix,omitempty"`
}

// OpenIDConnectClientAuthentication has its documentation written later.
type OpenIDConnectClientAuthentication struct {
	// +optional
	ExtraConfig map[string]string `json:"extraConfig,omitempty"`
	// +optional
	Secret *string `json:"secret,omitempty"`
}
