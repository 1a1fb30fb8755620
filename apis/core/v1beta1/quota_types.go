// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// Quota limits what the shoots of a project, or those with certain credentials, may use.
type Quota struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// Spec has the limits of the quota.
	// +optional
	Spec QuotaSpec `json:"spec,omitempty" protobuf:"bytes,2,opt,name=spec"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// QuotaList is a list of quotas.
type QuotaList struct {
	metav1.TypeMeta `json:",inline"`
	// List metadata: resource version and paging.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// Items are the quotas.
	Items []Quota `json:"items" protobuf:"bytes,2,rep,name=items"`
}

// QuotaSpec has the limits of a quota.
type QuotaSpec struct {
	// Metrics maps a metric, such as cpu or storage.standard, to its limit.
	Metrics corev1.ResourceList `json:"metrics" protobuf:"bytes,2,rep,name=metrics"`
	// Scope says what is counted together: the shoots of a Project, or those with the same Secret or
	// WorkloadIdentity. It never changes.
	Scope corev1.ObjectReference `json:"scope" protobuf:"bytes,3,opt,name=scope"`
	// ClusterLifetimeDays is how many days a shoot may exist.
	// +optional
	ClusterLifetimeDays *int32 `json:"clusterLifetimeDays,omitempty" protobuf:"varint,1,opt,name=clusterLifetimeDays"`
}

// Metrics that quotas limit.
const (
	// QuotaMetricCPU counts processors.
	QuotaMetricCPU corev1.ResourceName = corev1.ResourceCPU
	// QuotaMetricGPU counts graphics processors.
	QuotaMetricGPU corev1.ResourceName = "gpu"
	// QuotaMetricMemory counts main memory.
	QuotaMetricMemory corev1.ResourceName = corev1.ResourceMemory
	// QuotaMetricStorageStandard counts volumes of the class standard.
	QuotaMetricStorageStandard corev1.ResourceName = corev1.ResourceStorage + ".standard"
	// QuotaMetricStoragePremium counts volumes of the class premium.
	QuotaMetricStoragePremium corev1.ResourceName = corev1.ResourceStorage + ".premium"
	// QuotaMetricLoadbalancer counts load balancers.
	QuotaMetricLoadbalancer corev1.ResourceName = "loadbalancer"
)
