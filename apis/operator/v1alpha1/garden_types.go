// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// Garden describes the garden as a whole: the cluster or machine that it runs on, and the API that it offers. There is at
// most one.
type Garden struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the desired state of the garden.
	// +optional
	Spec GardenSpec `json:"spec,omitempty"`
	// Status is the observed state of the garden.
	// +optional
	Status GardenStatus `json:"status,omitempty"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// GardenList is a list of gardens, of which there is at most one.
type GardenList struct {
	metav1.TypeMeta `json:",inline"`
	// List metadata: resource version and paging.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the gardens.
	Items []Garden `json:"items"`
}

// GardenSpec is the desired state of the garden.
type GardenSpec struct {
	// RuntimeCluster describes where the garden runs.
	RuntimeCluster RuntimeCluster `json:"runtimeCluster"`
	// VirtualCluster describes the API that the garden offers.
	VirtualCluster VirtualCluster `json:"virtualCluster"`
	// DNS names the DNS services for the domains of the garden; records are managed manually when unset.
	// +optional
	DNS *DNSManagement `json:"dns,omitempty"`
	// Extensions are extensions for the garden itself.
	// +optional
	Extensions []GardenExtension `json:"extensions,omitempty"`
	// Resources are objects in the namespace garden that provider configs of the garden refer to.
	// +optional
	Resources []gardencorev1beta1.NamedResourceReference `json:"resources,omitempty"`
}

// GardenExtension is an extension for the garden itself.
type GardenExtension struct {
	// Type is the type of the extension.
	Type string `json:"type"`
	// ProviderConfig is configuration that only the extension understands.
	// +optional
	ProviderConfig *runtime.RawExtension `json:"providerConfig,omitempty"`
}

// DNSManagement names the DNS services for the domains of the garden.
type DNSManagement struct {
	// Providers are the DNS services.
	Providers []DNSProvider `json:"providers"`
}

// DNSProvider is a DNS service that hosts names of the garden.
type DNSProvider struct {
	// Name is how domains refer to the service.
	Name string `json:"name"`
	// Type is the provider type of the service.
	Type string `json:"type"`
	// SecretRef names the Secret with the credentials of the service.
	SecretRef corev1.LocalObjectReference `json:"secretRef"`
	// ProviderConfig is configuration that only the provider understands.
	// +optional
	ProviderConfig *runtime.RawExtension `json:"providerConfig,omitempty"`
}

// DNSDomain is a domain of the garden.
type DNSDomain struct {
	// Name is the domain.
	Name string `json:"name"`
	// Provider is the name of the DNS service that hosts it.
	// +optional
	Provider *string `json:"provider,omitempty"`
}

// GardenStatus is the observed state of the garden.
type GardenStatus struct {
	// AdvertisedAddresses are where the garden is reached.
	// +optional
	AdvertisedAddresses []AdvertisedAddress `json:"advertisedAddresses,omitempty"`
	// Conditions report the health of the garden.
	// +optional
	Conditions []gardencorev1beta1.Condition `json:"conditions,omitempty"`
	// Credentials describes the credentials of the garden.
	// +optional
	Credentials *Credentials `json:"credentials,omitempty"`
	// Gardener identifies the component that last acted on the garden.
	// +optional
	Gardener *gardencorev1beta1.Gardener `json:"gardener,omitempty"`
	// LastOperation describes the last operation on the garden.
	// +optional
	LastOperation *gardencorev1beta1.LastOperation `json:"lastOperation,omitempty"`
	// ObservedGeneration is the newest generation that was acted on.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// AdvertisedAddress is where the garden is reached.
type AdvertisedAddress struct {
	// Name says which address it is, for instance virtual-garden.
	Name string `json:"name"`
	// URL is the address.
	URL string `json:"url"`
}

// Credentials describes the credentials of the garden.
type Credentials struct {
	// EncryptionAtRest describes which resources are encrypted in etcd.
	// +optional
	EncryptionAtRest *gardencorev1beta1.EncryptionAtRest `json:"encryptionAtRest,omitempty"`
	// Rotation describes each rotation of credentials.
	// +optional
	Rotation *CredentialsRotation `json:"rotation,omitempty"`
}

// CredentialsRotation describes each rotation of credentials of the garden.
type CredentialsRotation struct {
	// CertificateAuthorities describes the rotation of the certificate authorities.
	// +optional
	CertificateAuthorities *gardencorev1beta1.CARotation `json:"certificateAuthorities,omitempty"`
	// ETCDEncryptionKey describes the rotation of the key that encrypts etcd.
	// +optional
	ETCDEncryptionKey *gardencorev1beta1.ETCDEncryptionKeyRotation `json:"etcdEncryptionKey,omitempty"`
	// Observability describes the rotation of the password for monitoring.
	// +optional
	Observability *gardencorev1beta1.ObservabilityRotation `json:"observability,omitempty"`
	// ServiceAccountKey describes the rotation of the key that signs service account tokens.
	// +optional
	ServiceAccountKey *gardencorev1beta1.ServiceAccountKeyRotation `json:"serviceAccountKey,omitempty"`
	// WorkloadIdentityKey describes the rotation of the key that signs tokens of workload identities.
	// +optional
	WorkloadIdentityKey *WorkloadIdentityKeyRotation `json:"workloadIdentityKey,omitempty"`
}

// WorkloadIdentityKeyRotation describes the rotation of the key that signs tokens of workload identities.
type WorkloadIdentityKeyRotation struct {
	// Phase is the phase of the rotation.
	Phase gardencorev1beta1.CredentialsRotationPhase `json:"phase"`
	// LastCompletionTime is when a rotation was last finished.
	// +optional
	LastCompletionTime *metav1.Time `json:"lastCompletionTime,omitempty"`
	// LastCompletionTriggeredTime is when the second phase was last started.
	// +optional
	LastCompletionTriggeredTime *metav1.Time `json:"lastCompletionTriggeredTime,omitempty"`
	// LastInitiationFinishedTime is when the first phase was last finished.
	// +optional
	LastInitiationFinishedTime *metav1.Time `json:"lastInitiationFinishedTime,omitempty"`
	// LastInitiationTime is when the first phase was last started.
	// +optional
	LastInitiationTime *metav1.Time `json:"lastInitiationTime,omitempty"`
}
