// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// Seed is a cluster that runs the control planes of shoots.
type Seed struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// Spec describes the cluster and what it may be used for.
	// +optional
	Spec SeedSpec `json:"spec,omitempty" protobuf:"bytes,2,opt,name=spec"`
	// Status reports the health and the capacity of the seed.
	// +optional
	Status SeedStatus `json:"status,omitempty" protobuf:"bytes,3,opt,name=status"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// SeedList is a list of seeds.
type SeedList struct {
	metav1.TypeMeta `json:",inline"`
	// List metadata: resource version and paging.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// Items are the seeds.
	Items []Seed `json:"items" protobuf:"bytes,2,rep,name=items"`
}

// SeedSpec describes a cluster that runs control planes.
type SeedSpec struct {
	// DNS configures the domains of shoots.
	DNS SeedDNS `json:"dns" protobuf:"bytes,2,opt,name=dns"`
	// Networks are the address ranges of the cluster.
	Networks SeedNetworks `json:"networks" protobuf:"bytes,3,opt,name=networks"`
	// Provider says where the cluster runs.
	Provider SeedProvider `json:"provider" protobuf:"bytes,4,opt,name=provider"`
	// AccessRestrictions are the restrictions that the seed satisfies.
	// +optional
	AccessRestrictions []AccessRestriction `json:"accessRestrictions,omitempty" protobuf:"bytes,10,rep,name=accessRestrictions"`
	// Backup says where backups of the shoots' etcds are kept; there are no backups when unset. It cannot be removed.
	// +optional
	Backup *Backup `json:"backup,omitempty" protobuf:"bytes,1,opt,name=backup"`
	// Extensions are extensions for the seed itself.
	// +optional
	Extensions []Extension `json:"extensions,omitempty" protobuf:"bytes,11,rep,name=extensions"`
	// Ingress configures the domain under which services of the seed are reached by name.
	// +optional
	Ingress *Ingress `json:"ingress,omitempty" protobuf:"bytes,9,opt,name=ingress"`
	// Resources are objects in the namespace garden that provider configs of this seed refer to.
	// +optional
	Resources []NamedResourceReference `json:"resources,omitempty" protobuf:"bytes,12,rep,name=resources"`
	// Settings enables and disables features of the seed.
	// +optional
	Settings *SeedSettings `json:"settings,omitempty" protobuf:"bytes,8,opt,name=settings"`
	// Taints keep shoots away that do not tolerate them.
	// +optional
	Taints []SeedTaint `json:"taints,omitempty" protobuf:"bytes,6,rep,name=taints"`
	// Volume bounds and names the volumes of control planes.
	// +optional
	Volume *SeedVolume `json:"volume,omitempty" protobuf:"bytes,7,opt,name=volume"`
	// HighAvailability was the failure tolerance of the seed's own components. Ignored; last used by Gardener v1.59.
	// +optional
	HighAvailability *HighAvailability `json:"highAvailability,omitempty" protobuf:"bytes,1001,opt,name=highAvailability"`
	// SecretRef was the Secret with a kubeconfig for the seed. Ignored; last used by Gardener v1.86.
	// +optional
	SecretRef *corev1.SecretReference `json:"secretRef,omitempty" protobuf:"bytes,1002,opt,name=secretRef"`
}

// SeedStatus reports the health and the capacity of a seed.
type SeedStatus struct {
	// Allocatable is how much of each resource shoots can use; the scheduler uses the resource shoots.
	// +optional
	Allocatable corev1.ResourceList `json:"allocatable,omitempty" protobuf:"bytes,7,rep,name=allocatable"`
	// Capacity is how much of each resource the seed has.
	// +optional
	Capacity corev1.ResourceList `json:"capacity,omitempty" protobuf:"bytes,6,rep,name=capacity"`
	// ClientCertificateExpirationTimestamp is when the certificate of the gardenlet expires.
	// +optional
	ClientCertificateExpirationTimestamp *metav1.Time `json:"clientCertificateExpirationTimestamp,omitempty" protobuf:"bytes,8,opt,name=clientCertificateExpirationTimestamp"`
	// ClusterIdentity identifies the seed among all clusters.
	// +optional
	ClusterIdentity *string `json:"clusterIdentity,omitempty" protobuf:"bytes,5,opt,name=clusterIdentity"`
	// Conditions report the health of the seed.
	// +patchStrategy=merge
	// +patchMergeKey=type
	// +optional
	Conditions []Condition `json:"conditions,omitempty" protobuf:"bytes,3,rep,name=conditions" patchStrategy:"merge" patchMergeKey:"type"`
	// Gardener identifies the gardenlet that last acted on the seed.
	// +optional
	Gardener *Gardener `json:"gardener,omitempty" protobuf:"bytes,1,opt,name=gardener"`
	// KubernetesVersion is the version of the cluster.
	// +optional
	KubernetesVersion *string `json:"kubernetesVersion,omitempty" protobuf:"bytes,2,opt,name=kubernetesVersion"`
	// LastOperation is the last operation of the gardenlet on the seed.
	// +optional
	LastOperation *LastOperation `json:"lastOperation,omitempty" protobuf:"bytes,9,opt,name=lastOperation"`
	// ObservedGeneration is the newest generation that the gardenlet has acted on.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty" protobuf:"varint,4,opt,name=observedGeneration"`
}

// SeedTemplate is a Seed that is still to be created.
type SeedTemplate struct {
	// Metadata of the Seed to be created.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// Spec describes the cluster and what it may be used for.
	// +optional
	Spec SeedSpec `json:"spec,omitempty" protobuf:"bytes,2,opt,name=spec"`
}

// SeedDNS configures the domains of shoots.
type SeedDNS struct {
	// Defaults are the domains under which shoots get a name by default.
	// +optional
	Defaults []SeedDNSProviderConfig `json:"defaults,omitempty" protobuf:"bytes,4,rep,name=defaults"`
	// Internal is the domain under which every shoot gets an internal name; shoots of a seed without it are reached
	// by the address of a load balancer.
	// +optional
	Internal *SeedDNSProviderConfig `json:"internal,omitempty" protobuf:"bytes,3,opt,name=internal"`
	// Provider is the DNS provider for the domain of the seed's own ingress.
	// +optional
	Provider *SeedDNSProvider `json:"provider,omitempty" protobuf:"bytes,2,opt,name=provider"`
	// IngressDomain was the domain of the seed's own ingress. Ignored; last used by Gardener v1.66.
	// +optional
	IngressDomain *string `json:"ingressDomain,omitempty" protobuf:"bytes,1001,opt,name=ingressDomain"`
}

// SeedNetworks are the address ranges of a seed, which must not overlap with those of its shoots.
type SeedNetworks struct {
	// Pods is the range of pod addresses in CIDR notation.
	Pods string `json:"pods" protobuf:"bytes,2,opt,name=pods"`
	// Services is the range of Service addresses in CIDR notation.
	Services string `json:"services" protobuf:"bytes,3,opt,name=services"`
	// BlockCIDRs are ranges that control planes cannot reach.
	// +optional
	BlockCIDRs []string `json:"blockCIDRs,omitempty" protobuf:"bytes,5,rep,name=blockCIDRs"`
	// IPFamilies lists the families in use. Defaults to IPv4.
	// +optional
	IPFamilies []IPFamily `json:"ipFamilies,omitempty" protobuf:"bytes,6,rep,name=ipFamilies"`
	// Nodes is the range of node addresses in CIDR notation.
	// +optional
	Nodes *string `json:"nodes,omitempty" protobuf:"bytes,1,opt,name=nodes"`
	// ShootDefaults are the ranges of shoots that name none.
	// +optional
	ShootDefaults *ShootNetworks `json:"shootDefaults,omitempty" protobuf:"bytes,4,opt,name=shootDefaults"`
}

// IPFamily is a version of the internet protocol.
type IPFamily string

const (
	// IPFamilyIPv4 is version 4.
	IPFamilyIPv4 IPFamily = "IPv4"
	// IPFamilyIPv6 is version 6.
	IPFamilyIPv6 IPFamily = "IPv6"
)

// SeedProvider says where a seed runs.
type SeedProvider struct {
	// Type is the provider type.
	Type string `json:"type" protobuf:"bytes,1,opt,name=type"`
	// Region is the region of the provider.
	Region string `json:"region" protobuf:"bytes,3,opt,name=region"`
	// ProviderConfig is configuration that only the provider understands.
	// +optional
	ProviderConfig *runtime.RawExtension `json:"providerConfig,omitempty" protobuf:"bytes,2,opt,name=providerConfig"`
	// Zones are the availability zones of the seed's nodes.
	// +optional
	Zones []string `json:"zones,omitempty" protobuf:"bytes,4,rep,name=zones"`
}

// SeedTaint keeps shoots away that do not tolerate it.
type SeedTaint struct {
	// Key identifies the taint.
	Key string `json:"key" protobuf:"bytes,1,opt,name=key"`
	// Value refines the taint.
	// +optional
	Value *string `json:"value,omitempty" protobuf:"bytes,2,opt,name=value"`
}

// SeedVolume bounds and names the volumes of control planes.
type SeedVolume struct {
	// MinimumSize is the smallest size of a volume; smaller requests are raised to it.
	// +optional
	MinimumSize *resource.Quantity `json:"minimumSize,omitempty" protobuf:"bytes,1,opt,name=minimumSize"`
	// Providers names the providers of volumes by purpose.
	// +patchStrategy=merge
	// +patchMergeKey=name
	// +optional
	Providers []SeedVolumeProvider `json:"providers,omitempty" protobuf:"bytes,2,rep,name=providers" patchStrategy:"merge" patchMergeKey:"name"`
}

// Ingress configures the domain under which services of a seed are reached by name.
type Ingress struct {
	// Controller is the ingress controller of the seed.
	Controller IngressController `json:"controller" protobuf:"bytes,2,opt,name=controller"`
	// Domain is the domain under which services get their names. It never changes.
	Domain string `json:"domain" protobuf:"bytes,1,opt,name=domain"`
}

// SeedDNSProviderConfig is a domain with the service that hosts it.
type SeedDNSProviderConfig struct {
	// Type is the provider type of the DNS service.
	Type string `json:"type" protobuf:"bytes,1,opt,name=type"`
	// CredentialsRef is the Secret or WorkloadIdentity with the credentials of the service.
	CredentialsRef corev1.ObjectReference `json:"credentialsRef" protobuf:"bytes,4,opt,name=credentialsRef"`
	// Domain is the domain.
	Domain string `json:"domain" protobuf:"bytes,2,opt,name=domain"`
	// Zone is the hosted zone of the domain; found by name when unset.
	// +optional
	Zone *string `json:"zone,omitempty" protobuf:"bytes,3,opt,name=zone"`
}

// SeedDNSProvider is a DNS service.
type SeedDNSProvider struct {
	// Type is the provider type of the service.
	Type string `json:"type" protobuf:"bytes,1,opt,name=type"`
	// CredentialsRef is the Secret or WorkloadIdentity with the credentials of the service.
	// +optional
	CredentialsRef *corev1.ObjectReference `json:"credentialsRef,omitempty" protobuf:"bytes,5,opt,name=credentialsRef"`
	// Domains restricted the domains. Ignored; last used by Gardener v1.66.
	// +optional
	Domains *DNSIncludeExclude `json:"domains,omitempty" protobuf:"bytes,1001,opt,name=domains"`
	// SecretRef was the Secret with the credentials of the service. Ignored; last used by Gardener v1.138.
	// +optional
	SecretRef *corev1.SecretReference `json:"secretRef,omitempty" protobuf:"bytes,1002,opt,name=secretRef"`
	// Zones restricted the hosted zones. Ignored; last used by Gardener v1.66.
	// +optional
	Zones *DNSIncludeExclude `json:"zones,omitempty" protobuf:"bytes,1003,opt,name=zones"`
}

// ShootNetworks are address ranges of shoots that name none.
type ShootNetworks struct {
	// Pods is the range of pod addresses in CIDR notation.
	// +optional
	Pods *string `json:"pods,omitempty" protobuf:"bytes,1,opt,name=pods"`
	// Services is the range of Service addresses in CIDR notation.
	// +optional
	Services *string `json:"services,omitempty" protobuf:"bytes,2,opt,name=services"`
}

// SeedVolumeProvider provides volumes for a purpose.
type SeedVolumeProvider struct {
	// Name is the name of the provisioner.
	Name string `json:"name" protobuf:"bytes,2,opt,name=name"`
	// Purpose is what the volumes are for, for instance etcd-main.
	Purpose string `json:"purpose" protobuf:"bytes,1,opt,name=purpose"`
}

// IngressController is the ingress controller of a seed.
type IngressController struct {
	// Kind is its kind; only nginx is known.
	Kind string `json:"kind" protobuf:"bytes,1,opt,name=kind"`
	// ProviderConfig is configuration of the controller.
	// +optional
	ProviderConfig *runtime.RawExtension `json:"providerConfig,omitempty" protobuf:"bytes,2,opt,name=providerConfig"`
}
