// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Networking has its documentation written later.
type Networking struct {
	// +optional
	Type *string `json:"type,omitempty"`
	// +optional
	IPFamilies []IPFamily `json:"ipFamilies,omitempty"`
	// +optional
	Nodes *string `json:"nodes,omitempty"`
	// +optional
	Pods *string `json:"pods,omitempty"`
	// +optional
	ProviderConfig *runtime.RawExtension `json:"providerConfig,omitempty"`
	// +optional
	Services *string `json:"services,omitempty"`
}

// DNS has its documentation written later.
type DNS struct {
	// +optional
	Domain *string `json:"domain,omitempty"`
	// +optional
	Providers []DNSProvider `json:"providers,omitempty"`
}

// SystemComponents has its documentation written later.
type SystemComponents struct {
	// +optional
	CoreDNS *CoreDNS `json:"coreDNS,omitempty"`
	// +optional
	NodeLocalDNS *NodeLocalDNS `json:"nodeLocalDNS,omitempty"`
}

// DNSProvider has its documentation written later.
type DNSProvider struct {
	// +optional
	Type *string `json:"type,omitempty"`
	// +optional
	CredentialsRef *autoscalingv1.CrossVersionObjectReference `json:"credentialsRef,omitempty"`
	// +optional
	Domains *DNSIncludeExclude `json:"domains,omitempty"`
	// +optional
	Primary *bool `json:"primary,omitempty"`
	// +optional
	SecretName *string `json:"secretName,omitempty"`
	// +optional
	Zones *DNSIncludeExclude `json:"zones,omitempty"`
}

// CoreDNS has its documentation written later.
type CoreDNS struct {
	// +optional
	Autoscaling *CoreDNSAutoscaling `json:"autoscaling,omitempty"`
	// +optional
	Rewriting *CoreDNSRewriting `json:"rewriting,omitempty"`
}

// CoreDNSAutoscaling has its documentation written later.
type CoreDNSAutoscaling struct {
	Mode CoreDNSAutoscalingMode `json:"mode"`
}

// CoreDNSAutoscalingMode has its documentation written later.
type CoreDNSAutoscalingMode string

const (
	// CoreDNSAutoscalingModeHorizontal stands for horizontal.
	CoreDNSAutoscalingModeHorizontal CoreDNSAutoscalingMode = "horizontal"
	// CoreDNSAutoscalingModeClusterProportional stands for cluster-proportional.
	CoreDNSAutoscalingModeClusterProportional CoreDNSAutoscalingMode = "cluster-proportional"
)

// CoreDNSRewriting has its documentation written later.
type CoreDNSRewriting struct {
	// +optional
	CommonSuffixes []string `json:"commonSuffixes,omitempty"`
}

// NodeLocalDNS has its documentation written later.
type NodeLocalDNS struct {
	Enabled bool `json:"enabled"`
	// +optional
	DisableForwardToUpstreamDNS *bool `json:"disableForwardToUpstreamDNS,omitempty"`
	// +optional
	ForceTCPToClusterDNS *bool `json:"forceTCPToClusterDNS,omitempty"`
	// +optional
	ForceTCPToUpstreamDNS *bool `json:"forceTCPToUpstreamDNS,omitempty"`
}
