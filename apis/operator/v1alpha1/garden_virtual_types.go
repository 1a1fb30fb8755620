// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// VirtualCluster describes the API that the garden offers: a cluster without nodes.
type VirtualCluster struct {
	// DNS says under which names the API is reached.
	DNS DNS `json:"dns,omitzero"`
	// Gardener holds settings of the garden's own components.
	Gardener Gardener `json:"gardener,omitzero"`
	// Kubernetes holds the version and the settings of Kubernetes' components.
	Kubernetes Kubernetes `json:"kubernetes,omitzero"`
	// Maintenance says when the garden may be changed automatically.
	Maintenance Maintenance `json:"maintenance"`
	// Networking are the address ranges of the API.
	Networking VirtualNetworking `json:"networking,omitzero"`
	// ControlPlane holds settings of the control plane.
	// +optional
	ControlPlane *ControlPlane `json:"controlPlane,omitempty"`
	// ETCD holds settings of the stores.
	// +optional
	ETCD *ETCD `json:"etcd,omitempty"`
}

// DNS says under which names the API of the garden is reached.
type DNS struct {
	// Domains are the domains under which the names are made. The first one never changes.
	// +optional
	Domains []DNSDomain `json:"domains,omitempty"`
}

// VirtualNetworking are the address ranges of the garden's API.
type VirtualNetworking struct {
	// Services are the ranges of Service addresses in CIDR notation, one for each family.
	// +required
	Services []string `json:"services,omitempty"`
}

// Maintenance says when the garden may be changed automatically.
type Maintenance struct {
	// TimeWindow is when maintenance happens.
	TimeWindow gardencorev1beta1.MaintenanceTimeWindow `json:"timeWindow"`
}

// ControlPlane holds settings of the garden's control plane.
type ControlPlane struct {
	// HighAvailability runs several instances of each component; it cannot be removed again.
	// +optional
	HighAvailability *HighAvailability `json:"highAvailability,omitempty"`
}

// HighAvailability asks for several instances of each component. It has no settings.
type HighAvailability struct{}

// ETCD holds settings of the garden's stores.
type ETCD struct {
	// Events holds settings of the store of events.
	// +optional
	Events *ETCDEvents `json:"events,omitempty"`
	// Main holds settings of the store of everything else.
	// +optional
	Main *ETCDMain `json:"main,omitempty"`
}

// ETCDMain holds settings of the store of everything but events.
type ETCDMain struct {
	// Autoscaling limits the automatic sizing of the store.
	// +optional
	Autoscaling *gardencorev1beta1.ControlPlaneAutoscaling `json:"autoscaling,omitempty"`
	// Backup says where backups are kept; it cannot be removed again.
	// +optional
	Backup *Backup `json:"backup,omitempty"`
	// Storage holds settings of the store's volume.
	// +optional
	Storage *Storage `json:"storage,omitempty"`
}

// ETCDEvents holds settings of the store of events.
type ETCDEvents struct {
	// Autoscaling limits the automatic sizing of the store.
	// +optional
	Autoscaling *gardencorev1beta1.ControlPlaneAutoscaling `json:"autoscaling,omitempty"`
	// Storage holds settings of the store's volume.
	// +optional
	Storage *Storage `json:"storage,omitempty"`
}

// Storage holds settings of a volume.
type Storage struct {
	// Capacity is its size. Defaults to 10Gi.
	// +optional
	Capacity *resource.Quantity `json:"capacity,omitempty"`
	// ClassName is the name of its storage class.
	// +optional
	ClassName *string `json:"className,omitempty"`
}

// Backup says where backups of the garden's store are kept.
type Backup struct {
	// Provider is the type of the provider that has the object store. It never changes.
	Provider string `json:"provider"`
	// SecretRef names the Secret with the credentials of the object store.
	SecretRef corev1.LocalObjectReference `json:"secretRef"`
	// BucketName is the bucket; one is created when unset. It never changes.
	// +optional
	BucketName *string `json:"bucketName,omitempty"`
	// ProviderConfig is configuration that only the provider understands.
	// +optional
	ProviderConfig *runtime.RawExtension `json:"providerConfig,omitempty"`
	// Region is the region of the object store. It never changes.
	// +optional
	Region *string `json:"region,omitempty"`
}

// Kubernetes holds the version and the settings of Kubernetes' components in a garden.
type Kubernetes struct {
	// Version is the Kubernetes version of the garden's API.
	Version string `json:"version"`
	// KubeAPIServer holds settings of the API server.
	// +optional
	KubeAPIServer *KubeAPIServerConfig `json:"kubeAPIServer,omitempty"`
	// KubeControllerManager holds settings of the controller manager.
	// +optional
	KubeControllerManager *KubeControllerManagerConfig `json:"kubeControllerManager,omitempty"`
}

// KubeAPIServerConfig holds settings of the garden's API server for kinds of Kubernetes.
type KubeAPIServerConfig struct {
	gardencorev1beta1.KubeAPIServerConfig `json:",inline"`

	// AuditWebhook says where audit events are sent.
	// +optional
	AuditWebhook *AuditWebhook `json:"auditWebhook,omitempty"`
	// Authentication configures further ways to authenticate clients.
	// +optional
	Authentication *Authentication `json:"authentication,omitempty"`
	// ResourcesToStoreInETCDEvents are further resources that are kept with the events.
	// +optional
	ResourcesToStoreInETCDEvents []GroupResource `json:"resourcesToStoreInETCDEvents,omitempty"`
	// SNI names certificates for further names of the server.
	// +optional
	SNI *SNI `json:"sni,omitempty"`
}

// AuditWebhook says where audit events are sent.
type AuditWebhook struct {
	// KubeconfigSecretName names the Secret with the kubeconfig that reaches the webhook, under the key kubeconfig.
	KubeconfigSecretName string `json:"kubeconfigSecretName"`
	// BatchMaxSize is the number of events sent at once. Defaults to 30.
	// +optional
	BatchMaxSize *int32 `json:"batchMaxSize,omitempty"`
	// Version is the version of the events. Defaults to audit.k8s.io/v1.
	// +optional
	Version *string `json:"version,omitempty"`
}

// Authentication configures further ways to authenticate clients.
type Authentication struct {
	// Webhook authenticates tokens by a webhook.
	// +optional
	Webhook *AuthenticationWebhook `json:"webhook,omitempty"`
}

// AuthenticationWebhook authenticates tokens by a webhook.
type AuthenticationWebhook struct {
	// KubeconfigSecretName names the Secret with the kubeconfig that reaches the webhook, under the key kubeconfig.
	KubeconfigSecretName string `json:"kubeconfigSecretName"`
	// CacheTTL is how long a result is cached.
	// +optional
	CacheTTL *metav1.Duration `json:"cacheTTL,omitempty"`
	// Version is the version of the reviews: v1alpha1, v1beta1 or v1. Defaults to v1beta1.
	// +optional
	Version *string `json:"version,omitempty"`
}

// GroupResource names a resource.
type GroupResource struct {
	// Group is the API group.
	Group string `json:"group"`
	// Resource is the plural name.
	Resource string `json:"resource"`
}

// SNI names certificates for further names of the server.
type SNI struct {
	// DomainPatterns are the names for which the certificate is shown; those in the certificate when unset.
	// +optional
	DomainPatterns []string `json:"domainPatterns,omitempty"`
	// SecretName names the Secret with the certificate.
	// +optional
	SecretName *string `json:"secretName,omitempty"`
}

// KubeControllerManagerConfig holds settings of the garden's controller manager for kinds of Kubernetes.
type KubeControllerManagerConfig struct {
	gardencorev1beta1.KubeControllerManagerConfig `json:",inline"`

	// CertificateSigningDuration is the longest lifetime of a signed certificate. Defaults to 48h.
	// +optional
	CertificateSigningDuration *metav1.Duration `json:"certificateSigningDuration,omitempty"`
}
