// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// KubeAPIServerConfig holds settings of a shoot's API server.
type KubeAPIServerConfig struct {
	KubernetesConfig `json:",inline" protobuf:"bytes,1,opt,name=kubernetesConfig"`

	// AdmissionPlugins enables or disables admission plugins and configures them.
	// +patchStrategy=merge
	// +patchMergeKey=name
	// +optional
	AdmissionPlugins []AdmissionPlugin `json:"admissionPlugins,omitempty" protobuf:"bytes,2,rep,name=admissionPlugins" patchStrategy:"merge" patchMergeKey:"name"`
	// APIAudiences are the audiences of tokens that the server accepts.
	// +optional
	APIAudiences []string `json:"apiAudiences,omitempty" protobuf:"bytes,3,rep,name=apiAudiences"`
	// AuditConfig configures the audit log.
	// +optional
	AuditConfig *AuditConfig `json:"auditConfig,omitempty" protobuf:"bytes,4,opt,name=auditConfig"`
	// Autoscaling limits the automatic sizing of the server.
	// +optional
	Autoscaling *ControlPlaneAutoscaling `json:"autoscaling,omitempty" protobuf:"bytes,19,opt,name=autoscaling"`
	// DefaultNotReadyTolerationSeconds is how long pods stay on a node that is not ready, in seconds. Defaults to
	// 300.
	// +optional
	DefaultNotReadyTolerationSeconds *int64 `json:"defaultNotReadyTolerationSeconds,omitempty" protobuf:"varint,14,opt,name=defaultNotReadyTolerationSeconds"`
	// DefaultUnreachableTolerationSeconds is how long pods stay on a node that cannot be reached, in seconds.
	// Defaults to 300.
	// +optional
	DefaultUnreachableTolerationSeconds *int64 `json:"defaultUnreachableTolerationSeconds,omitempty" protobuf:"varint,15,opt,name=defaultUnreachableTolerationSeconds"`
	// EnableAnonymousAuthentication accepts requests without credentials; superseded by structured authentication.
	// +optional
	EnableAnonymousAuthentication *bool `json:"enableAnonymousAuthentication,omitempty" protobuf:"varint,11,opt,name=enableAnonymousAuthentication"`
	// EncryptionConfig says what is encrypted in etcd, and how.
	// +optional
	EncryptionConfig *EncryptionConfig `json:"encryptionConfig,omitempty" protobuf:"bytes,16,opt,name=encryptionConfig"`
	// EventTTL is how long events are kept, at most 7 days. Defaults to 1h.
	// +optional
	EventTTL *metav1.Duration `json:"eventTTL,omitempty" protobuf:"bytes,12,opt,name=eventTTL"`
	// Logging says how much the server logs.
	// +optional
	Logging *APIServerLogging `json:"logging,omitempty" protobuf:"bytes,13,opt,name=logging"`
	// Requests limits the number of requests in flight.
	// +optional
	Requests *APIServerRequests `json:"requests,omitempty" protobuf:"bytes,10,opt,name=requests"`
	// RuntimeConfig enables or disables API versions and resources.
	// +optional
	RuntimeConfig map[string]bool `json:"runtimeConfig,omitempty" protobuf:"bytes,7,rep,name=runtimeConfig"`
	// ServiceAccountConfig holds settings of service account tokens.
	// +optional
	ServiceAccountConfig *ServiceAccountConfig `json:"serviceAccountConfig,omitempty" protobuf:"bytes,8,opt,name=serviceAccountConfig"`
	// StructuredAuthentication names the configuration of authenticators.
	// +optional
	StructuredAuthentication *StructuredAuthentication `json:"structuredAuthentication,omitempty" protobuf:"bytes,17,opt,name=structuredAuthentication"`
	// StructuredAuthorization names the configuration of authorizers.
	// +optional
	StructuredAuthorization *StructuredAuthorization `json:"structuredAuthorization,omitempty" protobuf:"bytes,18,opt,name=structuredAuthorization"`
	// TLSMinVersion is the oldest TLS version that the server accepts, for instance VersionTLS12.
	// +optional
	TLSMinVersion *string `json:"tlsMinVersion,omitempty" protobuf:"bytes,20,opt,name=tlsMinVersion"`
	// WatchCacheSizes sizes the caches of watched resources.
	// +optional
	WatchCacheSizes *WatchCacheSizes `json:"watchCacheSizes,omitempty" protobuf:"bytes,9,opt,name=watchCacheSizes"`
	// EnableBasicAuthentication let in users with a password. Ignored; last used by Gardener v1.70.
	// +optional
	EnableBasicAuthentication *bool `json:"enableBasicAuthentication,omitempty" protobuf:"varint,1001,opt,name=enableBasicAuthentication"`
	// OIDCConfig was the configuration of one OpenID Connect issuer; superseded by structured authentication.
	// Ignored; last used by Gardener v1.141.
	// +optional
	OIDCConfig *OIDCConfig `json:"oidcConfig,omitempty" protobuf:"bytes,1002,opt,name=oidcConfig"`
}

// AdmissionPlugin enables or disables an admission plugin and configures it.
type AdmissionPlugin struct {
	// Name is the name of the plugin.
	Name string `json:"name" protobuf:"bytes,1,opt,name=name"`
	// Config is the configuration of the plugin.
	// +optional
	Config *runtime.RawExtension `json:"config,omitempty" protobuf:"bytes,2,opt,name=config"`
	// Disabled disables a plugin that is enabled by default.
	// +optional
	Disabled *bool `json:"disabled,omitempty" protobuf:"varint,3,opt,name=disabled"`
	// KubeconfigSecretName names a Secret in the project with a kubeconfig that the plugin needs.
	// +optional
	KubeconfigSecretName *string `json:"kubeconfigSecretName,omitempty" protobuf:"bytes,4,opt,name=kubeconfigSecretName"`
}

// AuditConfig configures the audit log.
type AuditConfig struct {
	// AuditPolicy is the policy.
	// +optional
	AuditPolicy *AuditPolicy `json:"auditPolicy,omitempty" protobuf:"bytes,1,opt,name=auditPolicy"`
}

// AuditPolicy names an audit policy.
type AuditPolicy struct {
	// ConfigMapRef names a ConfigMap in the project with the policy under the key policy.
	// +optional
	ConfigMapRef *corev1.ObjectReference `json:"configMapRef,omitempty" protobuf:"bytes,1,opt,name=configMapRef"`
}

// ControlPlaneAutoscaling limits the automatic sizing of a component.
type ControlPlaneAutoscaling struct {
	// MinAllowed is the least processor time and memory that the component gets. Each component has a bound, which goes before it: an API server
	// 8 processors and 25Gi, an etcd 4 and 30Gi, a cluster autoscaler 1 and 4Gi.
	MinAllowed map[string]resource.Quantity `json:"minAllowed" protobuf:"bytes,1,rep,name=minAllowed"`
}

// EncryptionConfig says what is encrypted in etcd, and how.
type EncryptionConfig struct {
	// Provider is the encryption provider.
	Provider EncryptionProvider `json:"provider" protobuf:"bytes,2,opt,name=provider"`
	// Resources are further resources to be encrypted besides Secrets, with their group where it is not the core
	// group.
	// +optional
	Resources []string `json:"resources,omitempty" protobuf:"bytes,1,rep,name=resources"`
}

// EncryptionProvider is an encryption provider.
type EncryptionProvider struct {
	// Type is its name. Defaults to aescbc.
	// +optional
	Type *EncryptionProviderType `json:"type,omitempty" protobuf:"bytes,1,opt,name=type"`
}

// EncryptionProviderType is the name of an encryption provider.
type EncryptionProviderType string

const (
	// EncryptionProviderTypeAescbc is AES in CBC mode.
	EncryptionProviderTypeAescbc EncryptionProviderType = "aescbc"
	// EncryptionProviderTypeAesgcm is AES in GCM mode.
	EncryptionProviderTypeAesgcm EncryptionProviderType = "aesgcm"
	// EncryptionProviderTypeSecretbox is XSalsa20 with Poly1305.
	EncryptionProviderTypeSecretbox EncryptionProviderType = "secretbox"
)

// APIServerLogging says how much an API server logs.
type APIServerLogging struct {
	// HTTPAccessVerbosity is the log level from which requests are logged.
	// +optional
	HTTPAccessVerbosity *int32 `json:"httpAccessVerbosity,omitempty" protobuf:"varint,2,opt,name=httpAccessVerbosity"`
	// Verbosity is the log level. Defaults to 2.
	// +optional
	Verbosity *int32 `json:"verbosity,omitempty" protobuf:"varint,1,opt,name=verbosity"`
}

// APIServerRequests limits the number of requests in flight.
type APIServerRequests struct {
	// MaxMutatingInflight limits those that change something. Defaults to 200.
	// +optional
	MaxMutatingInflight *int32 `json:"maxMutatingInflight,omitempty" protobuf:"varint,2,opt,name=maxMutatingInflight"`
	// MaxNonMutatingInflight limits those that only read. Defaults to 400.
	// +optional
	MaxNonMutatingInflight *int32 `json:"maxNonMutatingInflight,omitempty" protobuf:"varint,1,opt,name=maxNonMutatingInflight"`
}

// ServiceAccountConfig holds settings of service account tokens.
type ServiceAccountConfig struct {
	// AcceptedIssuers are further issuers whose tokens are accepted.
	// +optional
	AcceptedIssuers []string `json:"acceptedIssuers,omitempty" protobuf:"bytes,5,rep,name=acceptedIssuers"`
	// ExtendTokenExpiration lets injected tokens live for a year so that old clients keep working.
	// +optional
	ExtendTokenExpiration *bool `json:"extendTokenExpiration,omitempty" protobuf:"varint,3,opt,name=extendTokenExpiration"`
	// Issuer is the issuer of new tokens.
	// +optional
	Issuer *string `json:"issuer,omitempty" protobuf:"bytes,1,opt,name=issuer"`
	// MaxTokenExpiration is the longest lifetime of a token, between 30 and 90 days.
	// +optional
	MaxTokenExpiration *metav1.Duration `json:"maxTokenExpiration,omitempty" protobuf:"bytes,4,opt,name=maxTokenExpiration"`
	// SigningKeySecretName was the Secret with the user's own signing key. Ignored; last used by Gardener v1.62.
	// +optional
	SigningKeySecretName *corev1.LocalObjectReference `json:"signingKeySecretName,omitempty" protobuf:"bytes,1001,opt,name=signingKeySecretName"`
}

// StructuredAuthentication names the configuration of authenticators.
type StructuredAuthentication struct {
	// ConfigMapName names a ConfigMap in the project with an AuthenticationConfiguration under the key config.yaml.
	ConfigMapName string `json:"configMapName" protobuf:"bytes,1,opt,name=configMapName"`
}

// StructuredAuthorization names the configuration of authorizers.
type StructuredAuthorization struct {
	// ConfigMapName names a ConfigMap in the project with an AuthorizationConfiguration under the key config.yaml.
	ConfigMapName string `json:"configMapName" protobuf:"bytes,1,opt,name=configMapName"`
	// Kubeconfigs name the kubeconfigs that webhooks in the configuration need.
	Kubeconfigs []AuthorizerKubeconfigReference `json:"kubeconfigs" protobuf:"bytes,2,rep,name=kubeconfigs"`
}

// AuthorizerKubeconfigReference names the kubeconfig of an authorizer.
type AuthorizerKubeconfigReference struct {
	// AuthorizerName is the name of the authorizer in the configuration.
	AuthorizerName string `json:"authorizerName" protobuf:"bytes,1,opt,name=authorizerName"`
	// SecretName names a Secret in the project with the kubeconfig under the key kubeconfig.
	SecretName string `json:"secretName" protobuf:"bytes,2,opt,name=secretName"`
}

// WatchCacheSizes sizes the caches of watched resources.
type WatchCacheSizes struct {
	// Default is the size for resources that are not listed.
	// +optional
	Default *int32 `json:"default,omitempty" protobuf:"varint,1,opt,name=default"`
	// Resources lists resources with a size of their own.
	// +optional
	Resources []ResourceWatchCacheSize `json:"resources,omitempty" protobuf:"bytes,2,rep,name=resources"`
}

// ResourceWatchCacheSize is the size of the cache of one resource.
type ResourceWatchCacheSize struct {
	// Resource is the plural name of the resource.
	Resource string `json:"resource" protobuf:"bytes,2,opt,name=resource"`
	// Size is the number of objects; 0 turns the cache off.
	Size int32 `json:"size" protobuf:"varint,3,opt,name=size"`
	// APIGroup is the group of the resource; the core group when unset.
	// +optional
	APIGroup *string `json:"apiGroup,omitempty" protobuf:"bytes,1,opt,name=apiGroup"`
}

// OIDCConfig was the configuration of one OpenID Connect issuer; superseded by structured authentication.
type OIDCConfig struct {
	// CABundle held certificates of the issuer.
	// +optional
	CABundle *string `json:"caBundle,omitempty" protobuf:"bytes,1,opt,name=caBundle"`
	// ClientAuthentication held credentials for clients.
	// +optional
	ClientAuthentication *OpenIDConnectClientAuthentication `json:"clientAuthentication,omitempty" protobuf:"bytes,2,opt,name=clientAuthentication"`
	// ClientID was the audience of tokens.
	// +optional
	ClientID *string `json:"clientID,omitempty" protobuf:"bytes,3,opt,name=clientID"`
	// GroupsClaim was the claim with the groups.
	// +optional
	GroupsClaim *string `json:"groupsClaim,omitempty" protobuf:"bytes,4,opt,name=groupsClaim"`
	// GroupsPrefix was put before the groups.
	// +optional
	GroupsPrefix *string `json:"groupsPrefix,omitempty" protobuf:"bytes,5,opt,name=groupsPrefix"`
	// IssuerURL was the issuer.
	// +optional
	IssuerURL *string `json:"issuerURL,omitempty" protobuf:"bytes,6,opt,name=issuerURL"`
	// RequiredClaims were claims that a token had to have.
	// +optional
	RequiredClaims map[string]string `json:"requiredClaims,omitempty" protobuf:"bytes,7,rep,name=requiredClaims"`
	// SigningAlgs were the accepted algorithms.
	// +optional
	SigningAlgs []string `json:"signingAlgs,omitempty" protobuf:"bytes,8,rep,name=signingAlgs"`
	// UsernameClaim was the claim with the user name.
	// +optional
	UsernameClaim *string `json:"usernameClaim,omitempty" protobuf:"bytes,9,opt,name=usernameClaim"`
	// UsernamePrefix was put before the user name.
	// +optional
	UsernamePrefix *string `json:"usernamePrefix,omitempty" protobuf:"bytes,10,opt,name=usernamePrefix"`
}

// OpenIDConnectClientAuthentication held credentials for clients of an issuer.
type OpenIDConnectClientAuthentication struct {
	// ExtraConfig held further settings for clients.
	// +optional
	ExtraConfig map[string]string `json:"extraConfig,omitempty" protobuf:"bytes,1,rep,name=extraConfig"`
	// Secret was the client secret.
	// +optional
	Secret *string `json:"secret,omitempty" protobuf:"bytes,2,opt,name=secret"`
}
