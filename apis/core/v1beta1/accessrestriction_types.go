// SPDX-License-Identifier: Apache-2.0

package v1beta1

// AccessRestriction has its documentation written later.
type AccessRestriction struct {
	Name string `json:"name"`
}

// AccessRestrictionWithOptions has its documentation written later.
type AccessRestrictionWithOptions struct {
	AccessRestriction `json:",inline"`
	// +optional
	Options map[string]string `json:"options,omitempty"`
}
