// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// Plant is an external cluster that the garden only monitors.
type Plant struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// Spec says how to reach the cluster.
	// +optional
	Spec PlantSpec `json:"spec,omitempty" protobuf:"bytes,2,opt,name=spec"`
	// Status is the observed state of the cluster.
	// +optional
	Status PlantStatus `json:"status,omitempty" protobuf:"bytes,3,opt,name=status"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// PlantList is a list of plants.
type PlantList struct {
	metav1.TypeMeta `json:",inline"`
	// List metadata: resource version and paging.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// Items are the plants.
	Items []Plant `json:"items" protobuf:"bytes,2,rep,name=items"`
}

// PlantSpec says how to reach a cluster.
type PlantSpec struct {
	// SecretRef is a Secret of the same namespace with a kubeconfig.
	SecretRef corev1.LocalObjectReference `json:"secretRef" protobuf:"bytes,1,opt,name=secretRef"`
	// Endpoints are addresses of the cluster that are useful to users.
	// +patchStrategy=merge
	// +patchMergeKey=name
	// +optional
	Endpoints []Endpoint `json:"endpoints,omitempty" protobuf:"bytes,2,rep,name=endpoints" patchStrategy:"merge" patchMergeKey:"name"`
}

// Endpoint is an address of a cluster.
type Endpoint struct {
	// Name is the name of the endpoint.
	Name string `json:"name" protobuf:"bytes,1,opt,name=name"`
	// URL is the address.
	URL string `json:"url" protobuf:"bytes,2,opt,name=url"`
	// Purpose says what the endpoint is for.
	Purpose string `json:"purpose" protobuf:"bytes,3,opt,name=purpose"`
}

// PlantStatus is the observed state of a cluster.
type PlantStatus struct {
	// Conditions are the aspects of the cluster's health.
	// +patchStrategy=merge
	// +patchMergeKey=type
	// +optional
	Conditions []Condition `json:"conditions,omitempty" protobuf:"bytes,1,rep,name=conditions" patchStrategy:"merge" patchMergeKey:"type"`
	// ObservedGeneration is the generation that was last acted on.
	// +optional
	ObservedGeneration *int64 `json:"observedGeneration,omitempty" protobuf:"varint,2,opt,name=observedGeneration"`
	// ClusterInfo reports what kind of cluster it is.
	// +optional
	ClusterInfo *ClusterInfo `json:"clusterInfo,omitempty" protobuf:"bytes,3,opt,name=clusterInfo"`
}

// ClusterInfo reports what kind of cluster a plant is.
type ClusterInfo struct {
	// Cloud reports where it runs.
	Cloud CloudInfo `json:"cloud" protobuf:"bytes,1,opt,name=cloud"`
	// Kubernetes reports what it runs.
	Kubernetes KubernetesInfo `json:"kubernetes" protobuf:"bytes,2,opt,name=kubernetes"`
}

// CloudInfo reports where a cluster runs.
type CloudInfo struct {
	// Type is the provider.
	Type string `json:"type" protobuf:"bytes,1,opt,name=type"`
	// Region is the region.
	Region string `json:"region" protobuf:"bytes,2,opt,name=region"`
}

// KubernetesInfo reports what a cluster runs.
type KubernetesInfo struct {
	// Version is the version of Kubernetes.
	Version string `json:"version" protobuf:"bytes,1,opt,name=version"`
}
