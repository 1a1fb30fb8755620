// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ShootCredentials describes the credentials of a shoot.
type ShootCredentials struct {
	// EncryptionAtRest describes which resources are encrypted in etcd.
	// +optional
	EncryptionAtRest *EncryptionAtRest `json:"encryptionAtRest,omitempty" protobuf:"bytes,2,opt,name=encryptionAtRest"`
	// Rotation describes each rotation of credentials.
	// +optional
	Rotation *ShootCredentialsRotation `json:"rotation,omitempty" protobuf:"bytes,1,opt,name=rotation"`
}

// EncryptionAtRest describes which resources are encrypted in etcd, and how.
type EncryptionAtRest struct {
	// Provider is the encryption provider.
	Provider EncryptionProviderStatus `json:"provider" protobuf:"bytes,2,opt,name=provider"`
	// Resources are the resources that are encrypted.
	// +optional
	Resources []string `json:"resources,omitempty" protobuf:"bytes,1,rep,name=resources"`
}

// EncryptionProviderStatus is an encryption provider that is in use.
type EncryptionProviderStatus struct {
	// Type is its name.
	Type EncryptionProviderType `json:"type" protobuf:"bytes,1,opt,name=type"`
}

// ShootCredentialsRotation describes each rotation of credentials.
type ShootCredentialsRotation struct {
	// CertificateAuthorities describes the rotation of the certificate authorities.
	// +optional
	CertificateAuthorities *CARotation `json:"certificateAuthorities,omitempty" protobuf:"bytes,1,opt,name=certificateAuthorities"`
	// ETCDEncryptionKey describes the rotation of the key that encrypts etcd.
	// +optional
	ETCDEncryptionKey *ETCDEncryptionKeyRotation `json:"etcdEncryptionKey,omitempty" protobuf:"bytes,6,opt,name=etcdEncryptionKey"`
	// Observability describes the rotation of the password for monitoring.
	// +optional
	Observability *ObservabilityRotation `json:"observability,omitempty" protobuf:"bytes,4,opt,name=observability"`
	// ServiceAccountKey describes the rotation of the key that signs service account tokens.
	// +optional
	ServiceAccountKey *ServiceAccountKeyRotation `json:"serviceAccountKey,omitempty" protobuf:"bytes,5,opt,name=serviceAccountKey"`
	// SSHKeypair describes the rotation of the SSH keys of the machines.
	// +optional
	SSHKeypair *ShootSSHKeypairRotation `json:"sshKeypair,omitempty" protobuf:"bytes,3,opt,name=sshKeypair"`
	// Kubeconfig described the kubeconfig with a fixed token. Ignored; last used by Gardener v1.128.
	// +optional
	Kubeconfig *ShootKubeconfigRotation `json:"kubeconfig,omitempty" protobuf:"bytes,1001,opt,name=kubeconfig"`
}

// CARotation describes the rotation of certificate authorities.
type CARotation struct {
	// Phase is the phase of the rotation.
	Phase CredentialsRotationPhase `json:"phase" protobuf:"bytes,1,opt,name=phase"`
	// LastCompletionTime is when a rotation was last finished.
	// +optional
	LastCompletionTime *metav1.Time `json:"lastCompletionTime,omitempty" protobuf:"bytes,2,opt,name=lastCompletionTime"`
	// LastCompletionTriggeredTime is when the second phase was last started.
	// +optional
	LastCompletionTriggeredTime *metav1.Time `json:"lastCompletionTriggeredTime,omitempty" protobuf:"bytes,5,opt,name=lastCompletionTriggeredTime"`
	// LastInitiationFinishedTime is when the first phase was last finished.
	// +optional
	LastInitiationFinishedTime *metav1.Time `json:"lastInitiationFinishedTime,omitempty" protobuf:"bytes,4,opt,name=lastInitiationFinishedTime"`
	// LastInitiationTime is when the first phase was last started.
	// +optional
	LastInitiationTime *metav1.Time `json:"lastInitiationTime,omitempty" protobuf:"bytes,3,opt,name=lastInitiationTime"`
	// PendingWorkersRollouts are the pools whose machines still have the old credentials.
	// +optional
	PendingWorkersRollouts []PendingWorkersRollout `json:"pendingWorkersRollouts,omitempty" protobuf:"bytes,6,rep,name=pendingWorkersRollouts"`
}

// CredentialsRotationPhase is a phase of a rotation.
type CredentialsRotationPhase string

const (
	// CredentialsRotationPhasePreparing means that the new credentials are being added.
	CredentialsRotationPhasePreparing CredentialsRotationPhase = "Preparing"
	// CredentialsRotationPhasePreparingWithoutWorkersRollout means that the new credentials are being added and the machines
	// are not replaced.
	CredentialsRotationPhasePreparingWithoutWorkersRollout CredentialsRotationPhase = "PreparingWithoutWorkersRollout"
	// CredentialsRotationPhaseWaitingForWorkersRollout means that machines are still to be replaced.
	CredentialsRotationPhaseWaitingForWorkersRollout CredentialsRotationPhase = "WaitingForWorkersRollout"
	// CredentialsRotationPhasePrepared means that both credentials are valid and clients have to switch to the new ones.
	CredentialsRotationPhasePrepared CredentialsRotationPhase = "Prepared"
	// CredentialsRotationPhaseCompleting means that the old credentials are being removed.
	CredentialsRotationPhaseCompleting CredentialsRotationPhase = "Completing"
	// CredentialsRotationPhaseCompleted means that only the new credentials are valid.
	CredentialsRotationPhaseCompleted CredentialsRotationPhase = "Completed"
)

// PendingWorkersRollout is a pool whose machines still have the old credentials.
type PendingWorkersRollout struct {
	// Name is the name of the pool.
	Name string `json:"name" protobuf:"bytes,1,opt,name=name"`
	// LastInitiationTime is when its machines were last replaced for a rotation.
	// +optional
	LastInitiationTime *metav1.Time `json:"lastInitiationTime,omitempty" protobuf:"bytes,2,opt,name=lastInitiationTime"`
}

// ETCDEncryptionKeyRotation describes the rotation of the key that encrypts etcd.
type ETCDEncryptionKeyRotation struct {
	// Phase is the phase of the rotation.
	Phase CredentialsRotationPhase `json:"phase" protobuf:"bytes,1,opt,name=phase"`
	// AutoCompleteAfterPrepared says that the second phase follows automatically.
	// +optional
	AutoCompleteAfterPrepared *bool `json:"autoCompleteAfterPrepared,omitempty" protobuf:"varint,6,opt,name=autoCompleteAfterPrepared"`
	// LastCompletionTime is when a rotation was last finished.
	// +optional
	LastCompletionTime *metav1.Time `json:"lastCompletionTime,omitempty" protobuf:"bytes,2,opt,name=lastCompletionTime"`
	// LastCompletionTriggeredTime is when the second phase was last started.
	// +optional
	LastCompletionTriggeredTime *metav1.Time `json:"lastCompletionTriggeredTime,omitempty" protobuf:"bytes,5,opt,name=lastCompletionTriggeredTime"`
	// LastInitiationFinishedTime is when the first phase was last finished.
	// +optional
	LastInitiationFinishedTime *metav1.Time `json:"lastInitiationFinishedTime,omitempty" protobuf:"bytes,4,opt,name=lastInitiationFinishedTime"`
	// LastInitiationTime is when the first phase was last started.
	// +optional
	LastInitiationTime *metav1.Time `json:"lastInitiationTime,omitempty" protobuf:"bytes,3,opt,name=lastInitiationTime"`
}

// ObservabilityRotation describes the rotation of the password for monitoring.
type ObservabilityRotation struct {
	// LastCompletionTime is when a rotation was last finished.
	// +optional
	LastCompletionTime *metav1.Time `json:"lastCompletionTime,omitempty" protobuf:"bytes,2,opt,name=lastCompletionTime"`
	// LastInitiationTime is when a rotation was last started.
	// +optional
	LastInitiationTime *metav1.Time `json:"lastInitiationTime,omitempty" protobuf:"bytes,1,opt,name=lastInitiationTime"`
}

// ServiceAccountKeyRotation describes the rotation of the key that signs service account tokens.
type ServiceAccountKeyRotation struct {
	// Phase is the phase of the rotation.
	Phase CredentialsRotationPhase `json:"phase" protobuf:"bytes,1,opt,name=phase"`
	// LastCompletionTime is when a rotation was last finished.
	// +optional
	LastCompletionTime *metav1.Time `json:"lastCompletionTime,omitempty" protobuf:"bytes,2,opt,name=lastCompletionTime"`
	// LastCompletionTriggeredTime is when the second phase was last started.
	// +optional
	LastCompletionTriggeredTime *metav1.Time `json:"lastCompletionTriggeredTime,omitempty" protobuf:"bytes,5,opt,name=lastCompletionTriggeredTime"`
	// LastInitiationFinishedTime is when the first phase was last finished.
	// +optional
	LastInitiationFinishedTime *metav1.Time `json:"lastInitiationFinishedTime,omitempty" protobuf:"bytes,4,opt,name=lastInitiationFinishedTime"`
	// LastInitiationTime is when the first phase was last started.
	// +optional
	LastInitiationTime *metav1.Time `json:"lastInitiationTime,omitempty" protobuf:"bytes,3,opt,name=lastInitiationTime"`
	// PendingWorkersRollouts are the pools whose machines still have the old credentials.
	// +optional
	PendingWorkersRollouts []PendingWorkersRollout `json:"pendingWorkersRollouts,omitempty" protobuf:"bytes,6,rep,name=pendingWorkersRollouts"`
}

// ShootSSHKeypairRotation describes the rotation of the SSH keys of the machines.
type ShootSSHKeypairRotation struct {
	// LastCompletionTime is when a rotation was last finished.
	// +optional
	LastCompletionTime *metav1.Time `json:"lastCompletionTime,omitempty" protobuf:"bytes,2,opt,name=lastCompletionTime"`
	// LastInitiationTime is when a rotation was last started.
	// +optional
	LastInitiationTime *metav1.Time `json:"lastInitiationTime,omitempty" protobuf:"bytes,1,opt,name=lastInitiationTime"`
}

// ShootKubeconfigRotation described the rotation of the kubeconfig with a fixed token.
type ShootKubeconfigRotation struct {
	// LastCompletionTime was when a rotation was last finished.
	// +optional
	LastCompletionTime *metav1.Time `json:"lastCompletionTime,omitempty" protobuf:"bytes,2,opt,name=lastCompletionTime"`
	// LastInitiationTime was when a rotation was last started.
	// +optional
	LastInitiationTime *metav1.Time `json:"lastInitiationTime,omitempty" protobuf:"bytes,1,opt,name=lastInitiationTime"`
}
