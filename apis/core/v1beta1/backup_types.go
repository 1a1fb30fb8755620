// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Backup has its documentation written later.
type Backup struct {
	Provider string `json:"provider"`
	// +optional
	CredentialsRef *corev1.ObjectReference `json:"credentialsRef,omitempty"`
	// +optional
	ProviderConfig *runtime.RawExtension `json:"providerConfig,omitempty"`
	// +optional
	Region *string `json:"region,omitempty"`
	// Kept so that older manifests decode. Ignored; last used by Gardener v1.122.
	// +optional
	SecretRef *corev1.SecretReference `json:"secretRef,omitempty"`
}
