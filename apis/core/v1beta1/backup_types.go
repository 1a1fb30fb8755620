// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Backup says where backups of etcd are kept.
type Backup struct {
	// Provider is the type of the provider that has the object store.
	Provider string `json:"provider" protobuf:"bytes,1,opt,name=provider"`
	// CredentialsRef is the Secret or WorkloadIdentity with the credentials of the object store.
	// +optional
	CredentialsRef *corev1.ObjectReference `json:"credentialsRef,omitempty" protobuf:"bytes,5,opt,name=credentialsRef"`
	// ProviderConfig is configuration that only the provider understands.
	// +optional
	ProviderConfig *runtime.RawExtension `json:"providerConfig,omitempty" protobuf:"bytes,2,opt,name=providerConfig"`
	// Region is the region of the object store; that of the seed when unset.
	// +optional
	Region *string `json:"region,omitempty" protobuf:"bytes,3,opt,name=region"`
	// SecretRef is the Secret with the credentials of the object store. Ignored; last used by Gardener v1.122.
	// +optional
	SecretRef *corev1.SecretReference `json:"secretRef,omitempty" protobuf:"bytes,1001,opt,name=secretRef"`
}
