// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// TokenRequest asks for a token of a workload identity. It is only the body of a subresource and is never stored.
type TokenRequest struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// Spec is the request.
	Spec TokenRequestSpec `json:"spec" protobuf:"bytes,2,opt,name=spec"`
	// Status is filled by the server with the issued token.
	Status TokenRequestStatus `json:"status" protobuf:"bytes,3,opt,name=status"`
}

// TokenRequestSpec says how long a token should be valid and for what it is used.
type TokenRequestSpec struct {
	// ContextObject is the object on behalf of which the token is used.
	// +optional
	ContextObject *ContextObject `json:"contextObject,omitempty" protobuf:"bytes,1,opt,name=contextObject"`
	// ExpirationSeconds is the desired lifetime in seconds; the server may change it. Defaults to 3600.
	// +optional
	ExpirationSeconds *int64 `json:"expirationSeconds,omitempty" protobuf:"varint,2,opt,name=expirationSeconds"`
}

// ContextObject identifies an object of the garden.
type ContextObject struct {
	// Kind is the kind of the object.
	Kind string `json:"kind" protobuf:"bytes,1,opt,name=kind"`
	// APIVersion is the group and version of the object.
	APIVersion string `json:"apiVersion" protobuf:"bytes,2,opt,name=apiVersion"`
	// Name is the name of the object.
	Name string `json:"name" protobuf:"bytes,3,opt,name=name"`
	// Namespace is the namespace of the object, if its kind has one.
	// +optional
	Namespace *string `json:"namespace,omitempty" protobuf:"bytes,4,opt,name=namespace"`
	// UID is the UID of the object.
	UID types.UID `json:"uid" protobuf:"bytes,5,opt,name=uid"`
}

// TokenRequestStatus carries the issued token.
type TokenRequestStatus struct {
	// Token is the token.
	Token string `json:"token" protobuf:"bytes,1,opt,name=token"`
	// ExpirationTimestamp is the moment from which the token is refused.
	ExpirationTimestamp metav1.Time `json:"expirationTimestamp" protobuf:"bytes,2,opt,name=expirationTimestamp"`
}
