// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Networking holds the address ranges and the network plugin of a shoot.
type Networking struct {
	// Type is the type of the network plugin. It never changes; unset only for shoots without workers.
	// +optional
	Type *string `json:"type,omitempty" protobuf:"bytes,1,opt,name=type"`
	// IPFamilies lists the families in use. Defaults to IPv4.
	// +optional
	IPFamilies []IPFamily `json:"ipFamilies,omitempty" protobuf:"bytes,6,rep,name=ipFamilies"`
	// Nodes is the range of node addresses in CIDR notation.
	// +optional
	Nodes *string `json:"nodes,omitempty" protobuf:"bytes,4,opt,name=nodes"`
	// Pods is the range of pod addresses in CIDR notation.
	// +optional
	Pods *string `json:"pods,omitempty" protobuf:"bytes,3,opt,name=pods"`
	// ProviderConfig is configuration that only the network plugin understands.
	// +optional
	ProviderConfig *runtime.RawExtension `json:"providerConfig,omitempty" protobuf:"bytes,2,opt,name=providerConfig"`
	// Services is the range of Service addresses in CIDR notation.
	// +optional
	Services *string `json:"services,omitempty" protobuf:"bytes,5,opt,name=services"`
}

// DNS says under which name a shoot is reached.
type DNS struct {
	// Domain is the external domain; generated from shoot, project and a default domain when unset. It never changes.
	// +optional
	Domain *string `json:"domain,omitempty" protobuf:"bytes,1,opt,name=domain"`
	// Providers are the DNS services that host it; none is needed for a default domain.
	// +optional
	Providers []DNSProvider `json:"providers,omitempty" protobuf:"bytes,2,rep,name=providers"`
}

// SystemComponents holds settings of components inside a shoot.
type SystemComponents struct {
	// CoreDNS holds those of the cluster's DNS.
	// +optional
	CoreDNS *CoreDNS `json:"coreDNS,omitempty" protobuf:"bytes,1,opt,name=coreDNS"`
	// NodeLocalDNS holds those of the DNS cache on nodes.
	// +optional
	NodeLocalDNS *NodeLocalDNS `json:"nodeLocalDNS,omitempty" protobuf:"bytes,2,opt,name=nodeLocalDNS"`
}

// DNSProvider is a DNS service.
type DNSProvider struct {
	// Type is the provider type of the service, or unmanaged.
	// +optional
	Type *string `json:"type,omitempty" protobuf:"bytes,4,opt,name=type"`
	// CredentialsRef is the Secret or WorkloadIdentity of the project with the credentials of the service.
	// +optional
	CredentialsRef *autoscalingv1.CrossVersionObjectReference `json:"credentialsRef,omitempty" protobuf:"bytes,6,opt,name=credentialsRef"`
	// Domains restricts the domains; superseded by extensions.
	// +optional
	Domains *DNSIncludeExclude `json:"domains,omitempty" protobuf:"bytes,1,opt,name=domains"`
	// Primary marks the service that hosts the shoot's domain.
	// +optional
	Primary *bool `json:"primary,omitempty" protobuf:"varint,2,opt,name=primary"`
	// SecretName names a Secret of the project with the credentials; superseded by credentialsRef.
	// +optional
	SecretName *string `json:"secretName,omitempty" protobuf:"bytes,3,opt,name=secretName"`
	// Zones restricts the hosted zones; superseded by extensions.
	// +optional
	Zones *DNSIncludeExclude `json:"zones,omitempty" protobuf:"bytes,5,opt,name=zones"`
}

// CoreDNS holds settings of a cluster's DNS.
type CoreDNS struct {
	// Autoscaling says how it is sized.
	// +optional
	Autoscaling *CoreDNSAutoscaling `json:"autoscaling,omitempty" protobuf:"bytes,1,opt,name=autoscaling"`
	// Rewriting says which names are completed by the server.
	// +optional
	Rewriting *CoreDNSRewriting `json:"rewriting,omitempty" protobuf:"bytes,2,opt,name=rewriting"`
}

// CoreDNSAutoscaling says how a cluster's DNS is sized.
type CoreDNSAutoscaling struct {
	// Mode is horizontal or cluster-proportional. Defaults to horizontal.
	Mode CoreDNSAutoscalingMode `json:"mode" protobuf:"bytes,1,opt,name=mode"`
}

// CoreDNSAutoscalingMode is a way to size a cluster's DNS.
type CoreDNSAutoscalingMode string

const (
	// CoreDNSAutoscalingModeHorizontal sizes it by its use.
	CoreDNSAutoscalingModeHorizontal CoreDNSAutoscalingMode = "horizontal"
	// CoreDNSAutoscalingModeClusterProportional sizes it by the number of nodes.
	CoreDNSAutoscalingModeClusterProportional CoreDNSAutoscalingMode = "cluster-proportional"
)

// CoreDNSRewriting says which names are completed by the server.
type CoreDNSRewriting struct {
	// CommonSuffixes are domains whose names are resolved without search domains. At most 5.
	// +optional
	CommonSuffixes []string `json:"commonSuffixes,omitempty" protobuf:"bytes,1,rep,name=commonSuffixes"`
}

// NodeLocalDNS holds settings of the DNS cache on nodes.
type NodeLocalDNS struct {
	// Enabled installs it.
	Enabled bool `json:"enabled" protobuf:"varint,1,opt,name=enabled"`
	// DisableForwardToUpstreamDNS sends all queries to the cluster's DNS.
	// +optional
	DisableForwardToUpstreamDNS *bool `json:"disableForwardToUpstreamDNS,omitempty" protobuf:"varint,4,opt,name=disableForwardToUpstreamDNS"`
	// ForceTCPToClusterDNS uses TCP towards the cluster's DNS. Defaults to true.
	// +optional
	ForceTCPToClusterDNS *bool `json:"forceTCPToClusterDNS,omitempty" protobuf:"varint,2,opt,name=forceTCPToClusterDNS"`
	// ForceTCPToUpstreamDNS uses TCP towards other DNS servers. Defaults to true.
	// +optional
	ForceTCPToUpstreamDNS *bool `json:"forceTCPToUpstreamDNS,omitempty" protobuf:"varint,3,opt,name=forceTCPToUpstreamDNS"`
}
