// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// Gardener holds settings of the garden's own components.
type Gardener struct {
	// ClusterIdentity identifies the garden among all clusters. It never changes.
	ClusterIdentity string `json:"clusterIdentity"`
	// APIServer holds settings of the API server of garden kinds.
	// +optional
	APIServer *GardenerAPIServerConfig `json:"gardenerAPIServer,omitempty"`
	// AdmissionController holds settings of the checks across objects.
	// +optional
	AdmissionController *GardenerAdmissionControllerConfig `json:"gardenerAdmissionController,omitempty"`
	// ControllerManager holds settings of the garden's controllers.
	// +optional
	ControllerManager *GardenerControllerManagerConfig `json:"gardenerControllerManager,omitempty"`
	// Dashboard holds settings of the web interface; there is none when unset.
	// +optional
	Dashboard *GardenerDashboardConfig `json:"gardenerDashboard,omitempty"`
	// DiscoveryServer holds settings of the server of public keys; there is none when unset.
	// +optional
	DiscoveryServer *GardenerDiscoveryServerConfig `json:"gardenerDiscoveryServer,omitempty"`
	// ResourceManager holds settings of the component that keeps objects in the garden up to date.
	// +optional
	ResourceManager *GardenerResourceManagerConfig `json:"gardenerResourceManager,omitempty"`
	// Scheduler holds settings of the component that chooses seeds.
	// +optional
	Scheduler *GardenerSchedulerConfig `json:"gardenerScheduler,omitempty"`
}

// GardenerAPIServerConfig holds settings of the API server of garden kinds.
type GardenerAPIServerConfig struct {
	gardencorev1beta1.KubernetesConfig `json:",inline"`

	// AdmissionPlugins enables or disables admission plugins and configures them.
	// +optional
	AdmissionPlugins []gardencorev1beta1.AdmissionPlugin `json:"admissionPlugins,omitempty"`
	// AuditConfig configures the audit log.
	// +optional
	AuditConfig *gardencorev1beta1.AuditConfig `json:"auditConfig,omitempty"`
	// AuditWebhook says where audit events are sent.
	// +optional
	AuditWebhook *AuditWebhook `json:"auditWebhook,omitempty"`
	// EncryptionConfig says what is encrypted in etcd, and how.
	// +optional
	EncryptionConfig *gardencorev1beta1.EncryptionConfig `json:"encryptionConfig,omitempty"`
	// GoAwayChance is the share of requests, at most 0.02, after which a client is asked to reconnect.
	// +optional
	GoAwayChance *float64 `json:"goAwayChance,omitempty"`
	// Logging says how much the server logs.
	// +optional
	Logging *gardencorev1beta1.APIServerLogging `json:"logging,omitempty"`
	// Requests limits the number of requests in flight.
	// +optional
	Requests *gardencorev1beta1.APIServerRequests `json:"requests,omitempty"`
	// ShootAdminKubeconfigMaxExpiration limits the validity of kubeconfigs for shoots.
	// +optional
	ShootAdminKubeconfigMaxExpiration *metav1.Duration `json:"shootAdminKubeconfigMaxExpiration,omitempty"`
	// WatchCacheSizes sizes the caches of watched resources.
	// +optional
	WatchCacheSizes *gardencorev1beta1.WatchCacheSizes `json:"watchCacheSizes,omitempty"`
}

// GardenerAdmissionControllerConfig holds settings of the checks across objects.
type GardenerAdmissionControllerConfig struct {
	// LogLevel is info, debug or error. Defaults to info.
	// +optional
	LogLevel *string `json:"logLevel,omitempty"`
	// ResourceAdmissionConfiguration limits the size and the number of objects.
	// +optional
	ResourceAdmissionConfiguration *ResourceAdmissionConfiguration `json:"resourceAdmissionConfiguration,omitempty"`
}

// ResourceAdmissionConfiguration limits the size and the number of objects.
type ResourceAdmissionConfiguration struct {
	// Limits are the limits.
	Limits []ResourceLimit `json:"limits"`
	// OperationMode is block or log. Defaults to block.
	// +optional
	OperationMode *ResourceAdmissionWebhookMode `json:"operationMode,omitempty"`
	// UnrestrictedSubjects are the subjects without limits.
	// +optional
	UnrestrictedSubjects []rbacv1.Subject `json:"unrestrictedSubjects,omitempty"`
}

// ResourceAdmissionWebhookMode says what happens to an object that is too large.
type ResourceAdmissionWebhookMode string

// ResourceLimit limits the size and the number of objects of some resources.
type ResourceLimit struct {
	// Resources are plural names, or * for all.
	Resources []string `json:"resources"`
	// APIGroups are the groups of the resources.
	// +optional
	APIGroups []string `json:"apiGroups,omitempty"`
	// APIVersions are the versions of the resources.
	// +optional
	APIVersions []string `json:"apiVersions,omitempty"`
	// Count is the maximum number of objects in a project.
	// +optional
	Count *int64 `json:"count,omitempty"`
	// Size is the maximum size of an object.
	// +optional
	Size *resource.Quantity `json:"size,omitempty"`
}

// GardenerControllerManagerConfig holds settings of the garden's controllers.
type GardenerControllerManagerConfig struct {
	gardencorev1beta1.KubernetesConfig `json:",inline"`

	// DefaultProjectQuotas are quotas that projects get by default.
	// +optional
	DefaultProjectQuotas []ProjectQuotaConfiguration `json:"defaultProjectQuotas,omitempty"`
	// LogLevel is info, debug or error. Defaults to info.
	// +optional
	LogLevel *string `json:"logLevel,omitempty"`
}

// ProjectQuotaConfiguration is a quota that projects get by default.
type ProjectQuotaConfiguration struct {
	// Config is the quota.
	Config corev1.ResourceQuota `json:"config"`
	// ProjectSelector selects the projects; all when unset.
	// +optional
	ProjectSelector *metav1.LabelSelector `json:"projectSelector,omitempty"`
}

// GardenerDiscoveryServerConfig holds settings of the server of public keys.
type GardenerDiscoveryServerConfig struct {
	// Domain is the name of the server; one in the first domain of the ingress when unset. It never changes.
	// +optional
	Domain *DNSDomain `json:"domain,omitempty"`
	// TLSSecretName names the Secret with the certificate of the server.
	// +optional
	TLSSecretName *string `json:"tlsSecretName,omitempty"`
}

// GardenerResourceManagerConfig holds settings of the component that keeps objects in the garden up to date.
type GardenerResourceManagerConfig struct {
	// AdditionalTargetNamespaces are further namespaces that it manages.
	// +optional
	AdditionalTargetNamespaces []string `json:"additionalTargetNamespaces,omitempty"`
}

// GardenerSchedulerConfig holds settings of the component that chooses seeds.
type GardenerSchedulerConfig struct {
	gardencorev1beta1.KubernetesConfig `json:",inline"`

	// LogLevel is info, debug or error. Defaults to info.
	// +optional
	LogLevel *string `json:"logLevel,omitempty"`
	// Strategy is SameRegion or MinimalDistance. Defaults to SameRegion.
	// +optional
	Strategy *string `json:"strategy,omitempty"`
}
