// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ViewerKubeconfigRequest asks for a kubeconfig with read access to everything but secrets in a shoot that is valid for a limited time.
type ViewerKubeconfigRequest struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// Spec is the request.
	Spec ViewerKubeconfigRequestSpec `json:"spec" protobuf:"bytes,2,opt,name=spec"`
	// Status is filled by the server with the issued credentials.
	Status ViewerKubeconfigRequestStatus `json:"status" protobuf:"bytes,3,opt,name=status"`
}

// ViewerKubeconfigRequestSpec says how long the credentials should be valid.
type ViewerKubeconfigRequestSpec struct {
	// ExpirationSeconds is the desired lifetime in seconds; the server may shorten it. Defaults to 3600.
	// +optional
	ExpirationSeconds *int64 `json:"expirationSeconds,omitempty" protobuf:"varint,1,opt,name=expirationSeconds"`
}

// ViewerKubeconfigRequestStatus carries the issued credentials.
type ViewerKubeconfigRequestStatus struct {
	// Kubeconfig is a complete kubeconfig in YAML with a client certificate inside.
	Kubeconfig []byte `json:"kubeconfig" protobuf:"bytes,1,opt,name=kubeconfig"`
	// ExpirationTimestamp is the moment from which the client certificate is refused.
	ExpirationTimestamp metav1.Time `json:"expirationTimestamp" protobuf:"bytes,2,opt,name=expirationTimestamp"`
}
