// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// WorkloadIdentityConfiguration says what the tokens of workload identities are like.
type WorkloadIdentityConfiguration struct {
	// Issuer is the issuer of the tokens, an https URL under which other systems find the key: it answers with what the
	// server publishes below /garden/workload-identity/issuer. Tokens become invalid when it changes, so set it where the
	// address of the server may. Defaults to that path at the first external address and the port of the server.
	// +optional
	Issuer string `json:"issuer,omitempty"`
	// MinTokenLifetime is how long a token is valid at least. Defaults to 1h.
	// +optional
	MinTokenLifetime *metav1.Duration `json:"minTokenLifetime,omitempty"`
	// MaxTokenLifetime is how long a token is valid at most. Defaults to 48h.
	// +optional
	MaxTokenLifetime *metav1.Duration `json:"maxTokenLifetime,omitempty"`
}

func (c *WorkloadIdentityConfiguration) setDefaults() {
	setDuration(&c.MinTokenLifetime, defaultMinTokenLifetime)
	setDuration(&c.MaxTokenLifetime, defaultMaxTokenLifetime)
}
