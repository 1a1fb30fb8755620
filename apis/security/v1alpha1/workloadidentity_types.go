// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// SubjectPrefix is the prefix of the subject of every workload identity.
const SubjectPrefix = "gardener.cloud:workloadidentity:"

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// WorkloadIdentity is an identity that an external system trusts, as an alternative to a secret: the garden issues
// short-lived tokens for it.
type WorkloadIdentity struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// Spec describes the tokens of the identity.
	Spec WorkloadIdentitySpec `json:"spec" protobuf:"bytes,2,opt,name=spec"`
	// Status reports the subject of the identity.
	Status WorkloadIdentityStatus `json:"status" protobuf:"bytes,3,opt,name=status"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// WorkloadIdentityList is a list of workload identities.
type WorkloadIdentityList struct {
	metav1.TypeMeta `json:",inline"`
	// List metadata: resource version and paging.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// Items are the workload identities.
	Items []WorkloadIdentity `json:"items" protobuf:"bytes,2,rep,name=items"`
}

// WorkloadIdentitySpec describes the tokens of an identity.
type WorkloadIdentitySpec struct {
	// Audiences are the audiences of the tokens.
	Audiences []string `json:"audiences" protobuf:"bytes,1,rep,name=audiences"`
	// TargetSystem is the system that the tokens give access to.
	TargetSystem TargetSystem `json:"targetSystem" protobuf:"bytes,2,opt,name=targetSystem"`
}

// TargetSystem is a system that trusts the garden.
type TargetSystem struct {
	// Type is the provider type of the system. It never changes.
	Type string `json:"type" protobuf:"bytes,1,opt,name=type"`
	// ProviderConfig is configuration that only the provider understands.
	// +optional
	ProviderConfig *runtime.RawExtension `json:"providerConfig,omitempty" protobuf:"bytes,2,opt,name=providerConfig"`
}

// WorkloadIdentityStatus reports the subject of an identity.
type WorkloadIdentityStatus struct {
	// Sub is the subject of the tokens; set by the server, it never changes.
	Sub string `json:"sub" protobuf:"bytes,1,opt,name=sub"`
}
