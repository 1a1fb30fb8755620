// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
)

// GardenletDeployment says how a gardenlet runs in its seed.
type GardenletDeployment struct {
	// ReplicaCount is the number of replicas.
	// +optional
	ReplicaCount *int32 `json:"replicaCount,omitempty" protobuf:"varint,1,opt,name=replicaCount"`
	// RevisionHistoryLimit is the number of old replica sets that are kept.
	// +optional
	RevisionHistoryLimit *int32 `json:"revisionHistoryLimit,omitempty" protobuf:"varint,2,opt,name=revisionHistoryLimit"`
	// ServiceAccountName is the service account of the pods.
	// +optional
	ServiceAccountName *string `json:"serviceAccountName,omitempty" protobuf:"bytes,3,opt,name=serviceAccountName"`
	// Image is the container image.
	// +optional
	Image *Image `json:"image,omitempty" protobuf:"bytes,4,opt,name=image"`
	// Resources are the computing resources that the container requests and is limited to.
	// +optional
	Resources *corev1.ResourceRequirements `json:"resources,omitempty" protobuf:"bytes,5,opt,name=resources"`
	// PodLabels are further labels of the pods.
	// +optional
	PodLabels map[string]string `json:"podLabels,omitempty" protobuf:"bytes,6,rep,name=podLabels"`
	// PodAnnotations are further annotations of the pods.
	// +optional
	PodAnnotations map[string]string `json:"podAnnotations,omitempty" protobuf:"bytes,7,rep,name=podAnnotations"`
	// AdditionalVolumes are further volumes of the pods.
	// +optional
	AdditionalVolumes []corev1.Volume `json:"additionalVolumes,omitempty" protobuf:"bytes,8,rep,name=additionalVolumes"`
	// AdditionalVolumeMounts mount further volumes into the container.
	// +optional
	AdditionalVolumeMounts []corev1.VolumeMount `json:"additionalVolumeMounts,omitempty" protobuf:"bytes,9,rep,name=additionalVolumeMounts"`
	// Env are further environment variables of the container.
	// +optional
	Env []corev1.EnvVar `json:"env,omitempty" protobuf:"bytes,10,rep,name=env"`
	// Tolerations are the taints of nodes that the pods tolerate.
	// +optional
	Tolerations []corev1.Toleration `json:"tolerations,omitempty" protobuf:"bytes,11,rep,name=tolerations"`
	// EnableHealthProbes enables liveness and readiness probes of the pods.
	// +optional
	EnableHealthProbes *bool `json:"enableHealthProbes,omitempty" protobuf:"varint,12,opt,name=enableHealthProbes"`
	// VPA asks for a vertical pod autoscaler. Ignored; last used by Gardener v1.110.
	// +optional
	VPA *bool `json:"vpa,omitempty" protobuf:"varint,1001,opt,name=vpa"`
	// FailureToleranceType asks for replicas on several nodes or in several zones. Ignored; last used by Gardener v1.59.
	// +optional
	FailureToleranceType *string `json:"failureToleranceType,omitempty" protobuf:"bytes,1002,opt,name=failureToleranceType"`
}

// Image is a container image, by ref or by repository with tag.
type Image struct {
	// Ref is the complete reference; repository and tag are then ignored.
	// +optional
	Ref *string `json:"ref,omitempty" protobuf:"bytes,4,opt,name=ref"`
	// Repository is the reference without the tag.
	// +optional
	Repository *string `json:"repository,omitempty" protobuf:"bytes,1,opt,name=repository"`
	// Tag is the tag of the image.
	// +optional
	Tag *string `json:"tag,omitempty" protobuf:"bytes,2,opt,name=tag"`
	// PullPolicy says when the image is pulled.
	// +optional
	PullPolicy *corev1.PullPolicy `json:"pullPolicy,omitempty" protobuf:"bytes,3,opt,name=pullPolicy"`
}
