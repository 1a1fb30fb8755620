// SPDX-License-Identifier: Apache-2.0

package v1beta1

// DNSIncludeExclude has its documentation written later.
type DNSIncludeExclude struct {
	// +optional
	Exclude []string `json:"exclude,omitempty"`
	// +optional
	Include []string `json:"include,omitempty"`
}
