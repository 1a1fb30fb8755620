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
	Type *string `json:"type,omitempty"`
	// IPFamilies lists the families in use. Defaults to IPv4.
	// +optional
	IPFamilies []IPFamily `json:"ipFamilies,omitempty"`
	// Nodes is the range of node addresses in CIDR notation.
	// +optional
	Nodes *string `json:"nodes,omitempty"`
	// Pods is the range of pod addresses in CIDR notation.
	// +optional
	Pods *string `json:"pods,omitempty"`
	// ProviderConfig is configuration that only the network plugin understands.
	// +optional
	ProviderConfig *runtime.RawExtension `json:"providerConfig,omitempty"`
	// Services is the range of Service addresses in CIDR notation.
	// +optional
	Services *string `json:"services,omitempty"`
}

// DNS says under which name a shoot is reached.
type DNS struct {
	// Domain is the external domain; made from shoot, project and a default domain when unset. It never changes.
	// +optional
	Domain *string `json:"domain,omitempty"`
	// Providers are the DNS services that host it; none is needed for a default domain.
	// +optional
	Providers []DNSProvider `json:"providers,omitempty"`
}

// SystemComponents holds settings of components inside a shoot.
type SystemComponents struct {
	// CoreDNS holds those of the cluster's DNS.
	// +optional
	CoreDNS *CoreDNS `json:"coreDNS,omitempty"`
	// NodeLocalDNS holds those of the DNS cache on nodes.
	// +optional
	NodeLocalDNS *NodeLocalDNS `json:"nodeLocalDNS,omitempty"`
}

// DNSProvider is a DNS service.
type DNSProvider struct {
	// Type is the provider type of the service, or unmanaged.
	// +optional
	Type *string `json:"type,omitempty"`
	// CredentialsRef is the Secret or WorkloadIdentity of the project with the credentials of the service.
	// +optional
	CredentialsRef *autoscalingv1.CrossVersionObjectReference `json:"credentialsRef,omitempty"`
	// Domains restricts the domains; superseded by extensions.
	// +optional
	Domains *DNSIncludeExclude `json:"domains,omitempty"`
	// Primary marks the service that hosts the shoot's domain.
	// +optional
	Primary *bool `json:"primary,omitempty"`
	// SecretName names a Secret of the project with the credentials; superseded by credentialsRef.
	// +optional
	SecretName *string `json:"secretName,omitempty"`
	// Zones restricts the hosted zones; superseded by extensions.
	// +optional
	Zones *DNSIncludeExclude `json:"zones,omitempty"`
}

// CoreDNS holds settings of a cluster's DNS.
type CoreDNS struct {
	// Autoscaling says how it is sized.
	// +optional
	Autoscaling *CoreDNSAutoscaling `json:"autoscaling,omitempty"`
	// Rewriting says which names are completed by the server.
	// +optional
	Rewriting *CoreDNSRewriting `json:"rewriting,omitempty"`
}

// CoreDNSAutoscaling says how a cluster's DNS is sized.
type CoreDNSAutoscaling struct {
	// Mode is horizontal or cluster-proportional. Defaults to horizontal.
	Mode CoreDNSAutoscalingMode `json:"mode"`
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
	// CommonSuffixes are domains that clients search in vain; names in them are answered at once. At most 5.
	// +optional
	CommonSuffixes []string `json:"commonSuffixes,omitempty"`
}

// NodeLocalDNS holds settings of the DNS cache on nodes.
type NodeLocalDNS struct {
	// Enabled installs it.
	Enabled bool `json:"enabled"`
	// DisableForwardToUpstreamDNS sends all questions to the cluster's DNS.
	// +optional
	DisableForwardToUpstreamDNS *bool `json:"disableForwardToUpstreamDNS,omitempty"`
	// ForceTCPToClusterDNS uses TCP towards the cluster's DNS. Defaults to true.
	// +optional
	ForceTCPToClusterDNS *bool `json:"forceTCPToClusterDNS,omitempty"`
	// ForceTCPToUpstreamDNS uses TCP towards other DNS servers. Defaults to true.
	// +optional
	ForceTCPToUpstreamDNS *bool `json:"forceTCPToUpstreamDNS,omitempty"`
}
