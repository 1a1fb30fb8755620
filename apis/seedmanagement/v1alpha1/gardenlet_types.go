// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	gardencorev1 "github.com/terrarium-garden/terrarium/apis/core/v1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// ConditionTypeGardenletReconciled reports whether the gardenlet in the seed is up to date with its Gardenlet.
const ConditionTypeGardenletReconciled gardencorev1beta1.ConditionType = "GardenletReconciled"

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// Gardenlet describes the gardenlet of a seed that is not a shoot, so that the gardenlet can be kept up to date from the garden.
type Gardenlet struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// Spec says how the gardenlet is deployed and configured.
	// +optional
	Spec GardenletSpec `json:"spec,omitempty" protobuf:"bytes,2,opt,name=spec"`
	// Status is the observed state of the gardenlet.
	// +optional
	Status GardenletStatus `json:"status,omitempty" protobuf:"bytes,3,opt,name=status"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// GardenletList is a list of gardenlets.
type GardenletList struct {
	metav1.TypeMeta `json:",inline"`
	// List metadata: resource version and paging.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// Items are the gardenlets.
	Items []Gardenlet `json:"items" protobuf:"bytes,2,rep,name=items"`
}

// GardenletSpec says how a gardenlet is deployed and configured.
type GardenletSpec struct {
	// Deployment says how the gardenlet runs in its seed.
	Deployment GardenletSelfDeployment `json:"deployment" protobuf:"bytes,1,opt,name=deployment"`
	// Config is the GardenletConfiguration.
	// +optional
	Config runtime.RawExtension `json:"config,omitempty" protobuf:"bytes,2,opt,name=config"`
	// KubeconfigSecretRef names a Secret in the same namespace with a kubeconfig for the seed. It is needed until the
	// gardenlet runs there.
	// +optional
	KubeconfigSecretRef *corev1.LocalObjectReference `json:"kubeconfigSecretRef,omitempty" protobuf:"bytes,3,opt,name=kubeconfigSecretRef"`
}

// GardenletSelfDeployment says how a gardenlet that deploys itself runs in its seed.
type GardenletSelfDeployment struct {
	GardenletDeployment `json:",inline" protobuf:"bytes,1,opt,name=gardenletDeployment"`

	// Helm is the chart that the gardenlet comes in.
	Helm GardenletHelm `json:"helm" protobuf:"bytes,2,opt,name=helm"`
	// ImageVectorOverwrite is YAML that names other images for the components that the gardenlet deploys.
	// +optional
	ImageVectorOverwrite *string `json:"imageVectorOverwrite,omitempty" protobuf:"bytes,3,opt,name=imageVectorOverwrite"`
	// ComponentImageVectorOverwrite is YAML that names other images for what those components deploy.
	// +optional
	ComponentImageVectorOverwrite *string `json:"componentImageVectorOverwrite,omitempty" protobuf:"bytes,4,opt,name=componentImageVectorOverwrite"`
}

// GardenletHelm is the chart that a gardenlet comes in.
type GardenletHelm struct {
	// OCIRepository is where the chart can be fetched from.
	OCIRepository gardencorev1.OCIRepository `json:"ociRepository" protobuf:"bytes,1,opt,name=ociRepository"`
}

// GardenletStatus is the observed state of a gardenlet.
type GardenletStatus struct {
	// Conditions are the conditions of the gardenlet.
	// +optional
	// +patchMergeKey=type
	// +patchStrategy=merge
	Conditions []gardencorev1beta1.Condition `json:"conditions,omitempty" protobuf:"bytes,1,rep,name=conditions" patchStrategy:"merge" patchMergeKey:"type"`
	// ObservedGeneration is the generation that was last acted on.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty" protobuf:"varint,2,opt,name=observedGeneration"`
}
