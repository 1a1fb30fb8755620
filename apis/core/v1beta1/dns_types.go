// SPDX-License-Identifier: Apache-2.0

package v1beta1

// DNSIncludeExclude lists domains or zones.
type DNSIncludeExclude struct {
	// Exclude lists what is ignored.
	// +optional
	Exclude []string `json:"exclude,omitempty" protobuf:"bytes,2,rep,name=exclude"`
	// Include lists what is managed.
	// +optional
	Include []string `json:"include,omitempty" protobuf:"bytes,1,rep,name=include"`
}
