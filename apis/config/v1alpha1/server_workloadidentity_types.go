// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// WorkloadIdentityConfiguration configures the tokens of workload identities.
type WorkloadIdentityConfiguration struct {
	// Issuer is the issuer of the tokens, an https URL at which other systems find the key: it serves what the server publishes
	// below /garden/workload-identity/issuer. Tokens become invalid when it changes, so set it if the address of the server may
	// change. Defaults to that path at the first external address and the port of the server.
	// +optional
	Issuer string `json:"issuer,omitempty"`
	// MinTokenLifetime is the shortest lifetime of a token. Defaults to 1h.
	// +optional
	MinTokenLifetime *metav1.Duration `json:"minTokenLifetime,omitempty"`
	// MaxTokenLifetime is the longest lifetime of a token. Defaults to 48h.
	// +optional
	MaxTokenLifetime *metav1.Duration `json:"maxTokenLifetime,omitempty"`
}

func (c *WorkloadIdentityConfiguration) setDefaults() {
	setDuration(&c.MinTokenLifetime, defaultMinTokenLifetime)
	setDuration(&c.MaxTokenLifetime, defaultMaxTokenLifetime)
}
