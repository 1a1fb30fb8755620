// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// Seed has its documentation written later.
type Seed struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +optional
	Spec SeedSpec `json:"spec,omitempty"`
	// +optional
	Status SeedStatus `json:"status,omitempty"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// SeedList has its documentation written later.
type SeedList struct {
	metav1.TypeMeta `json:",inline"`
	// List metadata: resource version and paging.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Seed `json:"items"`
}

// SeedSpec has its documentation written later.
type SeedSpec struct {
	DNS      SeedDNS      `json:"dns"`
	Networks SeedNetworks `json:"networks"`
	Provider SeedProvider `json:"provider"`
	// +optional
	AccessRestrictions []AccessRestriction `json:"accessRestrictions,omitempty"`
	// +optional
	Backup *Backup `json:"backup,omitempty"`
	// +optional
	Extensions []Extension `json:"extensions,omitempty"`
	// +optional
	Ingress *Ingress `json:"ingress,omitempty"`
	// +optional
	Resources []NamedResourceReference `json:"resources,omitempty"`
	// +optional
	Settings *SeedSettings `json:"settings,omitempty"`
	// +optional
	Taints []SeedTaint `json:"taints,omitempty"`
	// +optional
	Volume *SeedVolume `json:"volume,omitempty"`
	// Kept so that older manifests decode. Ignored; last used by Gardener v1.59.
	// +optional
	HighAvailability *HighAvailability `json:"highAvailability,omitempty"`
	// Kept so that older manifests decode. Ignored; last used by Gardener v1.86.
	// +optional
	SecretRef *corev1.SecretReference `json:"secretRef,omitempty"`
}

// SeedStatus has its documentation written later.
type SeedStatus struct {
	// +optional
	Allocatable corev1.ResourceList `json:"allocatable,omitempty"`
	// +optional
	Capacity corev1.ResourceList `json:"capacity,omitempty"`
	// +optional
	ClientCertificateExpirationTimestamp *metav1.Time `json:"clientCertificateExpirationTimestamp,omitempty"`
	// +optional
	ClusterIdentity *string `json:"clusterIdentity,omitempty"`
	// +patchStrategy=merge
	// +patchMergeKey=type
	// +optional
	Conditions []Condition `json:"conditions,omitempty" patchStrategy:"merge" patchMergeKey:"type"`
	// +optional
	Gardener *Gardener `json:"gardener,omitempty"`
	// +optional
	KubernetesVersion *string `json:"kubernetesVersion,omitempty"`
	// +optional
	LastOperation *LastOperation `json:"lastOperation,omitempty"`
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// SeedTemplate has its documentation written later.
type SeedTemplate struct {
	// Metadata of the Seed to be created.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +optional
	Spec SeedSpec `json:"spec,omitempty"`
}

// SeedDNS has its documentation written later.
type SeedDNS struct {
	// +optional
	Defaults []SeedDNSProviderConfig `json:"defaults,omitempty"`
	// +optional
	Internal *SeedDNSProviderConfig `json:"internal,omitempty"`
	// +optional
	Provider *SeedDNSProvider `json:"provider,omitempty"`
	// Kept so that older manifests decode. Ignored; last used by Gardener v1.66.
	// +optional
	IngressDomain *string `json:"ingressDomain,omitempty"`
}

// SeedNetworks has its documentation written later.
type SeedNetworks struct {
	Pods     string `json:"pods"`
	Services string `json:"services"`
	// +optional
	BlockCIDRs []string `json:"blockCIDRs,omitempty"`
	// +optional
	IPFamilies []IPFamily `json:"ipFamilies,omitempty"`
	// +optional
	Nodes *string `json:"nodes,omitempty"`
	// +optional
	ShootDefaults *ShootNetworks `json:"shootDefaults,omitempty"`
}

// IPFamily has its documentation written later.
type IPFamily string

const (
	// IPFamilyIPv4 stands for IPv4.
	IPFamilyIPv4 IPFamily = "IPv4"
	// IPFamilyIPv6 stands for IPv6.
	IPFamilyIPv6 IPFamily = "IPv6"
)

// SeedProvider has its documentation written later.
type SeedProvider struct {
	Type   string `json:"type"`
	Region string `json:"region"`
	// +optional
	ProviderConfig *runtime.RawExtension `json:"providerConfig,omitempty"`
	// +optional
	Zones []string `json:"zones,omitempty"`
}

// SeedTaint has its documentation written later.
type SeedTaint struct {
	Key string `json:"key"`
	// +optional
	Value *string `json:"value,omitempty"`
}

// SeedVolume has its documentation written later.
type SeedVolume struct {
	// +optional
	MinimumSize *resource.Quantity `json:"minimumSize,omitempty"`
	// +patchStrategy=merge
	// +patchMergeKey=name
	// +optional
	Providers []SeedVolumeProvider `json:"providers,omitempty" patchStrategy:"merge" patchMergeKey:"name"`
}

// Ingress has its documentation written later.
type Ingress struct {
	Controller IngressController `json:"controller"`
	Domain     string            `json:"domain"`
}

// SeedDNSProviderConfig has its documentation written later.
type SeedDNSProviderConfig struct {
	Type           string                 `json:"type"`
	CredentialsRef corev1.ObjectReference `json:"credentialsRef"`
	Domain         string                 `json:"domain"`
	// +optional
	Zone *string `json:"zone,omitempty"`
}

// SeedDNSProvider has its documentation written later.
type SeedDNSProvider struct {
	Type string `json:"type"`
	// +optional
	CredentialsRef *corev1.ObjectReference `json:"credentialsRef,omitempty"`
	// Kept so that older manifests decode. Ignored; last used by Gardener v1.66.
	// +optional
	Domains *DNSIncludeExclude `json:"domains,omitempty"`
	// Kept so that older manifests decode. Ignored; last used by Gardener v1.138.
	// +optional
	SecretRef *corev1.SecretReference `json:"secretRef,omitempty"`
	// Kept so that older manifests decode. Ignored; last used by Gardener v1.66.
	// +optional
	Zones *DNSIncludeExclude `json:"zones,omitempty"`
}

// ShootNetworks has its documentation written later.
type ShootNetworks struct {
	// +optional
	Pods *string `json:"pods,omitempty"`
	// +optional
	Services *string `json:"services,omitempty"`
}

// SeedVolumeProvider has its documentation written later.
type SeedVolumeProvider struct {
	Name    string `json:"name"`
	Purpose string `json:"purpose"`
}

// IngressController has its documentation written later.
type IngressController struct {
	Kind string `json:"kind"`
	// +optional
	ProviderConfig *runtime.RawExtension `json:"providerConfig,omitempty"`
}
