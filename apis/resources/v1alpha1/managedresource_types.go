// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,path=managedresources,shortName=mr,singular=managedresource
// +kubebuilder:printcolumn:name="Class",type=string,JSONPath=`.spec.class`
// +kubebuilder:printcolumn:name="Applied",type=string,JSONPath=`.status.conditions[?(@.type=="ResourcesApplied")].status`
// +kubebuilder:printcolumn:name="Healthy",type=string,JSONPath=`.status.conditions[?(@.type=="ResourcesHealthy")].status`
// +kubebuilder:printcolumn:name="Progressing",type=string,JSONPath=`.status.conditions[?(@.type=="ResourcesProgressing")].status`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:metadata:labels="gardener.cloud/deletion-protected=true"
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ManagedResource asks a resource manager to reconcile a set of objects with their manifests.
type ManagedResource struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec says which objects are reconciled, and how.
	// +optional
	Spec ManagedResourceSpec `json:"spec,omitempty"`
	// Status is the observed state of the objects.
	// +optional
	Status ManagedResourceStatus `json:"status,omitempty"`
}

// +kubebuilder:object:root=true
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ManagedResourceList is a list of ManagedResource objects.
type ManagedResourceList struct {
	metav1.TypeMeta `json:",inline"`
	// List metadata: resource version and paging.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the objects of the list.
	Items []ManagedResource `json:"items"`
}

// ManagedResourceSpec says which objects are reconciled, and how.
type ManagedResourceSpec struct {
	// SecretRefs name the Secrets in the same namespace that hold the manifests.
	SecretRefs []corev1.LocalObjectReference `json:"secretRefs"`
	// Class names the resource manager; the default one when unset.
	// +optional
	Class *string `json:"class,omitempty"`
	// DeletePersistentVolumeClaims deletes the volumes of a StatefulSet together with it.
	// +optional
	DeletePersistentVolumeClaims *bool `json:"deletePersistentVolumeClaims,omitempty"`
	// Equivalences are sets of kinds that refer to the same objects.
	// +optional
	Equivalences [][]metav1.GroupKind `json:"equivalences,omitempty"`
	// ForceOverwriteAnnotations removes annotations that the manifests do not have.
	// +optional
	ForceOverwriteAnnotations *bool `json:"forceOverwriteAnnotations,omitempty"`
	// ForceOverwriteLabels removes labels that the manifests do not have.
	// +optional
	ForceOverwriteLabels *bool `json:"forceOverwriteLabels,omitempty"`
	// InjectLabels are put on every object.
	// +optional
	InjectLabels map[string]string `json:"injectLabels,omitempty"`
	// KeepObjects keeps objects in the cluster when they are removed from the manifests.
	// +optional
	KeepObjects *bool `json:"keepObjects,omitempty"`
}

// ManagedResourceStatus is the observed state of the objects.
type ManagedResourceStatus struct {
	// Conditions report whether the objects are applied, healthy and no longer progressing.
	// +optional
	Conditions []gardencorev1beta1.Condition `json:"conditions,omitempty"`
	// ObservedGeneration is the newest generation that the resource manager has acted on.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Resources are the objects that were applied.
	// +optional
	Resources []ObjectReference `json:"resources,omitempty"`
	// SecretsDataChecksum is the checksum of the manifests that were applied.
	// +optional
	SecretsDataChecksum *string `json:"secretsDataChecksum,omitempty"`
}

// ObjectReference names an object that was applied.
type ObjectReference struct {
	corev1.ObjectReference `json:",inline"`

	// Annotations are those that the manifest had.
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
	// Labels are those that the manifest had.
	// +optional
	Labels map[string]string `json:"labels,omitempty"`
}

const (
	// ConditionTypeResourcesApplied reports whether the manifests were applied.
	ConditionTypeResourcesApplied gardencorev1beta1.ConditionType = "ResourcesApplied"
	// ConditionTypeResourcesHealthy reports whether the objects are healthy.
	ConditionTypeResourcesHealthy gardencorev1beta1.ConditionType = "ResourcesHealthy"
	// ConditionTypeResourcesProgressing reports whether the objects are still changing.
	ConditionTypeResourcesProgressing gardencorev1beta1.ConditionType = "ResourcesProgressing"
)
