// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ShootCredentials has its documentation written later.
type ShootCredentials struct {
	// +optional
	EncryptionAtRest *EncryptionAtRest `json:"encryptionAtRest,omitempty"`
	// +optional
	Rotation *ShootCredentialsRotation `json:"rotation,omitempty"`
}

// EncryptionAtRest has its documentation written later.
type EncryptionAtRest struct {
	Provider EncryptionProviderStatus `json:"provider"`
	// +optional
	Resources []string `json:"resources,omitempty"`
}

// EncryptionProviderStatus has its documentation written later.
type EncryptionProviderStatus struct {
	Type EncryptionProviderType `json:"type"`
}

// ShootCredentialsRotation has its documentation written later.
type ShootCredentialsRotation struct {
	// +optional
	CertificateAuthorities *CARotation `json:"certificateAuthorities,omitempty"`
	// +optional
	ETCDEncryptionKey *ETCDEncryptionKeyRotation `json:"etcdEncryptionKey,omitempty"`
	// +optional
	Observability *ObservabilityRotation `json:"observability,omitempty"`
	// +optional
	ServiceAccountKey *ServiceAccountKeyRotation `json:"serviceAccountKey,omitempty"`
	// +optional
	SSHKeypair *ShootSSHKeypairRotation `json:"sshKeypair,omitempty"`
	// Kept so that older manifests decode. Ignored; last used by Gardener v1.128.
	// +optional
	Kubeconfig *ShootKubeconfigRotation `json:"kubeconfig,omitempty"`
}

// CARotation has its documentation written later.
type CARotation struct {
	Phase CredentialsRotationPhase `json:"phase"`
	// +optional
	LastCompletionTime *metav1.Time `json:"lastCompletionTime,omitempty"`
	// +optional
	LastCompletionTriggeredTime *metav1.Time `json:"lastCompletionTriggeredTime,omitempty"`
	// +optional
	LastInitiationFinishedTime *metav1.Time `json:"lastInitiationFinishedTime,omitempty"`
	// +optional
	LastInitiationTime *metav1.Time `json:"lastInitiationTime,omitempty"`
	// +optional
	PendingWorkersRollouts []PendingWorkersRollout `json:"pendingWorkersRollouts,omitempty"`
}

// CredentialsRotationPhase has its documentation written later.
type CredentialsRotationPhase string

const (
	// CredentialsRotationPhasePreparing stands for Preparing.
	CredentialsRotationPhasePreparing CredentialsRotationPhase = "Preparing"
	// CredentialsRotationPhasePreparingWithoutWorkersRollout stands for PreparingWithoutWorkersRollout.
	CredentialsRotationPhasePreparingWithoutWorkersRollout CredentialsRotationPhase = "PreparingWithoutWorkersRollout"
	// CredentialsRotationPhaseWaitingForWorkersRollout stands for WaitingForWorkersRollout.
	CredentialsRotationPhaseWaitingForWorkersRollout CredentialsRotationPhase = "WaitingForWorkersRollout"
	// CredentialsRotationPhasePrepared stands for Prepared.
	CredentialsRotationPhasePrepared CredentialsRotationPhase = "Prepared"
	// CredentialsRotationPhaseCompleting stands for Completing.
	CredentialsRotationPhaseCompleting CredentialsRotationPhase = "Completing"
	// CredentialsRotationPhaseCompleted stands for Completed.
	CredentialsRotationPhaseCompleted CredentialsRotationPhase = "Completed"
)

// PendingWorkersRollout has its documentation written later.
type PendingWorkersRollout struct {
	Name string `json:"name"`
	// +optional
	LastInitiationTime *metav1.Time `json:"lastInitiationTime,omitempty"`
}

// ETCDEncryptionKeyRotation has its documentation written later.
type ETCDEncryptionKeyRotation struct {
	Phase CredentialsRotationPhase `json:"phase"`
	// +optional
	AutoCompleteAfterPrepared *bool `json:"autoCompleteAfterPrepared,omitempty"`
	// +optional
	LastCompletionTime *metav1.Time `json:"lastCompletionTime,omitempty"`
	// +optional
	LastCompletionTriggeredTime *metav1.Time `json:"lastCompletionTriggeredTime,omitempty"`
	// +optional
	LastInitiationFinishedTime *metav1.Time `json:"lastInitiationFinishedTime,omitempty"`
	// +optional
	LastInitiationTime *metav1.Time `json:"lastInitiationTime,omitempty"`
}

// ObservabilityRotation has its documentation written later.
type ObservabilityRotation struct {
	// +optional
	LastCompletionTime *metav1.Time `json:"lastCompletionTime,omitempty"`
	// +optional
	LastInitiationTime *metav1.Time `json:"lastInitiationTime,omitempty"`
}

// ServiceAccountKeyRotation has its documentation written later.
type ServiceAccountKeyRotation struct {
	Phase CredentialsRotationPhase `json:"phase"`
	// +optional
	LastCompletionTime *metav1.Time `json:"lastCompletionTime,omitempty"`
	// +optional
	LastCompletionTriggeredTime *metav1.Time `json:"lastCompletionTriggeredTime,omitempty"`
	// +optional
	LastInitiationFinishedTime *metav1.Time `json:"lastInitiationFinishedTime,omitempty"`
	// +optional
	LastInitiationTime *metav1.Time `json:"lastInitiationTime,omitempty"`
	// +optional
	PendingWorkersRollouts []PendingWorkersRollout `json:"pendingWorkersRollouts,omitempty"`
}

// ShootSSHKeypairRotation has its documentation written later.
type ShootSSHKeypairRotation struct {
	// +optional
	LastCompletionTime *metav1.Time `json:"lastCompletionTime,omitempty"`
	// +optional
	LastInitiationTime *metav1.Time `json:"lastInitiationTime,omitempty"`
}

// ShootKubeconfigRotation has its documentation written later.
type ShootKubeconfigRotation struct {
	// +optional
	LastCompletionTime *metav1.Time `json:"lastCompletionTime,omitempty"`
	// +optional
	LastInitiationTime *metav1.Time `json:"lastInitiationTime,omitempty"`
}
