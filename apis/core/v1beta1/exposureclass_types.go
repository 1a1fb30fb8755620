// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ExposureClass is a way in which the API servers of shoots can be reached.
type ExposureClass struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// Handler is the name of the exposure handler in the configuration of gardenlets. It never changes.
	Handler string `json:"handler" protobuf:"bytes,2,opt,name=handler"`
	// Scheduling restricts the seeds for shoots of this class. It never changes.
	// +optional
	Scheduling *ExposureClassScheduling `json:"scheduling,omitempty" protobuf:"bytes,3,opt,name=scheduling"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ExposureClassList is a list of exposure classes.
type ExposureClassList struct {
	metav1.TypeMeta `json:",inline"`
	// List metadata: resource version and paging.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// Items are the exposure classes.
	Items []ExposureClass `json:"items" protobuf:"bytes,2,rep,name=items"`
}

// ExposureClassScheduling restricts the seeds for shoots of a class.
type ExposureClassScheduling struct {
	// SeedSelector selects the seeds.
	// +optional
	SeedSelector *SeedSelector `json:"seedSelector,omitempty" protobuf:"bytes,1,opt,name=seedSelector"`
	// Tolerations lets the shoots be placed on seeds despite their taints.
	// +patchStrategy=merge
	// +patchMergeKey=key
	// +optional
	Tolerations []Toleration `json:"tolerations,omitempty" protobuf:"bytes,2,rep,name=tolerations" patchStrategy:"merge" patchMergeKey:"key"`
}
