// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,path=backupbuckets,shortName=bb,singular=backupbucket
// +kubebuilder:printcolumn:name="Type",type=string,JSONPath=`.spec.type`
// +kubebuilder:printcolumn:name="Region",type=string,JSONPath=`.spec.region`
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.lastOperation.state`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:metadata:labels="gardener.cloud/deletion-protected=true"
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// BackupBucket asks for a bucket in an object store that takes backups of etcd.
type BackupBucket struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the desired state, written by the gardenlet.
	Spec BackupBucketSpec `json:"spec"`
	// Status is what the extension controller reports.
	// +optional
	Status BackupBucketStatus `json:"status,omitempty"`
}

// +kubebuilder:object:root=true
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// BackupBucketList is a list of BackupBucket objects.
type BackupBucketList struct {
	metav1.TypeMeta `json:",inline"`
	// List metadata: resource version and paging.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the objects of the list.
	Items []BackupBucket `json:"items"`
}

// BackupBucketSpec says where the bucket should be and with which credentials it is made.
type BackupBucketSpec struct {
	DefaultSpec `json:",inline"`

	// Region is where the bucket is to be created.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="the region cannot change"
	Region string `json:"region"`
	// SecretRef names the Secret with the credentials of the object store.
	// +kubebuilder:validation:XValidation:rule="has(self.name) && self.name != ''",message="the name of the Secret is required"
	SecretRef corev1.SecretReference `json:"secretRef"`
}

// BackupBucketStatus reports how the bucket can be used.
type BackupBucketStatus struct {
	DefaultStatus `json:",inline"`

	// GeneratedSecretRef names a Secret made by the extension with narrower credentials for the bucket.
	// +optional
	GeneratedSecretRef *corev1.SecretReference `json:"generatedSecretRef,omitempty"`
}
