// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

const (
	// FieldBastionSeedName selects Bastions by the seed that runs the control plane of their shoot.
	FieldBastionSeedName = "spec.seedName"
	// FieldBastionShootName selects Bastions by their shoot.
	FieldBastionShootName = "spec.shootRef.name"

	// ConditionTypeBastionReady reports whether the host of a bastion can be used.
	ConditionTypeBastionReady gardencorev1beta1.ConditionType = "BastionReady"

	// ReasonBastionSuccessfullyReconciled is the reason of the condition of a bastion that can be used.
	ReasonBastionSuccessfullyReconciled = "SuccessfullyReconciled"
	// ReasonBastionFailedReconciling is the reason if its extension could not make the host.
	ReasonBastionFailedReconciling = "FailedReconciling"
	// ReasonBastionDeletionInProgress is the reason while the host is deleted.
	ReasonBastionDeletionInProgress = "DeletionInProgress"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// Bastion asks for a host through which a user reaches the nodes of a shoot by SSH, as long as heartbeats keep it alive.
type Bastion struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object metadata.
	metav1.ObjectMeta `json:"metadata" protobuf:"bytes,1,opt,name=metadata"`

	// Spec says who gets access, and to which shoot.
	Spec BastionSpec `json:"spec" protobuf:"bytes,2,opt,name=spec"`
	// Status reports where the bastion is and how long it stays.
	// +optional
	Status BastionStatus `json:"status,omitempty" protobuf:"bytes,3,opt,name=status"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// BastionList is a list of bastions.
type BastionList struct {
	metav1.TypeMeta `json:",inline"`
	// List metadata: resource version and paging.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// Items are the bastions.
	Items []Bastion `json:"items" protobuf:"bytes,2,rep,name=items"`
}

// BastionSpec says who gets access, and to which shoot.
type BastionSpec struct {
	// ShootRef names the shoot, in the same namespace. It never changes.
	ShootRef corev1.LocalObjectReference `json:"shootRef" protobuf:"bytes,1,opt,name=shootRef"`
	// SeedName is the seed that runs the control plane of the shoot; set by the server.
	// +optional
	SeedName *string `json:"seedName,omitempty" protobuf:"bytes,2,opt,name=seedName"`
	// ProviderType is the provider of the shoot; set by the server.
	// +optional
	ProviderType *string `json:"providerType,omitempty" protobuf:"bytes,3,opt,name=providerType"`
	// SSHPublicKey is the SSH key of the user who gets access, in the format of an authorized_keys file. It never changes.
	SSHPublicKey string `json:"sshPublicKey" protobuf:"bytes,4,opt,name=sshPublicKey"`
	// Ingress lists the networks from which the bastion is reached.
	Ingress []BastionIngressPolicy `json:"ingress" protobuf:"bytes,5,rep,name=ingress"`
}

// BastionIngressPolicy is a network from which a bastion is reached.
type BastionIngressPolicy struct {
	// IPBlock is the network, with its exceptions.
	IPBlock networkingv1.IPBlock `json:"ipBlock" protobuf:"bytes,1,opt,name=ipBlock"`
}

// BastionStatus reports where a bastion is and how long it stays.
type BastionStatus struct {
	// Ingress is the public address of the bastion.
	// +optional
	Ingress *corev1.LoadBalancerIngress `json:"ingress,omitempty" protobuf:"bytes,1,opt,name=ingress"`
	// Conditions are the conditions of the bastion.
	// +optional
	// +patchMergeKey=type
	// +patchStrategy=merge
	Conditions []gardencorev1beta1.Condition `json:"conditions,omitempty" protobuf:"bytes,2,rep,name=conditions" patchStrategy:"merge" patchMergeKey:"type"`
	// LastHeartbeatTimestamp is when a user last said that the bastion is still needed.
	// +optional
	LastHeartbeatTimestamp *metav1.Time `json:"lastHeartbeatTimestamp,omitempty" protobuf:"bytes,3,opt,name=lastHeartbeatTimestamp"`
	// ExpirationTimestamp is when the bastion is deleted unless there is another heartbeat.
	// +optional
	ExpirationTimestamp *metav1.Time `json:"expirationTimestamp,omitempty" protobuf:"bytes,4,opt,name=expirationTimestamp"`
	// ObservedGeneration is the generation that was last acted on.
	// +optional
	ObservedGeneration *int64 `json:"observedGeneration,omitempty" protobuf:"varint,5,opt,name=observedGeneration"`
}
